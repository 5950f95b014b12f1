//! Retransmission timers replayed over recorded delays, to compare estimators on a path (RFC 889, section 3).
//!
//! The input is a list of delays in the order of measurement; the output is the cost of each estimator. The estimators
//! are those of connections. All times are *round trips*, as a connection measures them. RFC 889 halves its figures, so
//! a table beside its own must do the same.
//!
//! * `trip.rs`: a delay or a loss, and statistics of many
//! * `timer.rs`: an estimator in a replay; only this file uses `netspurt_tcp::rto`
//! * `cycle.rs`: the cycle, by the rules of the document or of a connection
//! * `detail.rs`: one estimator's timeouts, one per cycle, and their percentiles
//! * `bounds.rs`: lower bounds of the cost
//! * `grid.rs`: many estimators over the same delays, on several cores

mod bounds;
mod cycle;
mod detail;
mod grid;
mod timer;
mod trip;

pub use bounds::{Constant, best_constant, oracle};
pub use cycle::{Rules, Tally};
pub use detail::{Detail, Percentiles, in_detail};
pub use grid::{Grid, grid};
pub use trip::{Summary, Trip};
