//! What a run leaves behind: recorded events, captures, counters, and the result that sums them up.
//!
//! Lives here: reading and summing up. Must not live here: anything that changes what happens.

pub(crate) mod changes;
pub mod datagrams;
pub mod diary;
pub mod digest;
mod end;
pub(crate) mod held_tail;
pub mod limits;
pub mod probe;
pub mod result;
pub mod sketch;
pub(crate) mod summary;
