//! Applications.
//!
//! * `sink.rs`: takes what comes
//! * `source.rs`: sends as much as the network takes
//! * `http.rs`: files, in writes of a chosen pattern

mod http;
mod sink;
mod source;

pub use http::{Http, Writes, WritesError};
pub use sink::Sink;
pub use source::{Source, pattern};
