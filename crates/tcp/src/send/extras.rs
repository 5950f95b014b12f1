//! What few senders need, kept out of the way of all others.

use crate::record::limits::Clock;
use crate::send::decide::tso::Interface;
use crate::send::deliveries::Paced;
use crate::send::path_mtu::Search;
use crate::send::transmit::Policy;
use crate::time::Time;

/// Allocated on first use.
#[derive(Debug)]
pub(super) struct Extras {
    /// SND.UP: position behind urgent data that we send, 0 if none.
    pub(super) send_urgent: u64,
    /// Position behind the last short segment sent, under the policy that asks for it.
    pub(super) short_end: u64,
    /// Position behind the data that a policy may hold no longer: uncorked, or held up to the ceiling.
    pub(super) released: u64,
    /// The user's own policy for short segments.
    pub(super) policy: Option<Box<dyn Policy>>,
    /// When the user timeout expires.
    pub(super) patience: Time,
    /// Path MTU in bytes, 0 if unknown.
    pub(super) path_mtu: u32,
    /// The search for the path MTU, where probes are sent.
    pub(super) mtu_search: Option<Box<Search>>,
    /// Pacing and delivery rate samples, where either is in use.
    pub(super) paced: Option<Box<Paced>>,
    /// The send buffer as it has grown.
    pub(super) send_buffer: u64,
    /// What limits the sender, where that is measured; and whether a writer waits for room.
    pub(super) limits: Option<Box<Clock>>,
    pub(super) no_room: bool,
    /// The interface below, where anything depends on it.
    pub(super) interface: Option<Interface>,
    /// When a segment held back by pacing or by the interface may leave.
    pub(super) turn: Time,
    /// NAKs received: a peer that sends them is known to send them (RFC 1106, section 5).
    pub(super) naks_received: bool,
}

impl Default for Extras {
    fn default() -> Self {
        Self {
            send_urgent: 0,
            short_end: 0,
            released: 0,
            policy: None,
            patience: Time::NEVER,
            path_mtu: 0,
            mtu_search: None,
            paced: None,
            send_buffer: 0,
            limits: None,
            no_room: false,
            interface: None,
            turn: Time::NEVER,
            naks_received: false,
        }
    }
}

impl Extras {
    /// What is left of it as a connection goes back to LISTEN: what the driver has chosen.
    pub(super) fn of_a_listener(self) -> Self {
        let Self { policy, path_mtu, limits, .. } = self;
        Self { policy, path_mtu, limits, ..Self::default() }
    }

    /// The earliest deadline.
    pub(super) fn deadline(&self) -> Time {
        self.patience.min(self.turn)
    }
}
