//! Opening and closing: the states of RFC 9293, figure 5, the handshake, what it negotiates, and TIME-WAIT.

pub mod fast_open;
pub(crate) mod handshake;
pub mod isn;
pub(crate) mod negotiate;
pub mod state;
pub mod syn_cookie;
pub(crate) mod time_wait;
