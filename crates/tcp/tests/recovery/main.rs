//! Loss recovery: what is resent, when, and why.

#[path = "../common/mod.rs"]
mod common;
#[path = "../lab/mod.rs"]
mod lab;

mod counted;
mod frto;
mod rack;
mod recovery;
mod recovery_sack;
mod rfc1106;
mod rfc1106_nak;
mod sack_slivers;
