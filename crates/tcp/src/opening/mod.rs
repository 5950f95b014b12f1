//! Opening and closing: the states of RFC 9293, figure 5, the handshake, its negotiation, and TIME-WAIT.

pub mod fast_open;
pub mod isn;
pub(crate) mod negotiate;
pub(crate) mod reply;
pub mod state;
pub(crate) mod time_wait;
