//! Tables for Python: a `dict` from names to numpy arrays, or to lists for text and for columns with missing values.

use crate::tables::table::{Cell, Kind, Table};
use numpy::{Element, IntoPyArray as _};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

/// A table under construction.
pub(crate) struct Columns<'py> {
    py: Python<'py>,
    table: Bound<'py, PyDict>,
}

impl<'py> Columns<'py> {
    pub(crate) fn new(py: Python<'py>) -> Self {
        Self { py, table: PyDict::new(py) }
    }

    /// A table that is filled by this function.
    pub(crate) fn filled(
        py: Python<'py>,
        fill: impl FnOnce(&mut Self) -> PyResult<()>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut columns = Self::new(py);
        fill(&mut columns)?;
        Ok(columns.finish())
    }

    /// Numbers or booleans, moved to a numpy array.
    pub(crate) fn array<T: Element>(&self, name: &str, values: Vec<T>) -> PyResult<()> {
        self.table.set_item(name, values.into_pyarray(self.py))
    }

    /// Counts as signed 64-bit numbers, so that differences are right.
    pub(crate) fn counts<T: TryInto<i64>>(
        &self,
        name: &str,
        values: impl Iterator<Item = T>,
    ) -> PyResult<()> {
        self.array(name, values.map(|value| value.try_into().unwrap_or(i64::MAX)).collect())
    }

    /// Values that may be missing, as a list.
    pub(crate) fn list<T: IntoPyObject<'py>>(&self, name: &str, values: Vec<Option<T>>) -> PyResult<()> {
        self.table.set_item(name, values)
    }

    /// Text: an index into `names` for each row; each name becomes one Python string.
    pub(crate) fn names<'a>(
        &self,
        name: &str,
        names: impl IntoIterator<Item = &'a str>,
        rows: impl ExactSizeIterator<Item = usize>,
    ) -> PyResult<()> {
        let names: Vec<Bound<'py, PyString>> =
            names.into_iter().map(|name| PyString::new(self.py, name)).collect();
        let rows = PyList::new(self.py, rows.map(|row| &names[row]))?;
        self.table.set_item(name, rows)
    }

    /// Text with few different words.
    pub(crate) fn words(
        &self,
        name: &str,
        rows: impl ExactSizeIterator<Item = &'static str>,
    ) -> PyResult<()> {
        let rows = PyList::new(self.py, rows.map(|word| PyString::intern(self.py, word)))?;
        self.table.set_item(name, rows)
    }

    pub(crate) fn finish(self) -> Bound<'py, PyDict> {
        self.table
    }
}

impl<'py> Table<'py> for Columns<'py> {
    fn array<T: Element + Into<Cell> + Kind>(&mut self, name: &str, values: Vec<T>) -> PyResult<()> {
        Self::array(self, name, values)
    }

    fn list<T: IntoPyObject<'py> + Into<Cell> + Kind>(
        &mut self,
        name: &str,
        values: Vec<Option<T>>,
    ) -> PyResult<()> {
        Self::list(self, name, values)
    }

    fn names<'a>(
        &mut self,
        name: &str,
        names: impl IntoIterator<Item = &'a str>,
        rows: impl ExactSizeIterator<Item = usize>,
    ) -> PyResult<()> {
        Self::names(self, name, names, rows)
    }

    fn words(&mut self, name: &str, rows: impl ExactSizeIterator<Item = &'static str>) -> PyResult<()> {
        Self::words(self, name, rows)
    }
}
