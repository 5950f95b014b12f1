//! A policy for segments that are not full, in Python.

use super::class::{Origin, Traits};
use netspurt_tcp::reason::Hold;
use netspurt_tcp::transmit::{self, Before, End, Policy};
use pyo3::prelude::*;
use pyo3::types::PyBool;
use std::sync::Arc;

pub(super) const TRAITS: Traits = Traits { family: "a transmission policy", needed: &["holds"], heard: &[] };

/// The connection as a policy sees it. Lengths in bytes.
#[pyclass(frozen, get_all, module = "netspurt._core")]
pub(crate) struct Situation {
    available: u64,
    allowed: u64,
    mss: u32,
    unacknowledged: u64,
    short_unacknowledged: u64,
    behind_full_segments: bool,
    ends_data: bool,
    max_window: u32,
}

/// The policy of one connection.
#[derive(Debug)]
pub(super) struct Own {
    origin: Arc<Origin>,
    object: Option<Py<PyAny>>,
    heeds_acks: bool,
}

impl Own {
    pub(super) fn new(origin: Arc<Origin>) -> Self {
        let made = origin.ask(None, |py| {
            let object = origin.instance(origin.make.bind(py).call0(), &TRAITS)?;
            let heeds_acks = match object.getattr_opt(pyo3::intern!(py, "heeds_acks"))? {
                None => true,
                Some(heeds) => truth(&origin, &object, "its heeds_acks is", &heeds)?,
            };
            Ok(Some((heeds_acks, object.unbind())))
        });
        match made {
            Some((heeds_acks, object)) => Self { origin, object: Some(object), heeds_acks },
            None => Self { origin, object: None, heeds_acks: true },
        }
    }
}

fn truth(origin: &Origin, object: &Bound<'_, PyAny>, what: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match value.cast::<PyBool>() {
        Ok(truth) => Ok(truth.is_true()),
        Err(_) => Err(origin.fault(object, &format!("{what} {}, not True or False", value.repr()?))),
    }
}

impl Policy for Own {
    fn hold(&self, s: &transmit::Situation) -> Option<Hold> {
        let object = self.object.as_ref()?;
        let holds = self.origin.ask(false, |py| {
            let situation = Situation {
                available: s.available,
                allowed: s.allowed,
                mss: s.mss,
                unacknowledged: s.unacknowledged,
                short_unacknowledged: s.short_unacknowledged,
                behind_full_segments: s.before == Before::FullSegments,
                ends_data: s.end == End::Marked,
                max_window: s.max_window,
            };
            let object = object.bind(py);
            let holds = object.call_method1(pyo3::intern!(py, "holds"), (situation,))?;
            truth(&self.origin, object, "its method holds returned", &holds)
        });
        holds.then_some(Hold::Own)
    }

    fn is_released_by_acks(&self) -> bool {
        self.heeds_acks
    }
}
