//! Explicit congestion notification, classic (RFC 3168) and accurate (RFC 9768).

#[path = "../lab/mod.rs"]
mod lab;

mod accurate_ecn;
mod ecn;
