//! Algorithms of the user: Python classes that are used in a run.
//!
//! A run does not hold the interpreter lock. Each call of an algorithm acquires it. An exception in a class ends the
//! run, at the latest at the next check (`simulation/simulate.rs`); until then the class is not called again.
//!
//! This module contains the classes by name; `class.rs` checks and calls any class, and handles exceptions. Each family has
//! a file. The interface of the classes is documented in `python/netspurt/algorithms.py`.

mod application;
mod class;
mod congestion;
mod estimator;
mod policy;

pub(crate) use application::{Action, Socket};
pub(crate) use class::Trouble;
pub(crate) use congestion::{Start, View};
pub(crate) use policy::Situation;

use class::{Origin, Traits};
use netspurt_sim::host::app::Application;
use netspurt_sim::host::own;
use netspurt_tcp::congestion::CongestionControl;
use netspurt_tcp::rto::RtoEstimator;
use netspurt_tcp::transmit::Policy;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The classes that were passed to a run.
pub(crate) struct Algorithms {
    given: BTreeMap<String, Arc<Origin>>,
    pub(crate) trouble: Arc<Trouble>,
}

impl Algorithms {
    /// Reads a dict from names to classes.
    pub(crate) fn new(given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let trouble = Arc::<Trouble>::default();
        let mut all = BTreeMap::new();
        for (name, make) in given.into_iter().flatten() {
            let name: String = name.extract()?;
            if !make.is_callable() {
                let message = format!(
                    "\"python:{name}\" is {}, which is not a class and does not return one",
                    make.repr()?
                );
                return Err(PyTypeError::new_err(message));
            }
            let origin = Origin { name: name.clone(), make: make.unbind(), trouble: Arc::clone(&trouble) };
            all.insert(name, Arc::new(origin));
        }
        Ok(Self { given: all, trouble })
    }

    /// The callable with this name. A class is checked now, before the run.
    fn find(&self, name: &str, traits: &Traits) -> Result<Arc<Origin>, String> {
        let Some(origin) = self.given.get(name) else {
            let known: Vec<&str> = self.given.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(format!("the algorithm \"{name}\" was not passed to the run (passed: {known})"));
        };
        Python::attach(|py| match origin.make.bind(py).cast::<PyType>() {
            Ok(class) => traits.check(class.as_any()).map_err(|fault| {
                let class = class.name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
                format!("\"python:{name}\", class {class}: {fault}")
            }),
            Err(_) => Ok(()),
        })?;
        Ok(Arc::clone(origin))
    }
}

impl netspurt_scenario::Algorithms for Algorithms {
    fn congestion(&self, name: &str) -> Result<own::Make<dyn CongestionControl>, String> {
        let origin = self.find(name, &congestion::TRAITS)?;
        Ok(Arc::new(move || Box::new(congestion::Own::new(Arc::clone(&origin)))))
    }

    fn rto(&self, name: &str) -> Result<own::Make<dyn RtoEstimator>, String> {
        let origin = self.find(name, &estimator::TRAITS)?;
        Ok(Arc::new(move || Box::new(estimator::Own::new(Arc::clone(&origin)))))
    }

    fn transmit(&self, name: &str) -> Result<own::Make<dyn Policy>, String> {
        let origin = self.find(name, &policy::TRAITS)?;
        Ok(Arc::new(move || Box::new(policy::Own::new(Arc::clone(&origin)))))
    }

    fn application(&self, name: &str) -> Result<own::Make<dyn Application>, String> {
        let origin = self.find(name, &application::TRAITS)?;
        Ok(Arc::new(move || Box::new(application::Own::new(Arc::clone(&origin)))))
    }
}
