//! The files of many tasks of a sweep (`wide.rs`) as one table each of flows, groups and links.
//!
//! A sweep has thousands of files of a few rows. A general reader takes each of them apart several times over, and that
//! would cost more than the simulations.

use crate::errors::system_words;
use crate::table::Cell;
use crate::wide::Wide;
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;

/// The columns of a file.
type Columns = Vec<(String, Cell, Vec<Option<Cell>>)>;

/// Reads files of tasks into three tables: a dict with "flow", "group" and "link", each a list of columns as (name, kind,
/// values), where a kind is "integer", "number", "truth" or "text". Columns that a file lacks are None there.
///
/// The columns in front of ``link`` are those of flows, of which groups have some; the others are those of links.
#[pyfunction]
#[pyo3(signature = (files, threads = 1))]
pub(crate) fn gather(py: Python<'_>, files: Vec<PathBuf>, threads: usize) -> PyResult<Bound<'_, PyDict>> {
    let mut tables = [("flow", Wide::default()), ("group", Wide::default()), ("link", Wide::default())];
    py.detach(|| -> PyResult<()> {
        for columns in read_all(&files, threads) {
            let columns = columns?;
            for (record, table) in &mut tables {
                part(&columns, record, table);
            }
        }
        Ok(())
    })?;
    let all = PyDict::new(py);
    for (record, table) in &tables {
        all.set_item(record, listed(py, table)?)?;
    }
    Ok(all)
}

/// The columns of every file, in order, read by so many threads.
fn read_all(files: &[PathBuf], threads: usize) -> Vec<PyResult<Columns>> {
    let share = files.len().div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = files
            .chunks(share)
            .map(|part| scope.spawn(|| part.iter().map(read).collect::<Vec<_>>()))
            .collect();
        parts
            .into_iter()
            .flat_map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Adds the rows of one record of a file to its table.
fn part(columns: &Columns, record: &str, table: &mut Wide) {
    let Some((_, _, records)) = columns.iter().find(|column| column.0 == "record") else { return };
    let wanted = |cell: &Option<Cell>| matches!(cell, Some(Cell::Text(text)) if text == record);
    let rows: Vec<usize> = (0..records.len()).filter(|&row| wanted(&records[row])).collect();
    let border = columns.iter().position(|column| column.0 == "link").unwrap_or(columns.len());
    table.next(rows.len());
    for (at, (name, kind, cells)) in columns.iter().enumerate() {
        let cells = || rows.iter().map(|&row| cells[row].clone());
        let own = match (record, &**name) {
            (_, "task" | "digest") => true,
            (_, "record" | "seed") | ("flow", "flows") => false,
            ("link", _) => at >= border,
            ("group", _) => at < border && cells().any(|cell| cell.is_some()),
            _ => at < border,
        };
        if own {
            table.put(name, kind.clone(), cells());
        }
    }
}

fn listed<'py>(py: Python<'py>, table: &Wide) -> PyResult<Bound<'py, PyList>> {
    let columns = PyList::empty(py);
    for (name, kind, cells) in table.columns() {
        let values = PyList::empty(py);
        for cell in cells.iter().map(Option::as_ref).chain(std::iter::repeat(None)).take(table.rows()) {
            match cell {
                None => values.append(py.None())?,
                Some(Cell::Integer(value)) => values.append(value)?,
                Some(Cell::Number(value)) => values.append(value)?,
                Some(Cell::Truth(value)) => values.append(value)?,
                Some(Cell::Text(value)) => values.append(value)?,
            }
        }
        let kind = match kind {
            Cell::Integer(_) => "integer",
            Cell::Number(_) => "number",
            Cell::Truth(_) => "truth",
            Cell::Text(_) => "text",
        };
        columns.append((name, kind, values))?;
    }
    Ok(columns)
}

fn read(file: &PathBuf) -> PyResult<Columns> {
    let bytes = std::fs::read(file)
        .map_err(|error| PyOSError::new_err(format!("{}: {}", file.display(), system_words(&error))))?;
    parsed(bytes)
        .map_err(|error| PyValueError::new_err(format!("{} is no file of a task: {error}", file.display())))
}

fn parsed(file: Vec<u8>) -> Result<Columns, ParquetError> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(file))?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names = || schema.columns().iter().map(|column| column.name().to_owned());
    let mut columns: Columns = Vec::new();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        for (at, name) in names().enumerate() {
            let (kind, cells) = cells(group.get_column_reader(at)?, rows)?;
            match columns.get_mut(at) {
                Some(column) => column.2.extend(cells),
                None => columns.push((name, kind, cells)),
            }
        }
    }
    Ok(columns)
}

/// The cells of a column, all of which may be missing.
fn cells(reader: ColumnReader, rows: usize) -> Result<(Cell, Vec<Option<Cell>>), ParquetError> {
    let mut levels: Vec<i16> = Vec::new();
    macro_rules! all {
        ($reader:expr, $kind:expr, $cell:expr) => {{
            let (mut reader, mut values) = ($reader, Vec::new());
            reader.read_records(rows, Some(&mut levels), None, &mut values)?;
            let mut values = values.into_iter().map($cell);
            let cells = levels.iter().map(|&level| if level == 0 { None } else { values.next() });
            Ok(($kind, cells.collect()))
        }};
    }
    match reader {
        ColumnReader::Int64ColumnReader(reader) => all!(reader, Cell::Integer(0), Cell::Integer),
        ColumnReader::DoubleColumnReader(reader) => all!(reader, Cell::Number(0.0), Cell::Number),
        ColumnReader::BoolColumnReader(reader) => all!(reader, Cell::Truth(false), Cell::Truth),
        ColumnReader::ByteArrayColumnReader(reader) => {
            all!(reader, Cell::Text(String::new()), |text: ByteArray| Cell::Text(
                String::from_utf8_lossy(text.data()).into_owned()
            ))
        }
        _ => Err(ParquetError::General("it has a column of a kind that no task writes".to_owned())),
    }
}
