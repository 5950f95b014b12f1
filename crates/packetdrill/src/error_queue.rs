//! The error queue of a socket (MSG_ERRQUEUE): notices of zero-copy writes and transmit timestamps.
//!
//! The adapter copies no payload, so each notice of a zero-copy write says that the data was copied. Linux
//! says so too where a packet reaches a listener of packets, such as packetdrill's (`skb_orphan_frags_rx()`).

use crate::socket_options::Family;
use netspurt_tcp::time::Time;
use std::collections::VecDeque;

/// SOF_TIMESTAMPING_TX_SOFTWARE, _TX_SCHED, _TX_ACK, _OPT_TSONLY (include/uapi/linux/net_tstamp.h).
const TX_SOFTWARE: u32 = 1 << 1;
const TX_SCHED: u32 = 1 << 8;
const TX_ACK: u32 = 1 << 9;
const TIMESTAMP_ONLY: u32 = 1 << 11;
/// SO_EE_ORIGIN_TIMESTAMPING, SO_EE_ORIGIN_ZEROCOPY, SO_EE_CODE_ZEROCOPY_COPIED (include/uapi/linux/errqueue.h).
const ORIGIN_TIMESTAMPING: u8 = 4;
const ORIGIN_ZEROCOPY: u8 = 5;
const COPIED: u8 = 1;

/// What a timestamp is of, with the numbers of SCM_TSTAMP_*.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stamped {
    /// It was passed to the interface.
    Sent = 0,
    /// It was passed to the packet scheduler.
    Scheduled = 1,
    /// It was acknowledged.
    Acknowledged = 2,
}

/// An entry of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Notice {
    /// The data of these zero-copy writes, by their numbers, is no longer needed.
    Copied { first: u32, last: u32 },
    /// What happened to the byte `key` of the stream, and when. `whole` means that the packet is returned as well.
    Stamp { what: Stamped, key: u32, at: Time, whole: bool },
}

/// A write whose last byte is stamped: the position after it, its number, and the stamps that are still due.
#[derive(Clone, Copy, Debug)]
struct Stamping {
    end: u64,
    key: u32,
    flags: u32,
}

/// The error queue, and the writes that will put entries into it.
#[derive(Debug, Default)]
pub(crate) struct ErrorQueue {
    notices: VecDeque<Notice>,
    /// Zero-copy writes that are not acknowledged: the positions after them, and their numbers.
    zero_copy: VecDeque<(u64, u32)>,
    next_number: u32,
    stampings: VecDeque<Stamping>,
    /// SO_TIMESTAMPING.
    flags: u32,
    /// The position that counts as byte 0 (SOF_TIMESTAMPING_OPT_ID).
    base: u64,
}

impl ErrorQueue {
    /// SO_TIMESTAMPING, where `acknowledged` bytes are acknowledged (`sock_set_timestamping()`).
    pub(crate) fn set_stamping(&mut self, flags: u32, acknowledged: u64) {
        (self.flags, self.base) = (flags, acknowledged);
    }

    /// A zero-copy write up to `end` was accepted.
    pub(crate) fn zero_copy(&mut self, end: u64) {
        self.zero_copy.push_back((end, self.next_number));
        self.next_number += 1;
    }

    /// A write up to `end` was accepted; its last byte is stamped if the option is on.
    pub(crate) fn write(&mut self, end: u64) {
        let flags = self.flags & (TX_SOFTWARE | TX_SCHED | TX_ACK);
        if flags != 0 {
            let key = end.saturating_sub(1 + self.base) as u32;
            self.stampings.push_back(Stamping { end, key, flags });
        }
    }

    /// The stream has been sent up to `sent` and acknowledged up to `acknowledged`. Returns whether entries were added.
    pub(crate) fn progress(&mut self, at: Time, sent: u64, acknowledged: u64) -> bool {
        let before = self.notices.len();
        let whole = self.flags & TIMESTAMP_ONLY == 0;
        for one in self.stampings.iter_mut().filter(|one| one.end <= sent) {
            for (flag, what) in [(TX_SCHED, Stamped::Scheduled), (TX_SOFTWARE, Stamped::Sent)] {
                if one.flags & flag != 0 {
                    one.flags &= !flag;
                    self.notices.push_back(Notice::Stamp { what, key: one.key, at, whole });
                }
            }
        }
        while let Some(one) = self.stampings.pop_front_if(|one| one.end <= acknowledged) {
            if one.flags & TX_ACK != 0 {
                let what = Stamped::Acknowledged;
                self.notices.push_back(Notice::Stamp { what, key: one.key, at, whole });
            }
        }
        let mut added = self.notices.len() > before;
        while let Some((_, number)) = self.zero_copy.pop_front_if(|(end, _)| *end <= acknowledged) {
            added = true;
            match self.notices.back_mut() {
                // `skb_zerocopy_notify_extend()`.
                Some(Notice::Copied { last, .. }) if *last + 1 == number => *last = number,
                _ => self.notices.push_back(Notice::Copied { first: number, last: number }),
            }
        }
        added
    }

    /// Removes the oldest entry.
    pub(crate) fn take(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    /// Whether there is no entry (EPOLLERR is off).
    pub(crate) fn is_empty(&self) -> bool {
        self.notices.is_empty()
    }
}

impl Notice {
    /// `msg_flags` of the message.
    pub(crate) fn flags(self) -> i32 {
        match self {
            // The packet does not fit into a reader's buffer of no bytes.
            Self::Stamp { whole: true, .. } => libc::MSG_ERRQUEUE | libc::MSG_TRUNC,
            _ => libc::MSG_ERRQUEUE,
        }
    }

    /// The control messages: the time, and `struct sock_extended_err` with an empty address behind it
    /// (`ip_recv_error()`). `clock` turns a time into microseconds of the wall clock.
    pub(crate) fn control(self, family: Family, clock: impl Fn(Time) -> u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Self::Stamp { at, .. } = self {
            let micros = clock(at);
            let mut times = [0_u64; 6];
            (times[0], times[1]) = (micros / 1_000_000, micros % 1_000_000 * 1000);
            let data: Vec<u8> = times.iter().flat_map(|word| word.to_ne_bytes()).collect();
            push(&mut bytes, (libc::SOL_SOCKET, libc::SO_TIMESTAMPING), &data);
        }
        let (error, origin, code, info, value) = match self {
            Self::Copied { first, last } => (0, ORIGIN_ZEROCOPY, COPIED, first, last),
            Self::Stamp { what, key, .. } => (libc::ENOMSG as u32, ORIGIN_TIMESTAMPING, 0, what as u32, key),
        };
        let mut data = error.to_ne_bytes().to_vec();
        data.extend([origin, 0, code, 0]);
        data.extend(info.to_ne_bytes());
        data.extend(value.to_ne_bytes());
        let (kind, address) = match family {
            Family::V4 => ((libc::SOL_IP, libc::IP_RECVERR), size_of::<libc::sockaddr_in>()),
            Family::V6 => ((libc::SOL_IPV6, libc::IPV6_RECVERR), size_of::<libc::sockaddr_in6>()),
        };
        data.resize(data.len() + address, 0);
        push(&mut bytes, kind, &data);
        bytes
    }
}

/// Appends a control message of a level and a type, padded to the alignment of the next.
fn push(bytes: &mut Vec<u8>, (level, kind): (i32, i32), data: &[u8]) {
    bytes.extend((size_of::<libc::cmsghdr>() + data.len()).to_ne_bytes());
    bytes.extend(level.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(size_of::<usize>()), 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::time::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn notices_of_zero_copy_writes_come_with_the_ack_and_join() {
        let mut queue = ErrorQueue::default();
        queue.zero_copy(100);
        queue.zero_copy(200);
        assert!(!queue.progress(at(1), 200, 99) && queue.is_empty());
        assert!(queue.progress(at(2), 200, 100));
        assert!(queue.progress(at(3), 200, 200));
        assert_eq!(queue.take(), Some(Notice::Copied { first: 0, last: 1 }));
        assert_eq!(queue.take(), None);
        queue.zero_copy(300);
        queue.progress(at(4), 300, 300);
        assert_eq!(queue.take(), Some(Notice::Copied { first: 2, last: 2 }));
    }

    #[test]
    fn the_last_byte_of_a_write_is_stamped_when_it_leaves_and_when_it_is_acknowledged() {
        let mut queue = ErrorQueue::default();
        queue.set_stamping(TX_SCHED | TX_SOFTWARE | TX_ACK, 50);
        queue.write(150);
        assert!(!queue.progress(at(1), 149, 0));
        assert!(queue.progress(at(2), 150, 100));
        assert!(queue.progress(at(3), 150, 150) && !queue.progress(at(4), 150, 150));
        for (what, ms) in [(Stamped::Scheduled, 2), (Stamped::Sent, 2), (Stamped::Acknowledged, 3)] {
            assert_eq!(queue.take(), Some(Notice::Stamp { what, key: 99, at: at(ms), whole: true }));
        }
        assert!(queue.is_empty());
    }

    #[test]
    fn the_control_message_has_the_size_that_linux_gives_it() {
        let notice = Notice::Copied { first: 3, last: 4 };
        let lens = [Family::V4, Family::V6].map(|family| notice.control(family, |_| 0).len());
        assert_eq!(lens, [16 + 16 + 16, 16 + 16 + 32], "padded to eight bytes");
        let bytes = notice.control(Family::V4, |_| 0);
        assert_eq!(bytes[16..32], [0, 0, 0, 0, 5, 0, 1, 0, 3, 0, 0, 0, 4, 0, 0, 0]);
        let stamp = Notice::Stamp { what: Stamped::Sent, key: 7, at: at(0), whole: false };
        assert_eq!(
            stamp.control(Family::V4, |_| 1_500_000)[16..32].iter().map(|&b| u32::from(b)).sum::<u32>(),
            { 1 + 500_000_000_u32.to_ne_bytes().iter().map(|&b| u32::from(b)).sum::<u32>() }
        );
    }
}
