//! Several tables as one, column by column: what a task of a sweep leaves behind.
//!
//! Each row says in its column `record` which table it is of; a column that its table lacks is null there. The same
//! tables give the same bytes.

use crate::cells::Column;
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
    fn take(&mut self, column: &Column, rows: Range<usize>, guess: usize) -> usize {
        let at = self.place(&column.name, &column.kind(), guess);
        self.columns[at].append(column, rows);
        at
    }

    /// The next rows, which are these of another table's columns; returns which columns these are here.
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
