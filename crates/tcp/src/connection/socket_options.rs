//! What an application may change of a connection that exists already: socket options.

use crate::config::KeepAlive;
use crate::connection::Connection;
use crate::send::transmit::Transmit;
use crate::time::{Span, Time};
use std::sync::Arc;

/// A choice that can be made anew at any time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// When a short segment leaves (TCP_NODELAY, TCP_CORK). What the old policy held is judged by the new one.
    Transmit(Transmit),
    /// Send buffer in bytes (SO_SNDBUF). What is buffered already stays.
    SendBuffer(u64),
    /// The user's patience (TCP_USER_TIMEOUT; RFC 9293, section 3.8.3), from the next segment sent on.
    UserTimeout(Option<Span>),
    /// Retransmissions of a SYN before giving up (TCP_SYNCNT).
    SynRetries(u8),
    /// Keep-alive probes (SO_KEEPALIVE; RFC 9293, section 3.8.4), counted from now.
    KeepAlive(Option<KeepAlive>),
}

impl Connection {
    /// Makes a choice anew; other connections with the same configuration keep theirs.
    pub fn change(&mut self, now: Time, change: Change) {
        let config = Arc::make_mut(&mut self.cx.config);
        match change {
            Change::Transmit(policy) => config.transmit = policy,
            Change::SynRetries(retries) => config.syn_retries = retries,
            Change::SendBuffer(bytes) => {
                config.send_buffer = bytes;
                config.initial_send_buffer = None;
            }
            Change::UserTimeout(timeout) => {
                config.user_timeout = timeout;
                // It counts from now for what is outstanding.
                self.snd.stop_patience();
                if self.snd.space().is_outstanding() {
                    self.snd.start_patience(&self.cx, now);
                }
            }
            Change::KeepAlive(keep_alive) => {
                config.keep_alive = keep_alive;
                self.cx.set_keep_alive(Time::NEVER);
                if self.cx.state().is_synchronized() {
                    self.arm_keep_alive(now);
                }
            }
        }
    }
}
