//! The input and the result of a delayed-ACK policy.

use crate::time::{Span, Time};
use crate::wire::segment::Flags;

/// When the ACK of a segment in order is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// Now.
    Now,
    /// At this instant, unless another segment carries it earlier.
    At(Time),
}

/// What a policy sees of a segment with data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    /// Payload bytes.
    pub(crate) len: u32,
    /// Bytes of the TCP header.
    pub(crate) header_len: u8,
    /// Its flags.
    pub(crate) flags: Flags,
}

/// The input of a policy with state when data arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// The segment.
    pub(crate) shape: Shape,
    /// Whether its data was received in order, perhaps filling a gap.
    pub(crate) is_in_order: bool,
    /// Whether all of its data had been received in order before.
    pub(crate) is_old: bool,
    /// Bytes received in order since the start of the connection, with this segment.
    pub(crate) received: u64,
    /// How many of them are not acknowledged.
    pub(crate) unacknowledged: u64,
    /// Whether the application reads so quickly that the window is no smaller than at the last ACK.
    pub(crate) is_read_quickly: bool,
    /// Whether the segment has opened the window of a buffer that counts memory.
    pub(crate) opens_window: bool,
    /// The window that is open.
    pub(crate) window: u32,
    /// Payload bytes of a full segment of ours.
    pub(crate) mss: u32,
    /// Bytes of our header in a segment without reports.
    pub(crate) own_header_len: u8,
    /// Payload bytes of a segment that the MSS that we announced permits.
    pub(crate) announced: u32,
    /// The present RTO, and the smoothed RTT if there is one.
    pub(crate) rto: Span,
    pub(crate) srtt: Option<Span>,
    /// The RTT as the receiver estimates it, if it does.
    pub(crate) receiver_rtt: Option<Span>,
    /// The deadline of the running delayed ACK timer.
    pub(crate) armed: Time,
}

/// The part of an [`Arrival`] that decides about an ordinary segment of a long transfer. The rest takes time to compute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ordinary {
    /// Payload bytes, and the flags.
    pub(crate) len: u32,
    pub(crate) flags: Flags,
    /// See [`Arrival`].
    pub(crate) unacknowledged: u64,
    pub(crate) is_read_quickly: bool,
    pub(crate) announced: u32,
    pub(crate) opens_window: bool,
    pub(crate) armed: Time,
}

impl Arrival {
    /// The RTT as the receiver estimates it, or the smoothed one if that is shorter; zero before the receiver has an estimate
    /// (`__tcp_ack_snd_check()`).
    pub(crate) fn receiving_rtt(&self) -> Span {
        self.receiver_rtt.map_or(Span::ZERO, |rtt| self.srtt.map_or(rtt, |srtt| srtt.min(rtt)))
    }

    /// The payload that the segment would have with our header, if it may be a full one of its sender: it has `large` bytes, or
    /// `least` and nothing shows that the sender had no more. Otherwise zero.
    pub(crate) fn likely_size(&self, large: u32, least: u32) -> u32 {
        let Shape { len, header_len, flags } = self.shape;
        // These flags show that the sender had no more.
        let ends = flags.any(Flags::FIN | Flags::URG | Flags::SYN | Flags::PSH);
        let len = len + u32::from(header_len);
        if len >= large || (len >= least && !ends) {
            len.saturating_sub(u32::from(self.own_header_len))
        } else {
            0
        }
    }
}
