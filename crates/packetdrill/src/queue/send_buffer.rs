//! How a send buffer counts what is written and not acknowledged.

use crate::sysctl::{Packets, Settings};
use netspurt_tcp::Connection;
use netspurt_tcp::config::SendMemory;
use netspurt_tcp::congestion::Kind;
use netspurt_tcp::seq::Seq;
use std::collections::BTreeSet;

/// Memory of a packet beside its data in Linux: `struct sk_buff` with the room for headers, on machines with 64 bits.
const HEAD: u64 = 832;
/// The largest packet of Linux in bytes (`sk_gso_max_size` without headers).
const LARGEST: u64 = 65_215;
/// The segments for which a send buffer has room from the beginning (`TCP_INIT_CWND`).
pub(crate) const FIRST_SEGMENTS: u64 = 10;
/// A peer whose windows are larger gets packets of half of the largest one (`TCP_MSS_DEFAULT`).
const SMALL_WINDOW: u64 = 536;

/// The send buffer of a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SendBuffer {
    /// Its first size and its largest one unless SO_SNDBUF was set: tcp_wmem[1], tcp_wmem[2].
    first: u64,
    most: u64,
    /// The memory of a packet beside its data, where that counts.
    head: u64,
    /// The most bytes of a packet; zero if it holds a single segment.
    largest: u64,
}

impl SendBuffer {
    /// The send buffer of a new socket.
    pub(crate) fn of(settings: &Settings) -> Self {
        Self {
            first: settings.send_buffer,
            most: settings.largest_send_buffer,
            head: if settings.send_memory == SendMemory::Linux { HEAD } else { 0 },
            largest: if settings.packets == Packets::Single { 0 } else { LARGEST },
        }
    }

    /// Its size on a connection whose cwnd of `segments` it follows (`tcp_sndbuf_expand()`, `bbr_sndbuf_expand()`).
    pub(crate) fn size(&self, stream: Option<&Connection>, segments: u64) -> u64 {
        let Some(stream) = stream.filter(|stream| self.head > 0 && stream.is_open()) else {
            return self.first;
        };
        // The data and the kernel's structures, in a power of two, and `struct sk_buff`.
        let memory = (u64::from(stream.segment_payload()) + 512).next_power_of_two() + 256;
        let times = if stream.config().congestion == Kind::Bbr { 3 } else { 2 };
        (times * segments * memory).clamp(self.first, self.most.max(self.first))
    }

    /// The size to which a packet is filled: whole segments, at most half of the peer's largest window
    /// (`tcp_xmit_size_goal()`, `tcp_bound_to_half_wnd()`).
    pub(crate) fn goal(&self, stream: &Connection, payload: u32) -> u64 {
        let (window, mss) = (u64::from(stream.largest_peer_window()), u64::from(payload.max(1)));
        let most = if window > SMALL_WINDOW { window / 2 } else { window };
        most.min(self.largest).max(mss) / mss * mss
    }

    /// What is in use (`sk_wmem_queued`). The packets that were sent end at the sequence numbers `packet_ends`, unless each is a
    /// segment.
    pub(crate) fn used(&self, stream: &Connection, packet_ends: &BTreeSet<u32>) -> u64 {
        let (queued, unsent) = (stream.written() - stream.acknowledged(), stream.unsent());
        if self.head == 0 || queued == 0 {
            return queued;
        }
        let payload = stream.next_payload();
        let sent = if self.largest == 0 {
            (queued - unsent).div_ceil(u64::from(payload.max(1)))
        } else {
            let is_kept = |end: &&u32| stream.has_outstanding(Seq(end.wrapping_sub(1)));
            packet_ends.iter().filter(is_kept).count() as u64
        };
        queued + self.head * (sent + unsent.div_ceil(self.goal(stream, payload)))
    }
}

/// Whether a waiting writer is woken: a third of the buffer is free (`sk_stream_is_writeable()`).
pub(crate) fn wakes(used: u64, size: u64) -> bool {
    used + used / 2 <= size
}
