//! The names and types of a table's columns, from the same code that fills the table.

use crate::tables::table::{Cell, Kind, Table};
use numpy::Element;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

/// Python's type of each column, by its name.
pub(crate) struct Schema<'py> {
    types: Bound<'py, PyDict>,
}

impl<'py> Schema<'py> {
    pub(crate) fn new(py: Python<'py>) -> Self {
        Self { types: PyDict::new(py) }
    }

    pub(crate) fn finish(self) -> Bound<'py, PyDict> {
        self.types
    }

    fn column(&self, name: &str, kind: &Cell) -> PyResult<()> {
        let py = self.types.py();
        let kind = match kind {
            Cell::Integer(_) => py.get_type::<PyInt>(),
            Cell::Number(_) => py.get_type::<PyFloat>(),
            Cell::Truth(_) => py.get_type::<PyBool>(),
            Cell::Text(_) => py.get_type::<PyString>(),
        };
        self.types.set_item(name, kind)
    }
}

impl<'py> Table<'py> for Schema<'py> {
    fn array<T: Element + Into<Cell> + Kind>(&mut self, name: &str, _values: Vec<T>) -> PyResult<()> {
        self.column(name, &T::kind())
    }

    fn list<T: IntoPyObject<'py> + Into<Cell> + Kind>(
        &mut self,
        name: &str,
        _values: Vec<Option<T>>,
    ) -> PyResult<()> {
        self.column(name, &T::kind())
    }

    fn names<'a>(
        &mut self,
        name: &str,
        _names: impl IntoIterator<Item = &'a str>,
        _rows: impl ExactSizeIterator<Item = usize>,
    ) -> PyResult<()> {
        self.column(name, &String::kind())
    }
}
