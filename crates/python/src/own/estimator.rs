//! An estimator of the retransmission timeout in Python.

use super::class::{Origin, Traits, number};
use netspurt_tcp::rto::RtoEstimator;
use netspurt_tcp::time::Span;
use pyo3::prelude::*;
use std::sync::Arc;

const HEARD: [&str; 2] = ["on_sample", "on_round_trip_over"];

pub(super) const TRAITS: Traits =
    Traits { family: "an RTO estimator", needed: &["on_sample"], heard: &HEARD };

/// Its last values.
#[derive(Clone, Copy, Debug)]
struct Said {
    rto: Span,
    srtt: Option<Span>,
    max: Span,
}

/// The estimator of one connection.
#[derive(Debug)]
pub(super) struct Own {
    origin: Arc<Origin>,
    object: Option<Py<PyAny>>,
    listens_to_rounds: bool,
    said: Said,
}

/// Without an estimator, the timeout never expires before the end of the run.
const SILENT: Said = Said { rto: Span::from_secs(3600), srtt: None, max: Span::from_secs(3600) };

impl Own {
    pub(super) fn new(origin: Arc<Origin>) -> Self {
        let made = origin.ask(None, |py| {
            let object = origin.instance(origin.make.bind(py).call0(), &TRAITS)?;
            let said = said(&origin, &object, "__init__")?;
            Ok(Some((said, object.hasattr(HEARD[1])?, object.unbind())))
        });
        match made {
            Some((said, listens_to_rounds, object)) => {
                Self { origin, object: Some(object), listens_to_rounds, said }
            }
            None => Self { origin, object: None, listens_to_rounds: false, said: SILENT },
        }
    }

    fn tell(&mut self, method: &'static str, rtt: Option<Span>) {
        let Some(object) = &self.object else { return };
        self.said = self.origin.ask(self.said, |py| {
            let object = object.bind(py);
            match rtt {
                Some(rtt) => object.call_method1(pyo3::intern!(py, "on_sample"), (rtt.as_ps(),))?,
                None => object.call_method0(pyo3::intern!(py, "on_round_trip_over"))?,
            };
            said(&self.origin, object, method)
        });
    }
}

/// Reads the attributes.
fn said(origin: &Origin, object: &Bound<'_, PyAny>, after: &str) -> PyResult<Said> {
    let py = object.py();
    let span = |name: &str, value: &Bound<'_, PyAny>, least: u64| {
        number(value, least, u64::MAX).map(Span::from_ps).map_err(|shown| {
            let fault = format!("after {after} its {name} is {shown}, not a time in picoseconds");
            origin.fault(object, &fault)
        })
    };
    let srtt = object.getattr(pyo3::intern!(py, "srtt_ps"))?;
    let max = object.getattr_opt(pyo3::intern!(py, "max_ps"))?;
    Ok(Said {
        rto: span("rto_ps", &object.getattr(pyo3::intern!(py, "rto_ps"))?, 1)?,
        srtt: if srtt.is_none() { None } else { Some(span("srtt_ps", &srtt, 0)?) },
        max: max.map_or(Ok(Span::from_secs(60)), |max| span("max_ps", &max, 1))?,
    })
}

impl RtoEstimator for Own {
    fn sample(&mut self, rtt: Span) {
        self.tell(HEARD[0], Some(rtt));
    }

    fn rto(&self) -> Span {
        self.said.rto
    }

    fn srtt(&self) -> Option<Span> {
        self.said.srtt
    }

    fn max(&self) -> Span {
        self.said.max
    }

    fn round_trip_over(&mut self) {
        if self.listens_to_rounds {
            self.tell(HEARD[1], None);
        }
    }
}
