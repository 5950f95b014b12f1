//! The classes `Delays` and `Estimator`: recorded delays, and retransmission timers replayed over them.
//!
//! Python uses one-way delays in seconds, as RFC 889 does; the replay uses round-trip times.

use crate::tables::columns::Columns;
use netspurt_scenario as scenario;
use netspurt_tcp::rto;
use netspurt_tcp::time::Span;
use netspurt_trace::replay::{
    self, Detail, Grid, Percentiles, Rules, Summary, Tally, Trip, best_constant, oracle,
};
use numpy::{IntoPyArray as _, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Maximum one-way delay: half the limit of an estimator.
const LONGEST_S: f64 = 5_000.0;

/// Picoseconds of RTT per second of one-way delay.
const ROUND_PS: f64 = 2e12;

/// One retransmission timeout estimator, by its name and parameters in a scenario file.
#[pyclass(frozen, module = "netspurt._core")]
pub(crate) struct Estimator {
    #[pyo3(get)]
    name: String,
    kind: rto::Kind,
}

#[pymethods]
impl Estimator {
    /// Raises ``ValueError`` for an unknown name or an invalid parameter.
    #[new]
    #[pyo3(signature = (name, parameters = Vec::new()))]
    fn new(name: String, parameters: Vec<(String, String)>) -> PyResult<Self> {
        let pairs: Vec<(&str, &str)> =
            parameters.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let kind = scenario::estimator(&name, &pairs).map_err(PyValueError::new_err)?;
        Ok(Self { name, kind })
    }

    fn __repr__(&self) -> String {
        format!("<netspurt._core.Estimator {:?}>", self.kind)
    }
}

/// One-way delays, in the order of measurement. Immutable; safe to share between threads.
#[pyclass(frozen, module = "netspurt._core")]
pub(crate) struct Delays {
    trips: Vec<Trip>,
}

#[pymethods]
impl Delays {
    /// From one-way delays in seconds, NaN for a lost packet.
    #[new]
    fn new(one_way_s: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        let delays = one_way_s.as_array();
        let trips = delays.iter().enumerate().map(|(row, &delay)| trip(row, delay));
        Ok(Self { trips: trips.collect::<PyResult<_>>()? })
    }

    fn __len__(&self) -> usize {
        self.trips.len()
    }

    /// Statistics of the delays: cycles, lost, good_s, mean_s and cov (with lost packets as zero delays),
    /// received_mean_s and received_cov (without lost packets).
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Summary { cycles, lost, good_s, mean_s, cov, received_mean_s, received_cov } =
            py.detach(|| Summary::of(&self.trips));
        let table = PyDict::new(py);
        table.set_item("cycles", cycles)?;
        table.set_item("lost", lost)?;
        table.set_item("good_s", good_s / 2.0)?;
        table.set_item("mean_s", mean_s / 2.0)?;
        table.set_item("cov", cov)?;
        table.set_item("received_mean_s", received_mean_s / 2.0)?;
        table.set_item("received_cov", received_cov)?;
        Ok(table)
    }

    /// Replays one estimator: lost, lost_s, rtx, rtx_s, and percentiles of its timeouts (``rto_…``) and of timeout
    /// minus delay for packets with a response in time (``late_…``).
    fn replay<'py>(
        &self,
        py: Python<'py>,
        estimator: &Estimator,
        rules: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let detail = self.in_detail(py, estimator, rules)?;
        let table = PyDict::new(py);
        set_tally(&table, &detail.tally)?;
        for (name, percentiles) in [("rto", detail.rto_percentiles), ("late", detail.late_percentiles)] {
            set_percentiles(&table, name, percentiles)?;
        }
        Ok(table)
    }

    /// The timeout in force in each cycle, as one-way seconds.
    fn timeouts<'py>(
        &self,
        py: Python<'py>,
        estimator: &Estimator,
        rules: &str,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let detail = self.in_detail(py, estimator, rules)?;
        let seconds: Vec<f64> = detail.rto.into_iter().map(one_way_s).collect();
        Ok(seconds.into_pyarray(py))
    }

    /// Lower bounds of the cost: ``oracle`` (each timeout is the delay) and ``constant`` (the best constant timeout,
    /// ``rto_s``), each with lost, lost_s, rtx, rtx_s.
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (known, constant) = py.detach(|| (oracle(&self.trips), best_constant(&self.trips)));
        let (first, second, table) = (PyDict::new(py), PyDict::new(py), PyDict::new(py));
        set_tally(&first, &known)?;
        set_tally(&second, &constant.tally)?;
        second.set_item("rto_s", one_way_s(constant.rto))?;
        table.set_item("oracle", first)?;
        table.set_item("constant", second)?;
        Ok(table)
    }

    /// Replays many estimators over the delays, split into ``blocks``: columns estimator, block, lost, lost_s, rtx,
    /// rtx_s, sorted by estimator and block.
    #[pyo3(signature = (estimators, rules, blocks = 1, threads = 1))]
    fn grid<'py>(
        &self,
        py: Python<'py>,
        estimators: Vec<PyRef<'py, Estimator>>,
        rules: &str,
        blocks: usize,
        threads: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let kinds: Vec<rto::Kind> = estimators.iter().map(|estimator| estimator.kind).collect();
        let rules = parse(rules)?;
        let mut raised = None;
        let tallies = py.detach(|| {
            let work = Grid { trips: &self.trips, kinds: &kinds, rules, blocks: blocks.max(1), threads };
            replay::grid(work, || {
                raised = Python::attach(|py| py.check_signals()).err();
                raised.is_none()
            })
        });
        if let Some(error) = raised {
            return Err(error);
        }
        let tallies = tallies.unwrap_or_default();
        let flat = || tallies.iter().flatten();
        let columns = Columns::new(py);
        let places = || tallies.iter().enumerate().flat_map(|(at, row)| (0..row.len()).map(move |n| (at, n)));
        columns.counts("estimator", places().map(|place| place.0))?;
        columns.counts("block", places().map(|place| place.1))?;
        columns.counts("lost", flat().map(|tally| tally.lost))?;
        columns.array("lost_s", flat().map(|tally| sum_s(tally.lost_ps)).collect())?;
        columns.counts("rtx", flat().map(|tally| tally.rtx))?;
        columns.array("rtx_s", flat().map(|tally| sum_s(tally.rtx_ps)).collect())?;
        Ok(columns.finish())
    }
}

impl Delays {
    fn in_detail(&self, py: Python<'_>, estimator: &Estimator, rules: &str) -> PyResult<Detail> {
        let rules = parse(rules)?;
        Ok(py.detach(|| replay::in_detail(estimator.kind, &self.trips, rules)))
    }
}

fn trip(row: usize, delay_s: f64) -> PyResult<Trip> {
    if delay_s.is_nan() {
        Ok(Trip::LOST)
    } else if (0.0..=LONGEST_S).contains(&delay_s) {
        Ok(Trip::after(Span::from_ps((delay_s * ROUND_PS).round() as u64)))
    } else {
        let message = format!("row {row}: delay {delay_s} s is not between 0 and {LONGEST_S} s");
        Err(PyValueError::new_err(message))
    }
}

fn parse(rules: &str) -> PyResult<Rules> {
    match rules {
        "document" => Ok(Rules::Document),
        "connection" => Ok(Rules::Connection),
        _ => Err(PyValueError::new_err(format!("unknown rules '{rules}': must be document or connection"))),
    }
}

fn one_way_s(span: Span) -> f64 {
    span.as_ps() as f64 / ROUND_PS
}

fn sum_s(ps: u128) -> f64 {
    ps as f64 / ROUND_PS
}

fn set_tally(table: &Bound<'_, PyDict>, tally: &Tally) -> PyResult<()> {
    table.set_item("lost", tally.lost)?;
    table.set_item("lost_s", sum_s(tally.lost_ps))?;
    table.set_item("rtx", tally.rtx)?;
    table.set_item("rtx_s", sum_s(tally.rtx_ps))
}

fn set_percentiles(table: &Bound<'_, PyDict>, name: &str, of: Option<Percentiles>) -> PyResult<()> {
    let each = |pick: fn(Percentiles) -> Span| of.map(|percentiles| one_way_s(pick(percentiles)));
    for (suffix, value) in [
        ("p5_s", each(|p| p.p5)),
        ("p50_s", each(|p| p.p50)),
        ("p95_s", each(|p| p.p95)),
        ("p99_s", each(|p| p.p99)),
        ("max_s", each(|p| p.max)),
    ] {
        table.set_item(format!("{name}_{suffix}"), value)?;
    }
    Ok(())
}
