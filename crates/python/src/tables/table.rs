//! Tables, independent of their destination: Python (`columns.rs`) or a file (`wide.rs`).

use numpy::Element;
use pyo3::prelude::*;

/// One value in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Integer(i64),
    Number(f64),
    Truth(bool),
    Text(String),
}

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<u64> for Cell {
    fn from(value: u64) -> Self {
        Self::Integer(value.try_into().unwrap_or(i64::MAX))
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<bool> for Cell {
    fn from(value: bool) -> Self {
        Self::Truth(value)
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Cell {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

/// A table under construction, column by column. All columns have the same number of rows.
pub(crate) trait Table<'py> {
    /// Numbers or booleans.
    fn array<T: Element + Into<Cell> + Kind>(&mut self, name: &str, values: Vec<T>) -> PyResult<()>;

    /// Values that may be missing.
    fn list<T: IntoPyObject<'py> + Into<Cell> + Kind>(
        &mut self,
        name: &str,
        values: Vec<Option<T>>,
    ) -> PyResult<()>;

    /// Text: an index into `names` for each row.
    fn names<'a>(
        &mut self,
        name: &str,
        names: impl IntoIterator<Item = &'a str>,
        rows: impl ExactSizeIterator<Item = usize>,
    ) -> PyResult<()>;

    /// Text with few different words.
    fn words(&mut self, name: &str, rows: impl ExactSizeIterator<Item = &'static str>) -> PyResult<()> {
        self.list(name, rows.map(Some).collect())
    }

    /// Counts as signed 64-bit numbers, so that differences are right.
    fn counts<T: TryInto<i64>>(&mut self, name: &str, values: impl Iterator<Item = T>) -> PyResult<()> {
        self.array(name, values.map(|value| value.try_into().unwrap_or(i64::MAX)).collect::<Vec<i64>>())
    }
}

/// The cell type of a Rust type; a column has one even if it has no values.
pub(crate) trait Kind {
    /// Any value of that type.
    fn kind() -> Cell;
}

impl Kind for i64 {
    fn kind() -> Cell {
        Cell::Integer(0)
    }
}

impl Kind for bool {
    fn kind() -> Cell {
        Cell::Truth(false)
    }
}

impl Kind for u64 {
    fn kind() -> Cell {
        Cell::Integer(0)
    }
}

impl Kind for f64 {
    fn kind() -> Cell {
        Cell::Number(0.0)
    }
}

impl Kind for &str {
    fn kind() -> Cell {
        Cell::Text(String::new())
    }
}

impl Kind for String {
    fn kind() -> Cell {
        Cell::Text(Self::new())
    }
}
