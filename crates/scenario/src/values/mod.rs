//! Values of a file: with units and exact, drawn from a distribution, or written in a shorter form.
//!
//! Lives here: what a value means. Must not live here: any key.

pub(crate) mod columns;
pub(crate) mod decimal;
pub(crate) mod directed;
pub(crate) mod distribution;
pub(crate) mod dscp;
pub(crate) mod form;
pub(crate) mod path;
pub(crate) mod quantity;
pub(crate) mod share;
pub(crate) mod spelling;
pub(crate) mod suggest;
