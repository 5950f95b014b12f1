//! Simulations: the scenario, the run, and its results.

pub(crate) mod arrivals;
pub(crate) mod run;
pub(crate) mod scenario;
pub(crate) mod simulate;
