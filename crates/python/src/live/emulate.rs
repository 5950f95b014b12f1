//! Runs the emulator without the interpreter lock, and checks at intervals for a request to stop.

use crate::errors::{capture_error, scenario_fault};
use netspurt_live::emulator::{
    CapturePoint, DelayError, EmulateError, Ended, HostCommand, HostReport, KernelTcp, LinkProgress,
    LinkReport, Observer, Outside, Plan, Progress, Report, emulate,
};
use netspurt_sim::spec::{NodeId, WorldSpec};
use netspurt_tcp::time::Span;
use pyo3::exceptions::{PyOSError, PyPermissionError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::ffi::OsString;
use std::path::PathBuf;

/// A host and its command line.
pub(crate) type Words = (String, Vec<OsString>);

/// Options of an emulation, apart from the scenario.
pub(crate) struct Request {
    pub(crate) command: Words,
    pub(crate) beside: Vec<Words>,
    pub(crate) seed: u64,
    pub(crate) mtu: u32,
    pub(crate) tcp: KernelTcp,
    pub(crate) sysctls: Vec<(String, String)>,
    pub(crate) captures: Vec<(String, PathBuf)>,
    /// Node, device, block of addresses and name servers of the caller's own network.
    pub(crate) outside: Option<(String, String, u8, String)>,
    /// Called with warnings, one sentence each.
    pub(crate) warn: Py<PyAny>,
    /// Called with what the links did in each interval of this many seconds.
    pub(crate) see: Option<(f64, Py<PyAny>)>,
}

/// The interpreter, in which Ctrl-C and exceptions of the caller's function request the end.
struct Caller {
    see: Option<(Span, Py<PyAny>)>,
    failed: Option<PyErr>,
}

impl Observer for Caller {
    fn asks_to_stop(&mut self) -> bool {
        // Ctrl-C ends it with a report, not with an exception.
        self.failed.is_some() || Python::attach(|py| py.check_signals()).is_err()
    }

    fn interval(&self) -> Option<Span> {
        self.see.as_ref().map(|(interval, _)| *interval)
    }

    fn see(&mut self, progress: &Progress<'_>) {
        let Some((_, see)) = &self.see else { return };
        let called = Python::attach(|py| {
            let links =
                progress.links.iter().map(|link| self::progress(py, link)).collect::<PyResult<Vec<_>>>()?;
            see.call1(py, (progress.at.as_secs_f64(), links)).map(drop)
        });
        if let Err(error) = called {
            (self.see, self.failed) = (None, Some(error));
        }
    }
}

/// Runs the scenario with this name until its command ends.
pub(crate) fn run<'py>(
    py: Python<'py>,
    name: &str,
    spec: WorldSpec,
    request: Request,
) -> PyResult<Bound<'py, PyDict>> {
    let node = |host: &str| {
        find(&spec, host).ok_or_else(|| {
            let known: Vec<&str> = spec.nodes.iter().map(|node| &*node.name).collect();
            let known = known.join("\", \"");
            scenario_fault(py, name, format!("unknown host \"{host}\": the scenario has \"{known}\""))
        })
    };
    let command = |(host, words): Words| Ok::<_, PyErr>(HostCommand { host: node(&host)?, words });
    let captures = request.captures.into_iter().map(|(place, path)| {
        let on_wire = || wire(&spec, &place);
        let point = find(&spec, &place).map(|node| CapturePoint { node, link: None }).or_else(on_wire);
        point.map_or_else(|| Err(unknown_place(py, name, &spec, &place)), |point| Ok((point, path)))
    });
    let outside = |(host, device, block, resolver): (String, String, u8, String)| {
        Ok::<_, PyErr>(Outside { node: node(&host)?, device, block, resolver })
    };
    let plan = Plan {
        outside: request.outside.map(outside).transpose()?,
        seed: request.seed,
        command: command(request.command)?,
        beside: request.beside.into_iter().map(command).collect::<PyResult<_>>()?,
        mtu: request.mtu,
        tcp: request.tcp,
        sysctls: request.sysctls,
        captures: captures.collect::<PyResult<_>>()?,
        spec,
    };
    for doubt in plan.doubts() {
        request.warn.call1(py, (doubt,))?;
    }
    let see = request.see.map(|(seconds, see)| (Span::from_ns((seconds * 1e9) as u64), see));
    let mut caller = Caller { see, failed: None };
    let outcome = py.detach(|| emulate(plan, &mut caller));
    if let Some(error) = caller.failed {
        return Err(error);
    }
    match outcome {
        Ok(report) => tables(py, &report),
        Err(error) => Err(raised(py, name, error)),
    }
}

fn find(spec: &WorldSpec, host: &str) -> Option<NodeId> {
    spec.nodes.iter().position(|node| *node.name == *host).map(|node| NodeId(node as u32))
}

/// The capture point `LINK@NODE`: the wire at this end of the link.
fn wire(spec: &WorldSpec, place: &str) -> Option<CapturePoint> {
    let (link, node) = place.rsplit_once('@')?;
    let node = find(spec, node)?;
    let link = spec.links.iter().position(|known| *known.name == *link && known.ends.contains(&node))?;
    Some(CapturePoint { node, link: Some(link) })
}

fn unknown_place(py: Python<'_>, name: &str, spec: &WorldSpec, place: &str) -> PyErr {
    let nodes = spec.nodes.iter().map(|node| node.name.to_string());
    let wires = spec
        .links
        .iter()
        .flat_map(|link| link.ends.map(|end| format!("{}@{}", link.name, spec.nodes[end.0 as usize].name)));
    let known: Vec<String> = nodes.chain(wires).collect();
    scenario_fault(py, name, format!("unknown capture point \"{place}\": use one of {}", known.join(", ")))
}

fn raised(py: Python<'_>, name: &str, error: EmulateError) -> PyErr {
    match error {
        EmulateError::Capture(error) => capture_error(py, name, &error),
        EmulateError::NoNamespace(_) | EmulateError::Device(_) | EmulateError::Link(_) => {
            PyPermissionError::new_err(error.to_string())
        }
        EmulateError::System(_) => PyOSError::new_err(error.to_string()),
        error => scenario_fault(py, name, error.to_string()),
    }
}

fn tables<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let whole = PyDict::new(py);
    whole.set_item("status", report.ended.map(Ended::code))?;
    whole.set_item("seconds", report.seconds)?;
    whole.set_item("stolen_s", report.stolen)?;
    whole.set_item("removed", report.removed)?;
    let links = report.links.iter().map(|link| self::link(py, link)).collect::<PyResult<Vec<_>>>()?;
    whole.set_item("links", PyList::new(py, links)?)?;
    let hosts = report.hosts.iter().map(|host| self::host(py, host)).collect::<PyResult<Vec<_>>>()?;
    whole.set_item("hosts", PyList::new(py, hosts)?)?;
    Ok(whole)
}

fn link<'py>(py: Python<'py>, link: &LinkReport) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("link", &link.link)?;
    row.set_item("direction", &link.direction)?;
    row.set_item("rate_asked_bps", link.rate_asked)?;
    row.set_item("rate_done_bps", link.rate_done)?;
    row.set_item("delay_asked_s", link.delay_asked.as_secs_f64())?;
    let DelayError { spans, late } = &link.error;
    let quantiles = spans.quantiles_s([0.5, 0.99]);
    row.set_item("delay_error_p50_s", quantiles.map(|all| all[0]))?;
    row.set_item("delay_error_p99_s", quantiles.map(|all| all[1]))?;
    row.set_item("delay_error_max_s", spans.max_s())?;
    row.set_item("arrived", spans.count())?;
    row.set_item("late", late)?;
    row.set_item("packets", link.packets)?;
    row.set_item("bytes", link.bytes)?;
    row.set_item("drops", &link.drops)?;
    row.set_item("marked", link.marked)?;
    row.set_item("held", link.held)?;
    row.set_item("duplicated", link.duplicated)?;
    row.set_item("corrupted", link.corrupted)?;
    row.set_item("queue_max_packets", link.queue_max_packets)?;
    Ok(row)
}

fn progress<'py>(py: Python<'py>, link: &LinkProgress<'_>) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("link", link.link)?;
    row.set_item("direction", &link.direction)?;
    row.set_item("rate_bps", link.rate)?;
    row.set_item("drops", link.drops)?;
    row.set_item("queue_packets", link.backlog.packets)?;
    row.set_item("queue_bytes", link.backlog.bytes)?;
    Ok(row)
}

fn host<'py>(py: Python<'py>, host: &HostReport) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("host", &host.host)?;
    let addresses = host.addresses.iter().map(ToString::to_string);
    row.set_item("address", addresses.collect::<Vec<_>>().join(", "))?;
    row.set_item("congestion", &host.congestion)?;
    row.set_item("sent", host.sent)?;
    row.set_item("received", host.received)?;
    row.set_item("stray", host.stray)?;
    row.set_item("refused", host.refused)?;
    row.set_item("rejected", host.rejected)?;
    row.set_item("status", host.status.map(Ended::code))?;
    Ok(row)
}
