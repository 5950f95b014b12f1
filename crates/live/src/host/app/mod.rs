//! Applications.
//!
//! * `sink.rs`: receives and discards data
//! * `source.rs`: sends data as fast as possible
//! * `http.rs`: serves files, with a configurable pattern of writes

mod http;
mod sink;
mod source;

pub use http::{Http, Writes, WritesError};
pub use sink::Sink;
pub use source::{Source, pattern};
