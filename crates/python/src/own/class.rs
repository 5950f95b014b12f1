//! A Python class of the user: its checks, its calls, and the exceptions that it raises.

use crate::errors::AlgorithmError;
use pyo3::prelude::*;
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
pub(super) struct Origin {
    pub(super) name: String,
    pub(super) make: Py<PyAny>,
    pub(super) trouble: Arc<Trouble>,
}

impl Origin {
    /// Calls Python. After an exception, the result is `instead` without a call.
    pub(super) fn ask<T>(&self, instead: T, question: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
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
    pub(super) fn instance<'py>(
        &self,
        made: PyResult<Bound<'py, PyAny>>,
        traits: &Traits,
    ) -> PyResult<Bound<'py, PyAny>> {
        let object = made?;
        traits.check(&object).map_err(|fault| self.fault(&object, &fault))?;
        Ok(object)
    }

    /// An error message that starts with the algorithm.
    pub(super) fn fault(&self, object: &Bound<'_, PyAny>, fault: &str) -> PyErr {
        let class = object.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        AlgorithmError::new_err(format!("\"python:{}\", class {class}: {fault}", self.name))
    }
}

/// The interface of a family of classes.
pub(super) struct Traits {
    pub(super) family: &'static str,
    pub(super) needed: &'static [&'static str],
    /// All callback methods, whose names start with "on_".
    pub(super) heard: &'static [&'static str],
}

impl Traits {
    /// Why a class or an instance is invalid, in words.
    pub(super) fn check(&self, object: &Bound<'_, PyAny>) -> Result<(), String> {
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

/// An integer attribute of at least `least`. A fraction is truncated, and a value that is too large, infinity included,
/// becomes `most`. The error describes an invalid value.
pub(super) fn number(value: &Bound<'_, PyAny>, least: u64, most: u64) -> Result<u64, String> {
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
