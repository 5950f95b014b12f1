//! A column of a table outside Python: in a file, or in the results of a sweep.

use crate::tables::table::Cell;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// One column; rows beyond `present` are null.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// One cell for each of `present`; cells without a value have arbitrary content.
    pub(crate) cells: Cells,
    pub(crate) present: Vec<bool>,
}

/// The cells of a column, all of one type.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Cells {
    Integer(Vec<i64>),
    Number(Vec<f64>),
    Truth(Vec<bool>),
    Text(Vec<String>),
}

impl Column {
    /// A column without rows, with the type of `cell`.
    pub(crate) fn new(name: &str, kind: &Cell) -> Self {
        let cells = match kind {
            Cell::Integer(_) => Cells::Integer(Vec::new()),
            Cell::Number(_) => Cells::Number(Vec::new()),
            Cell::Truth(_) => Cells::Truth(Vec::new()),
            Cell::Text(_) => Cells::Text(Vec::new()),
        };
        Self { name: name.to_owned(), cells, present: Vec::new() }
    }

    /// Any cell of its type.
    pub(crate) const fn kind(&self) -> Cell {
        match &self.cells {
            Cells::Integer(_) => Cell::Integer(0),
            Cells::Number(_) => Cell::Number(0.0),
            Cells::Truth(_) => Cell::Truth(false),
            Cells::Text(_) => Cell::Text(String::new()),
        }
    }

    /// The cell of a row, if it has a value.
    pub(crate) fn cell(&self, row: usize) -> Option<Cell> {
        self.has(row).then(|| match &self.cells {
            Cells::Integer(values) => Cell::Integer(values[row]),
            Cells::Number(values) => Cell::Number(values[row]),
            Cells::Truth(values) => Cell::Truth(values[row]),
            Cells::Text(values) => Cell::Text(values[row].clone()),
        })
    }

    /// Whether a row has a value.
    pub(crate) fn has(&self, row: usize) -> bool {
        self.present.get(row).is_some_and(|&present| present)
    }

    /// Whether a row contains this text.
    pub(crate) fn says(&self, row: usize, text: &str) -> bool {
        self.has(row) && matches!(&self.cells, Cells::Text(values) if values[row] == text)
    }

    /// Appends rows of another column. Cells of another type become null.
    pub(crate) fn append(&mut self, other: &Self, rows: Range<usize>) {
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

    /// Appends rows. Cells of another type become null.
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
