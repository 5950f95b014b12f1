//! Several tables as one, column by column: what a task of a sweep leaves behind.
//!
//! Each row says in its column `record` which table it is of; a column that its table lacks is null there. The same
//! tables give the same bytes.

use crate::plain;
use crate::table::{Cell, Kind, Table};
use numpy::Element;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Tables under each other.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Wide {
    columns: Vec<Column>,
    /// Rows of the tables that are complete.
    above: usize,
    /// Rows of the table under construction.
    rows: usize,
}

/// One column; rows beyond `present` are null.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// One for each of `present`; what stands where nothing is present means nothing.
    pub(crate) cells: Cells,
    pub(crate) present: Vec<bool>,
}

/// The cells of a column, all of one kind.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Cells {
    Integer(Vec<i64>),
    Number(Vec<f64>),
    Truth(Vec<bool>),
    Text(Vec<String>),
}

impl Wide {
    /// Rows of all tables.
    pub(crate) const fn rows(&self) -> usize {
        self.above + self.rows
    }

    /// The columns, in order.
    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Begins the next rows, which need not have all columns that others have.
    pub(crate) const fn next(&mut self, rows: usize) {
        self.above += self.rows;
        self.rows = rows;
    }

    /// Begins the next table, of so many rows.
    pub(crate) fn begin(&mut self, record: &str, rows: usize) {
        self.next(rows);
        self.put("record", &Cell::from(""), (0..rows).map(|_| Some(Cell::from(record))));
    }

    /// Adds a column with the same value in every row of every table so far.
    pub(crate) fn mark(&mut self, name: &str, value: &Cell) {
        let mut column = Column::new(name, value);
        column.extend((0..self.rows()).map(|_| Some(value.clone())));
        self.columns.insert(0, column);
    }

    /// The cells of a column for the rows begun last.
    pub(crate) fn put(&mut self, name: &str, kind: &Cell, cells: impl Iterator<Item = Option<Cell>>) {
        let at = self.place(name, kind, self.columns.len());
        self.columns[at].extend(cells);
    }

    /// The same from rows of another table's column; returns which column it is.
    ///
    /// `guess` is where it may stand: tables that are alike have their columns in the same order.
    pub(crate) fn take(&mut self, column: &Column, rows: Range<usize>, guess: usize) -> usize {
        let at = self.place(&column.name, &column.kind(), guess);
        self.columns[at].append(column, rows);
        at
    }

    /// All rows of another table; returns which columns its columns are.
    pub(crate) fn take_all(&mut self, other: &Self) -> Vec<usize> {
        self.next(other.rows());
        let mut places: Vec<usize> = Vec::with_capacity(other.columns.len());
        for column in &other.columns {
            let guess = places.last().map_or(0, |last| last + 1);
            places.push(self.take(column, 0..other.rows(), guess));
        }
        places
    }

    /// A column, which ends where the rows begun last begin.
    fn place(&mut self, name: &str, kind: &Cell, guess: usize) -> usize {
        let there = self.columns.get(guess).is_some_and(|column| column.name == name);
        let found =
            if there { Some(guess) } else { self.columns.iter().position(|column| column.name == name) };
        let at = found.unwrap_or_else(|| {
            self.columns.push(Column::new(name, kind));
            self.columns.len() - 1
        });
        let missing = self.above - self.columns[at].present.len();
        self.columns[at].extend(std::iter::repeat_n(None, missing));
        at
    }

    /// The file, with what is known of it as metadata.
    pub(crate) fn parquet(&self, metadata: &[(String, String)]) -> Result<Vec<u8>, &'static str> {
        plain::file(&self.columns, self.rows(), metadata)
    }
}

impl<'py> Table<'py> for Wide {
    fn array<T: Element + Into<Cell>>(&mut self, name: &str, values: Vec<T>) -> PyResult<()> {
        let mut cells = values.into_iter().map(|value| Some(value.into())).peekable();
        if let Some(Some(kind)) = cells.peek().cloned() {
            self.put(name, &kind, cells);
        }
        Ok(())
    }

    fn list<T: IntoPyObject<'py> + Into<Cell> + Kind>(
        &mut self,
        name: &str,
        values: Vec<Option<T>>,
    ) -> PyResult<()> {
        self.put(name, &T::kind(), values.into_iter().map(|value| value.map(Into::into)));
        Ok(())
    }

    fn names<'a>(
        &mut self,
        name: &str,
        names: impl IntoIterator<Item = &'a str>,
        rows: impl ExactSizeIterator<Item = usize>,
    ) -> PyResult<()> {
        let names: Vec<&str> = names.into_iter().collect();
        self.put(name, &Cell::from(""), rows.map(|row| Some(Cell::from(names[row]))));
        Ok(())
    }
}

impl Column {
    /// A column without rows, for cells of the kind of one.
    pub(crate) fn new(name: &str, kind: &Cell) -> Self {
        let cells = match kind {
            Cell::Integer(_) => Cells::Integer(Vec::new()),
            Cell::Number(_) => Cells::Number(Vec::new()),
            Cell::Truth(_) => Cells::Truth(Vec::new()),
            Cell::Text(_) => Cells::Text(Vec::new()),
        };
        Self { name: name.to_owned(), cells, present: Vec::new() }
    }

    /// Any cell of its kind.
    pub(crate) const fn kind(&self) -> Cell {
        match &self.cells {
            Cells::Integer(_) => Cell::Integer(0),
            Cells::Number(_) => Cell::Number(0.0),
            Cells::Truth(_) => Cell::Truth(false),
            Cells::Text(_) => Cell::Text(String::new()),
        }
    }

    /// The cell of a row, if there is one.
    pub(crate) fn cell(&self, row: usize) -> Option<Cell> {
        self.has(row).then(|| match &self.cells {
            Cells::Integer(values) => Cell::Integer(values[row]),
            Cells::Number(values) => Cell::Number(values[row]),
            Cells::Truth(values) => Cell::Truth(values[row]),
            Cells::Text(values) => Cell::Text(values[row].clone()),
        })
    }

    /// Whether there is anything in a row.
    pub(crate) fn has(&self, row: usize) -> bool {
        self.present.get(row).is_some_and(|&present| present)
    }

    /// Whether a row holds a text.
    pub(crate) fn says(&self, row: usize, text: &str) -> bool {
        self.has(row) && matches!(&self.cells, Cells::Text(values) if values[row] == text)
    }

    /// Rows of another column of the same kind; from one of another kind they are null.
    fn append(&mut self, other: &Self, rows: Range<usize>) {
        let there = rows.start.min(other.present.len())..rows.end.min(other.present.len());
        match (&mut self.cells, &other.cells) {
            (Cells::Integer(own), Cells::Integer(values)) => own.extend_from_slice(&values[there.clone()]),
            (Cells::Number(own), Cells::Number(values)) => own.extend_from_slice(&values[there.clone()]),
            (Cells::Truth(own), Cells::Truth(values)) => own.extend_from_slice(&values[there.clone()]),
            (Cells::Text(own), Cells::Text(values)) => own.extend_from_slice(&values[there.clone()]),
            _ => return self.extend(rows.map(|_| None)),
        }
        self.present.extend_from_slice(&other.present[there.clone()]);
        self.extend((there.len()..rows.len()).map(|_| None));
    }

    /// More rows. A cell of another kind is null.
    pub(crate) fn extend(&mut self, cells: impl Iterator<Item = Option<Cell>>) {
        for cell in cells {
            self.present.push(match (&mut self.cells, cell) {
                (Cells::Integer(values), Some(Cell::Integer(value))) => more(values, value),
                (Cells::Number(values), Some(Cell::Number(value))) => more(values, value),
                (Cells::Truth(values), Some(Cell::Truth(value))) => more(values, value),
                (Cells::Text(values), Some(Cell::Text(value))) => more(values, value),
                (Cells::Integer(values), _) => !more(values, 0),
                (Cells::Number(values), _) => !more(values, 0.0),
                (Cells::Truth(values), _) => !more(values, false),
                (Cells::Text(values), _) => !more(values, String::new()),
            });
        }
    }
}

fn more<T>(values: &mut Vec<T>, value: T) -> bool {
    values.push(value);
    true
}
