//! The `tcp` tables: the choices of each mechanism family, and how they become a configuration.

pub(crate) mod acking;
pub(crate) mod choices;
mod convert;
pub(crate) mod estimator;
pub(crate) mod parametric;
mod setting;
pub(crate) mod table;
