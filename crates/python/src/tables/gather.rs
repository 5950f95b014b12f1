//! Combines the results of many tasks of a sweep (`wide.rs`) into one table each of flows, groups and links.
//!
//! A sweep has thousands of tasks of a few rows each. Rows of tasks that have just run are moved, also between
//! processes; those in files are read with the crate `parquet`, in 0.1 ms per file.

use crate::errors::system_words;
use crate::tables::cells::{Cells, Column};
use crate::tables::table::Cell;
use crate::tables::wide::Wide;
use numpy::{Element, IntoPyArray as _};
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of files that are read before their rows are added, which limits memory.
const AT_ONCE: usize = 2000;

/// The columns of a task in each table, by their indices there.
type Shape = [Vec<usize>; RECORDS.len()];

const RECORDS: [&str; 3] = ["flow", "group", "link"];

/// Rows of tasks in any order.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Gathered {
    tables: [Wide; RECORDS.len()],
    /// The sets of columns of tasks; most tasks have the same.
    shapes: Vec<Shape>,
    /// The shape of each task.
    tasks: BTreeMap<String, usize>,
}

/// The rows of many tasks of a sweep.
#[pyclass(frozen, module = "netspurt._core")]
#[derive(Debug, Default)]
pub(crate) struct Tasks(Mutex<Gathered>);

#[pymethods]
impl Tasks {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn __len__(&self) -> usize {
        self.lock().tasks.len()
    }

    fn __contains__(&self, task: &str) -> bool {
        self.lock().tasks.contains_key(task)
    }

    /// For pickle: results go from the process of the task to the one of the sweep.
    fn __getstate__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes =
            postcard::to_stdvec(&*self.lock()).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __setstate__(&self, state: &[u8]) -> PyResult<()> {
        *self.lock() = postcard::from_bytes(state)
            .map_err(|error| PyValueError::new_err(format!("invalid rows of tasks: {error}")))?;
        Ok(())
    }

    /// Moves all rows out of others. Rows are dropped if one of the tasks is known.
    fn take(&self, others: &Self) {
        // One after the other, so that no two locks are held at once.
        let taken = std::mem::take(&mut *others.lock());
        self.lock().absorb(&taken);
    }

    /// Adds the rows of tasks from their files, read by this number of threads.
    #[pyo3(signature = (files, threads = 1))]
    fn read(&self, py: Python<'_>, files: Vec<PathBuf>, threads: usize) -> PyResult<()> {
        py.detach(|| {
            for part in files.chunks(AT_ONCE) {
                for wide in read_all(part, threads) {
                    let wide = wide?;
                    if let Some(task) = wide.columns().iter().find(|column| column.name == "task")
                        && let Some(Cell::Text(task)) = task.cell(0)
                    {
                        self.lock().take(&task, &wide);
                    }
                }
            }
            Ok(())
        })
    }

    /// A dict with "flow", "group" and "link", each a list of columns as (name, type, values, present), where a type is
    /// "integer", "number", "truth" or "text". Texts are a list with None for missing values; other values are an
    /// array, and ``present`` says which of them are valid, or is None if all are.
    ///
    /// Columns are in the order in which the tasks of ``order`` have them, whatever the order of arrival; rows of a
    /// task are consecutive. The columns before ``link`` belong to flows, and some of them to groups; the others belong
    /// to links.
    fn tables<'py>(&self, py: Python<'py>, order: Vec<String>) -> PyResult<Bound<'py, PyDict>> {
        let gathered = self.lock();
        let all = PyDict::new(py);
        for (record, name) in RECORDS.into_iter().enumerate() {
            all.set_item(name, listed(py, &gathered.tables[record], gathered.ordered(record, &order))?)?;
        }
        Ok(all)
    }
}

impl Tasks {
    /// Adds the rows of a task that has just run; ignored if the task is known.
    pub(crate) fn add(&self, task: &str, wide: &Wide) {
        self.lock().take(task, wide);
    }

    fn lock(&self) -> MutexGuard<'_, Gathered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gathered {
    fn take(&mut self, task: &str, wide: &Wide) {
        if self.tasks.contains_key(task) {
            return;
        }
        let mut shape = Shape::default();
        for (record, name) in RECORDS.into_iter().enumerate() {
            shape[record] = part(wide.columns(), wide.rows(), name, &mut self.tables[record]);
        }
        let shape = self.shape(shape);
        self.tasks.insert(task.to_owned(), shape);
    }

    fn absorb(&mut self, others: &Self) {
        if others.tasks.keys().any(|task| self.tasks.contains_key(task)) {
            return;
        }
        let places: Shape = std::array::from_fn(|record| {
            let theirs = &others.tables[record];
            self.tables[record].take_all(theirs.columns().iter(), 0..theirs.rows())
        });
        let own = |shape: &Shape| -> Shape {
            std::array::from_fn(|record| shape[record].iter().map(|&place| places[record][place]).collect())
        };
        let shapes: Vec<usize> = others.shapes.iter().map(|shape| self.shape(own(shape))).collect();
        self.tasks.extend(others.tasks.iter().map(|(task, &shape)| (task.clone(), shapes[shape])));
    }

    /// The index of a shape.
    fn shape(&mut self, shape: Shape) -> usize {
        let known = self.shapes.iter().rposition(|known| *known == shape);
        known.unwrap_or_else(|| {
            self.shapes.push(shape);
            self.shapes.len() - 1
        })
    }

    /// The indices of a table's columns in the order in which tasks have them.
    fn ordered(&self, record: usize, order: &[String]) -> Vec<usize> {
        let mut met = vec![false; self.shapes.len()];
        let mut places: Vec<usize> = Vec::new();
        for &shape in order.iter().filter_map(|task| self.tasks.get(task)) {
            if !std::mem::replace(&mut met[shape], true) {
                let new: Vec<usize> = self.shapes[shape][record]
                    .iter()
                    .copied()
                    .filter(|place| !places.contains(place))
                    .collect();
                places.extend(new);
            }
        }
        places
    }
}

/// The tables of every file, in order, read by this number of threads.
fn read_all(files: &[PathBuf], threads: usize) -> Vec<PyResult<Wide>> {
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

/// Adds the consecutive rows of one record of a task to its table. Returns the indices of the columns there.
fn part(columns: &[Column], rows: usize, record: &str, table: &mut Wide) -> Vec<usize> {
    let Some(records) = columns.iter().find(|column| column.name == "record") else { return Vec::new() };
    let first = (0..rows).find(|&row| records.says(row, record)).unwrap_or(rows);
    let rows = first..(first..rows).find(|&row| !records.says(row, record)).unwrap_or(rows);
    let border = columns.iter().position(|column| column.name == "link").unwrap_or(columns.len());
    let own = columns.iter().enumerate().filter(|(at, column)| match (record, &*column.name) {
        (_, "task" | "digest") => true,
        (_, "record" | "seed") | ("flow", "flows") => false,
        ("link", _) => *at >= border,
        ("group", _) => *at < border && rows.clone().any(|row| column.has(row)),
        _ => *at < border,
    });
    table.take_all(own.map(|(_, column)| column), rows.clone())
}

fn listed<'py>(py: Python<'py>, table: &Wide, places: Vec<usize>) -> PyResult<Bound<'py, PyList>> {
    let columns = PyList::empty(py);
    for column in places.into_iter().map(|place| &table.columns()[place]) {
        let missing = table.rows() - column.present.len();
        let (kind, values) = match &column.cells {
            Cells::Integer(values) => ("integer", filled(py, values, missing)),
            Cells::Number(values) => ("number", filled(py, values, missing)),
            Cells::Truth(values) => ("truth", filled(py, values, missing)),
            Cells::Text(values) => ("text", texts(py, values, &column.present, missing)?),
        };
        let whole = missing == 0 && column.present.iter().all(|&present| present);
        let present = (!whole && kind != "text").then(|| filled(py, &column.present, missing));
        columns.append((&column.name, kind, values, present))?;
    }
    Ok(columns)
}

/// Values as an array, with arbitrary values for missing rows at the end.
fn filled<'py, T: Element + Clone + Default>(
    py: Python<'py>,
    values: &[T],
    missing: usize,
) -> Bound<'py, PyAny> {
    let all: Vec<T> = values.iter().cloned().chain(std::iter::repeat_n(T::default(), missing)).collect();
    all.into_pyarray(py).into_any()
}

/// Texts as a list, with None for missing ones. Each name becomes one Python string.
fn texts<'py>(
    py: Python<'py>,
    values: &[String],
    present: &[bool],
    missing: usize,
) -> PyResult<Bound<'py, PyAny>> {
    const NAMES: usize = 64;
    let mut known: BTreeMap<&str, Bound<'py, PyString>> = BTreeMap::new();
    let list = PyList::empty(py);
    for (text, &present) in values.iter().zip(present) {
        match known.get(&**text) {
            _ if !present => list.append(py.None())?,
            Some(name) => list.append(name)?,
            None => {
                let name = PyString::new(py, text);
                list.append(&name)?;
                if known.len() < NAMES {
                    known.insert(text, name);
                }
            }
        }
    }
    for _ in 0..missing {
        list.append(py.None())?;
    }
    Ok(list.into_any())
}

fn read(file: &PathBuf) -> PyResult<Wide> {
    let bytes = std::fs::read(file)
        .map_err(|error| PyOSError::new_err(format!("{}: {}", file.display(), system_words(&error))))?;
    parsed(bytes).map_err(|error| {
        PyValueError::new_err(format!("{} is not the file of a task: {error}", file.display()))
    })
}

fn parsed(file: Vec<u8>) -> Result<Wide, ParquetError> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(file))?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let mut wide = Wide::default();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        wide.next(rows);
        for (at, column) in schema.columns().iter().enumerate() {
            let (kind, cells) = cells(group.get_column_reader(at)?, rows)?;
            wide.put(column.name(), &kind, cells.into_iter());
        }
    }
    Ok(wide)
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
        _ => Err(ParquetError::General("it has a column of an unexpected type".to_owned())),
    }
}
