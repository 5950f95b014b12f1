//! Congestion controls that reduce cwnd when data is lost, and the growth that they share.

pub(super) mod cubic;
pub(super) mod cubic_linux;
mod growth;
pub(super) mod htcp;
pub(super) mod illinois;
pub(super) mod increase;
mod reduction;
pub(super) mod reno;
pub(super) mod reno_linux;
pub(super) mod tahoe;
pub(super) mod westwood;
