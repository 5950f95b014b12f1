//! What shows a send buffer of a fixed size though losses change cwnd.

pub(super) mod cap;
pub(super) mod silence;
