//! Several tables as one, column by column: the results of a task of a sweep.
//!
//! The column `record` names the table of each row. Columns that a table does not have are null. Equal tables give
//! equal bytes.

use crate::tables::cells::Column;
use crate::tables::plain;
use crate::tables::table::{Cell, Kind, Table};
use numpy::Element;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Tables, one after the other.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Wide {
    columns: Vec<Column>,
    /// Rows of the complete tables.
    above: usize,
    /// Rows of the table under construction.
    rows: usize,
}

impl Wide {
    /// Rows of all tables.
    pub(crate) const fn rows(&self) -> usize {
        self.above + self.rows
    }

    /// The columns in order.
    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Starts the next rows, which may have fewer columns than others.
    pub(crate) const fn next(&mut self, rows: usize) {
        self.above += self.rows;
        self.rows = rows;
    }

    /// Starts the next table, with this number of rows.
    pub(crate) fn begin(&mut self, record: &str, rows: usize) {
        self.next(rows);
        self.put("record", &Cell::from(""), (0..rows).map(|_| Some(Cell::from(record))));
    }

    /// Adds a column with the same value in every row so far.
    pub(crate) fn mark(&mut self, name: &str, value: &Cell) {
        let mut column = Column::new(name, value);
        column.extend((0..self.rows()).map(|_| Some(value.clone())));
        self.columns.insert(0, column);
    }

    /// Adds the cells of a column for the rows started last.
    pub(crate) fn put(&mut self, name: &str, kind: &Cell, cells: impl Iterator<Item = Option<Cell>>) {
        let at = self.place(name, kind, self.columns.len());
        self.columns[at].extend(cells);
    }

    /// The same with the rows of another table's column. Returns the column's index.
    ///
    /// `guess` is its likely index: similar tables have their columns in the same order.
    fn take(&mut self, column: &Column, rows: Range<usize>, guess: usize) -> usize {
        let at = self.place(&column.name, &column.kind(), guess);
        self.columns[at].append(column, rows);
        at
    }

    /// Appends rows of another table's columns. Returns the indices of these columns here.
    pub(crate) fn take_all<'a>(
        &mut self,
        columns: impl Iterator<Item = &'a Column>,
        rows: Range<usize>,
    ) -> Vec<usize> {
        self.next(rows.len());
        let mut places: Vec<usize> = Vec::with_capacity(columns.size_hint().1.unwrap_or(0));
        for column in columns {
            let guess = places.last().map_or(0, |last| last + 1);
            places.push(self.take(column, rows.clone(), guess));
        }
        places
    }

    /// A column, filled up to the start of the present rows.
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

    /// The file, with the given metadata.
    pub(crate) fn parquet(&self, metadata: &[(String, String)]) -> Result<Vec<u8>, &'static str> {
        plain::file(&self.columns, self.rows(), metadata)
    }
}

impl<'py> Table<'py> for Wide {
    fn array<T: Element + Into<Cell> + Kind>(&mut self, name: &str, values: Vec<T>) -> PyResult<()> {
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
