//! The wire format: sequence numbers, segments, options, and their encoding in bytes.
//!
//! Nothing here depends on a connection.

pub mod accurate_ecn;
pub mod codec;
pub mod fast_open;
pub mod options;
pub mod segment;
pub mod seq;
