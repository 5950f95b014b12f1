//! Retransmission timers replayed over recorded delays: which of them would have served this path? (RFC 889, section 3)
//!
//! Delays go in, in the order in which they were measured; what each estimator would have cost comes out. The estimators
//! are the very objects that connections use. All times here are *round trips*, as a connection measures them; RFC 889
//! halves all of its figures, and so does who prints a table to stand beside its own.
//!
//! * `trip.rs`: a delay, or a loss, and what a column of them is like by itself
//! * `timer.rs`: an estimator as a replay uses it; the one place that knows `netspurt_tcp::rto`
//! * `cycle.rs`: the cycle, by the rules of the document or as a connection would
//! * `detail.rs`: one estimator's timeouts, one for each cycle, and their percentiles
//! * `bounds.rs`: what no estimator can beat
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
