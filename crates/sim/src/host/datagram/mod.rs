//! Flows of datagrams: a source that sends without feedback, and a sink that measures what arrives.
//!
//! There is no connection, and a host's processor takes no time for datagrams. A datagram carries its number and the time
//! at which it was sent.
//!
//! Lives here: the source, the sink, the quality of a call. Must not live here: packets and links (`network`), TCP.

mod call;
mod jitter;
mod numbers;
mod sink;
mod source;
mod spec;

pub use call::{CallQuality, Codec, Playout, e_model};
pub use sink::Sink;
pub use source::{MAX_PAYLOAD, Source};
pub use spec::{CallSpec, DatagramSpec, Recorded, Spacing};
