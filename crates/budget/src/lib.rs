//! The time budget of a transfer: which limit held it at each instant.
//!
//! A capture, a simulation and the sockets of a host use the same limits, so that their budgets can be compared.
//!
//! * `limit.rs`: the limits and their names
//! * `timeline.rs`: which limit applied when, without gaps
//! * `budget.rs`: seconds and share of each limit
//! * `measured.rs`: the numbers behind a limit, and the sentence that names it

mod budget;
mod limit;
mod measured;
mod timeline;

pub use budget::{Budget, Line, agreement};
pub use limit::Limit;
pub use measured::Measured;
pub use timeline::{Interval, Timeline};
