//! Header prediction: the usual segment takes a short way, in both directions.

pub(crate) mod arriving;
pub(crate) mod departing;
#[cfg(test)]
mod pairs;
