//! What is on the wire: sequence numbers, segments, options, and their bytes.
//!
//! Nothing here knows of a connection.

pub mod codec;
pub mod options;
pub mod segment;
pub mod seq;
