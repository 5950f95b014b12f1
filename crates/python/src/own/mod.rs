//! Algorithms of the user: Python classes that are used in a run.
//!
//! A run does not hold the interpreter lock. Each call of an algorithm acquires it. An exception in a class ends the
//! run, at the latest at the next check (`simulation/simulate.rs`); until then the class is not called again.
//!
//! This module contains the classes by name, the checks of every class, and the handling of exceptions. Each family has
//! a file. The interface of the classes is documented in `python/netspurt/algorithms.py`.

mod application;
mod congestion;
mod estimator;
mod policy;

pub(crate) use application::{Action, Socket};
pub(crate) use congestion::{Start, View};
pub(crate) use policy::Situation;

use crate::errors::AlgorithmError;
use netspurt_sim::host::app::Application;
use netspurt_sim::host::own;
use netspurt_tcp::congestion::CongestionControl;
use netspurt_tcp::rto::RtoEstimator;
use netspurt_tcp::transmit::Policy;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The exception of a run.
#[derive(Debug, Default)]
pub(crate) struct Trouble {
    any: AtomicBool,
    raised: Mutex<Option<PyErr>>,
}

impl Trouble {
    /// The first exception, if there was one.
    pub(crate) fn take(&self) -> Option<PyErr> {
        if !self.any.load(Ordering::Relaxed) {
            return None;
        }
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn note(&self, error: PyErr) {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.any.store(true, Ordering::Relaxed);
    }
}

/// A class or another callable that creates an algorithm, with the name that the user gave.
#[derive(Debug)]
struct Origin {
    name: String,
    make: Py<PyAny>,
    trouble: Arc<Trouble>,
}

impl Origin {
    /// Calls Python. After an exception, the result is `instead` without a call.
    fn ask<T>(&self, instead: T, question: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
        if self.trouble.any.load(Ordering::Relaxed) {
            return instead;
        }
        match Python::try_attach(question) {
            Some(Ok(answer)) => answer,
            Some(Err(error)) => {
                self.trouble.note(error);
                instead
            }
            None => instead,
        }
    }

    /// Creates an algorithm, and checks that it has the required methods.
    fn instance<'py>(
        &self,
        made: PyResult<Bound<'py, PyAny>>,
        traits: &Traits,
    ) -> PyResult<Bound<'py, PyAny>> {
        let object = made?;
        traits.check(&object).map_err(|fault| self.fault(&object, &fault))?;
        Ok(object)
    }

    /// An error message that starts with the algorithm.
    fn fault(&self, object: &Bound<'_, PyAny>, fault: &str) -> PyErr {
        let class = object.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        AlgorithmError::new_err(format!("\"python:{}\", class {class}: {fault}", self.name))
    }
}

/// The interface of a family of classes.
struct Traits {
    family: &'static str,
    needed: &'static [&'static str],
    /// All callback methods, whose names start with "on_".
    heard: &'static [&'static str],
}

impl Traits {
    /// Why a class or an instance is invalid, in words.
    fn check(&self, object: &Bound<'_, PyAny>) -> Result<(), String> {
        let names: Vec<String> = object
            .dir()
            .map(|all| all.iter().filter_map(|name| name.extract().ok()).collect())
            .unwrap_or_default();
        if let Some(missing) = self.needed.iter().find(|needed| !names.iter().any(|name| name == *needed)) {
            return Err(format!("{} has no method {missing}", self.family));
        }
        let stranger =
            names.iter().find(|name| name.starts_with("on_") && !self.heard.contains(&name.as_str()));
        match stranger {
            Some(name) => Err(format!(
                "its method {name} is never called; valid methods of {}: {}",
                self.family,
                self.heard.join(", ")
            )),
            None => Ok(()),
        }
    }
}

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

/// An integer attribute of at least `least`. A fraction is truncated, and a value that is too large, infinity included,
/// becomes `most`. The error describes an invalid value.
fn number(value: &Bound<'_, PyAny>, least: u64, most: u64) -> Result<u64, String> {
    let shown = || {
        value.repr().map_or_else(|_| "an object without representation".to_owned(), |text| text.to_string())
    };
    if let Ok(whole) = value.extract::<u64>() {
        return if whole < least { Err(shown()) } else { Ok(whole.min(most)) };
    }
    match value.extract::<f64>() {
        // NaN is not at least anything.
        Ok(real) if real >= least as f64 => Ok((real as u64).min(most)),
        _ => Err(shown()),
    }
}
