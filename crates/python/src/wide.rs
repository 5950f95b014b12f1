//! Several tables as one, written as Parquet: what a task of a sweep leaves behind.
//!
//! Each row says in its column `record` which table it is of; a column that its table lacks is null there. The same
//! tables give the same bytes. A sweep writes thousands of such files of a few rows, in which a general data frame spends
//! as long as in the simulations.

use crate::table::{Cell, Kind, Table};
use numpy::Element;
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use pyo3::prelude::*;
use std::sync::Arc;

/// Tables under each other.
#[derive(Debug, Default)]
pub(crate) struct Wide {
    columns: Vec<Column>,
    /// Rows of the tables that are complete.
    above: usize,
    /// Rows of the table under construction.
    rows: usize,
}

/// One column; rows beyond `cells` are null.
#[derive(Debug)]
struct Column {
    name: String,
    kind: Cell,
    cells: Vec<Option<Cell>>,
}

impl Wide {
    /// Rows of all tables.
    pub(crate) const fn rows(&self) -> usize {
        self.above + self.rows
    }

    /// The columns by name, in order, with the kind of their cells; a column may be shorter than the table, and null there.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&str, &Cell, &[Option<Cell>])> {
        self.columns.iter().map(|column| (&*column.name, &column.kind, &*column.cells))
    }

    /// Begins the next rows, which need not have all columns that others have.
    pub(crate) const fn next(&mut self, rows: usize) {
        self.above += self.rows;
        self.rows = rows;
    }

    /// Begins the next table, of so many rows.
    pub(crate) fn begin(&mut self, record: &str, rows: usize) {
        self.next(rows);
        self.put("record", Cell::from(""), (0..rows).map(|_| Some(Cell::from(record))));
    }

    /// Adds a column with the same value in every row of every table so far.
    pub(crate) fn mark(&mut self, name: &str, value: &Cell) {
        let cells = vec![Some(value.clone()); self.rows()];
        self.columns.insert(0, Column { name: name.to_owned(), kind: value.clone(), cells });
    }

    /// The cells of a column for the rows begun last.
    pub(crate) fn put(&mut self, name: &str, kind: Cell, cells: impl Iterator<Item = Option<Cell>>) {
        let at = self.columns.iter().position(|column| column.name == name).unwrap_or_else(|| {
            self.columns.push(Column { name: name.to_owned(), kind, cells: Vec::new() });
            self.columns.len() - 1
        });
        let column = &mut self.columns[at];
        column.cells.resize(self.above, None);
        column.cells.extend(cells);
    }

    /// The file, with what is known of it as metadata.
    pub(crate) fn parquet(&self, metadata: Vec<(String, String)>) -> Result<Vec<u8>, ParquetError> {
        let fields = self.columns.iter().map(Column::field).collect::<Result<_, _>>()?;
        let schema = Arc::new(Type::group_type_builder("netspurt").with_fields(fields).build()?);
        let metadata = metadata.into_iter().map(|(key, value)| KeyValue::new(key, value)).collect();
        // A few rows: nothing to be won by dictionaries, bounds or an index of pages.
        let properties = WriterProperties::builder()
            .set_created_by(concat!("netspurt ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_key_value_metadata(Some(metadata))
            .build();
        let mut file = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut file, schema, Arc::new(properties))?;
        let mut group = writer.next_row_group()?;
        let rows = self.rows();
        for column in &self.columns {
            let mut place = group.next_column()?.ok_or_else(|| ParquetError::EOF(column.name.clone()))?;
            column.write(&mut place, rows)?;
            place.close()?;
        }
        group.close()?;
        writer.close()?;
        Ok(file)
    }
}

impl<'py> Table<'py> for Wide {
    fn array<T: Element + Into<Cell>>(&mut self, name: &str, values: Vec<T>) -> PyResult<()> {
        let mut cells = values.into_iter().map(|value| Some(value.into())).peekable();
        if let Some(Some(kind)) = cells.peek().cloned() {
            self.put(name, kind, cells);
        }
        Ok(())
    }

    fn list<T: IntoPyObject<'py> + Into<Cell> + Kind>(
        &mut self,
        name: &str,
        values: Vec<Option<T>>,
    ) -> PyResult<()> {
        self.put(name, T::kind(), values.into_iter().map(|value| value.map(Into::into)));
        Ok(())
    }

    fn names<'a>(
        &mut self,
        name: &str,
        names: impl IntoIterator<Item = &'a str>,
        rows: impl ExactSizeIterator<Item = usize>,
    ) -> PyResult<()> {
        let names: Vec<&str> = names.into_iter().collect();
        self.put(name, Cell::from(""), rows.map(|row| Some(Cell::from(names[row]))));
        Ok(())
    }
}

impl Column {
    fn field(&self) -> Result<Arc<Type>, ParquetError> {
        let physical = match self.kind {
            Cell::Integer(_) => Physical::INT64,
            Cell::Number(_) => Physical::DOUBLE,
            Cell::Truth(_) => Physical::BOOLEAN,
            Cell::Text(_) => Physical::BYTE_ARRAY,
        };
        let field = Type::primitive_type_builder(&self.name, physical).with_repetition(Repetition::OPTIONAL);
        let field = match self.kind {
            Cell::Text(_) => {
                field.with_logical_type(Some(LogicalType::String)).with_converted_type(ConvertedType::UTF8)
            }
            _ => field,
        };
        field.build().map(Arc::new)
    }

    fn write(&self, place: &mut SerializedColumnWriter<'_>, rows: usize) -> Result<(), ParquetError> {
        let mut levels: Vec<i16> = self.cells.iter().map(|cell| i16::from(cell.is_some())).collect();
        levels.resize(rows, 0);
        let cells = || self.cells.iter().flatten();
        match self.kind {
            Cell::Integer(_) => {
                let values: Vec<i64> = cells().filter_map(Cell::integer).collect();
                place.typed::<Int64Type>().write_batch(&values, Some(&levels), None)
            }
            Cell::Number(_) => {
                let values: Vec<f64> = cells().filter_map(Cell::number).collect();
                place.typed::<DoubleType>().write_batch(&values, Some(&levels), None)
            }
            Cell::Truth(_) => {
                let values: Vec<bool> = cells().filter_map(Cell::truth).collect();
                place.typed::<BoolType>().write_batch(&values, Some(&levels), None)
            }
            Cell::Text(_) => {
                let values: Vec<ByteArray> = cells().filter_map(Cell::text).map(ByteArray::from).collect();
                place.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)
            }
        }
        .map(drop)
    }
}

impl Cell {
    const fn integer(&self) -> Option<i64> {
        if let Self::Integer(value) = self { Some(*value) } else { None }
    }

    const fn number(&self) -> Option<f64> {
        if let Self::Number(value) = self { Some(*value) } else { None }
    }

    const fn truth(&self) -> Option<bool> {
        if let Self::Truth(value) = self { Some(*value) } else { None }
    }

    fn text(&self) -> Option<&str> {
        if let Self::Text(value) = self { Some(value) } else { None }
    }
}
