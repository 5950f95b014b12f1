//! Socket options: settings that an application may change on an existing connection.

use crate::config::KeepAlive;
use crate::congestion::Kind;
use crate::connection::Connection;
use crate::send::transmit::Transmit;
use crate::time::{Span, Time};
use std::sync::Arc;

/// A setting that can change at any time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// When a short segment is sent (TCP_NODELAY, TCP_CORK). The new policy also applies to segments that the old one
    /// held back.
    Transmit(Transmit),
    /// Send buffer in bytes (SO_SNDBUF). Data in the buffer stays.
    SendBuffer(u64),
    /// The user timeout (TCP_USER_TIMEOUT; RFC 9293, section 3.8.3). For outstanding data it starts now.
    UserTimeout(Option<Span>),
    /// Retransmissions of a SYN or SYN-ACK before giving up (TCP_SYNCNT).
    SynRetries(u8),
    /// The congestion control (TCP_CONGESTION). It takes over cwnd and ssthresh from the one before, and what the RTO estimator
    /// knows stays. What it must measure itself, it measures from now on.
    Congestion(Kind),
    /// Keep-alive probes (SO_KEEPALIVE; RFC 9293, section 3.8.4), counted from now.
    KeepAlive(Option<KeepAlive>),
}

impl Connection {
    /// Changes a setting of this connection only, even if others share the configuration.
    pub fn change(&mut self, now: Time, change: Change) {
        let config = Arc::make_mut(&mut self.cx.config);
        match change {
            Change::Transmit(policy) => {
                if config.transmit == Transmit::Cork && policy != Transmit::Cork {
                    self.snd.look_for_data();
                }
                config.transmit = policy;
            }
            Change::SynRetries(retries) => (config.syn_retries, config.syn_ack_retries) = (retries, retries),
            Change::SendBuffer(bytes) => {
                config.send_buffer = bytes;
                config.initial_send_buffer = None;
            }
            Change::UserTimeout(timeout) => {
                config.user_timeout = timeout;
                // For outstanding data it starts now.
                self.snd.stop_user_timeout();
                if self.snd.space().is_outstanding() {
                    self.snd.start_user_timeout(&self.cx, now);
                }
            }
            Change::Congestion(kind) => {
                config.congestion = kind;
                config.pacing |= kind.needs_pacing().is_some();
                self.snd.switch_congestion(&self.cx, now);
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
