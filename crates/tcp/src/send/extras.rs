//! State that few senders need.

use crate::congestion::delivery_rate::DeliveryRate;
use crate::congestion::pacing::Pacer;
use crate::record::limits::Clock;
use crate::send::interface::Interface;
use crate::send::mtu::mtu_search::Search;
use crate::send::transmit::Policy;
use crate::send::write::packets::Packets;
use crate::time::Time;
use std::collections::VecDeque;

/// The rare state of a sender. It is allocated on first use.
#[derive(Debug)]
pub(super) struct Extras {
    /// SND.UP: the position after our urgent data; 0 if there is none.
    pub(super) send_urgent: u64,
    /// The position after the last short segment sent, for the policy that needs it.
    pub(super) short_end: u64,
    /// The end of the present burst, whose last segment carries PSH; the start of a single segment.
    pub(super) burst_end: u64,
    /// Where the last packet begins that was written, if packets are single segments.
    pub(super) last_packet: u64,
    /// The position up to which no policy may hold back data, after an uncork or at the ceiling.
    pub(super) released: u64,
    /// The user-defined policy for short segments.
    pub(super) policy: Option<Box<dyn Policy>>,
    /// Where records end, if the application ends any.
    pub(super) records: Option<Box<Records>>,
    /// When the user timeout expires.
    pub(super) user_timeout: Time,
    /// Path MTU in bytes; 0 if unknown.
    pub(super) path_mtu: u32,
    /// The state of path MTU probing, if it is in use.
    pub(super) mtu_search: Option<Box<Search>>,
    /// Pacing and delivery rate samples, if either is in use.
    pub(super) paced: Option<Box<Paced>>,
    /// The present size of a growing send buffer.
    pub(super) send_buffer: u64,
    /// The packets of a send buffer that counts them.
    pub(super) packets: Option<Box<Packets>>,
    /// A writer that waits for a part of the send buffer waits at least until SND.UNA is here; 0 if that is not known.
    pub(super) wakes_at: u64,
    /// What limits the sender, if it is measured, and whether the application waits for space.
    pub(super) limits: Option<Box<Clock>>,
    pub(super) no_room: bool,
    /// The interface, if a mechanism depends on it.
    pub(super) interface: Option<Interface>,
    /// When a segment held back by pacing or by the interface may leave.
    pub(super) turn: Time,
    /// NAKs received. They show that the peer sends NAKs (RFC 1106, section 5).
    pub(super) naks_received: bool,
    /// How many of the consecutive timeouts found the peer's window closed, in Linux.
    pub(super) into_closed: u8,
    /// How often window probes have doubled the timeout, as long as it is doubled.
    pub(super) backoff_of_probes: u8,
}

/// The positions after the ends of unacknowledged records, in order.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) ends: VecDeque<u64>,
}

impl Default for Extras {
    fn default() -> Self {
        Self {
            send_urgent: 0,
            short_end: 0,
            burst_end: 0,
            last_packet: 0,
            released: 0,
            policy: None,
            records: None,
            user_timeout: Time::NEVER,
            path_mtu: 0,
            mtu_search: None,
            paced: None,
            send_buffer: 0,
            packets: None,
            wakes_at: 0,
            limits: None,
            no_room: false,
            interface: None,
            turn: Time::NEVER,
            naks_received: false,
            into_closed: 0,
            backoff_of_probes: 0,
        }
    }
}

impl Extras {
    /// The state after a return to LISTEN, which keeps the settings of the driver.
    pub(super) fn of_a_listener(self) -> Self {
        let Self { policy, path_mtu, limits, .. } = self;
        Self { policy, path_mtu, limits, ..Self::default() }
    }

    /// The earliest deadline.
    pub(super) fn deadline(&self) -> Time {
        self.user_timeout.min(self.turn)
    }
}

/// Its state; created when the connection opens, if the configuration needs it.
#[derive(Debug)]
pub(crate) struct Paced {
    pub(crate) pacer: Pacer,
    pub(crate) rate: DeliveryRate,
}
