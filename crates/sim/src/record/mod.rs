//! The records of a run: events, captures, counters, and the result that summarises them.
//!
//! Lives here: reading and summarising. Must not live here: anything that changes the simulation.

pub mod changes;
pub mod datagrams;
pub mod diary;
pub mod digest;
mod end;
pub(crate) mod held_tail;
pub mod limits;
pub mod probe;
pub mod queue_quantiles;
pub mod result;
pub mod sketch;
pub(crate) mod summary;
