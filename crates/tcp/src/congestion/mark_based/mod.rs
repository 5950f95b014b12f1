//! Congestion controls that reduce cwnd in proportion to congestion marks.

pub(super) mod dctcp;
pub(super) mod prague;
