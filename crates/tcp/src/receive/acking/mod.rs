//! Delayed ACK policies: when received data is acknowledged. Each policy has one file.
//!
//! Every policy acknowledges out-of-order data and data that fills a gap immediately (RFC 5681, section 4.2), but that of Linux
//! joins some of these ACKs. Otherwise a policy decides only about data in order. Two policies keep state (`Memory`), which only their connections have.

mod adaptive;
mod arrival;
mod behind_gap;
pub(crate) mod by_bytes;
mod delayed;
mod free_tick;
mod quick_start;

pub use adaptive::{Bounds, QuickCounts};
pub use arrival::Due;
pub(crate) use arrival::{Arrival, Ordinary, Shape};

use crate::time::{Span, Time};
use adaptive::Adaptive;

/// The choice of a delayed-ACK policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acking {
    /// Every segment immediately.
    EverySegment,
    /// Every `every`-th segment at once, others after `delay` on a timer per connection (RFC 9293, section 3.8.6.3; RFC
    /// 5681, section 4.2).
    Delayed {
        /// Segments with data that make an ACK due; 1 is every segment.
        every: u8,
        /// At most 500 ms (RFC 5681, section 4.2).
        delay: Span,
    },
    /// Every `every`-th segment at once, others at the next tick of a clock that runs freely (BSD: 200 ms).
    FreeTick {
        /// Segments with data that make an ACK due.
        every: u8,
        /// Length of a tick.
        period: Span,
        /// The time of the first tick, less than `period`.
        phase: Span,
    },
    /// By bytes: at once when the reader has freed `every` full segments or half of the buffer, else after `delay`.
    DelayedBytes {
        /// Full segments freed that make an ACK due.
        every: u8,
        /// The delay of the others.
        delay: Span,
    },
    /// By bytes: at once when the reader has freed `every` full segments or half of the buffer, else at the next tick of a
    /// clock that runs freely (4.4BSD: 2 and 200 ms).
    FreeTickBytes {
        /// Full segments freed that make an ACK due.
        every: u8,
        /// Length of a tick.
        period: Span,
        /// The time of the first tick, less than `period`.
        phase: Span,
    },
    /// Every segment immediately while the connection is young or after a loss. Later every `every`-th one, by bytes,
    /// and others at the next tick of a free-running clock (ns-2, `Agent/TCP/BayFullTcp`).
    QuickStart {
        /// Bytes for which a connection is young.
        young: u32,
        /// Full segments unacknowledged that make an ACK due later on.
        every: u8,
        /// Length of a tick.
        period: Span,
        /// The time of the first tick, less than `period`.
        phase: Span,
    },
    /// Adaptive (Linux).
    Adaptive(Bounds),
}

/// The state of [`Acking::QuickStart`] and [`Acking::Adaptive`] for a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// The connection is young until this number of bytes has arrived.
    young_until: u64,
    adaptive: Adaptive,
}

impl Memory {
    /// The estimate of the peer's full segment of [`Acking::Adaptive`]; zero before the first data.
    pub(crate) const fn full(&self) -> u32 {
        self.adaptive.full()
    }
}

impl Acking {
    /// When to acknowledge, if `unacknowledged` data segments have arrived in order since the last ACK. For a policy
    /// with state use `arrives`.
    #[inline(always)]
    pub fn due(&self, now: Time, unacknowledged: u8) -> Due {
        match *self {
            Self::EverySegment => Due::Now,
            Self::Delayed { every, delay } => delayed::due(now, unacknowledged, every, delay),
            Self::FreeTick { every, period, phase } => {
                free_tick::due(now, unacknowledged, every, period, phase)
            }
            _ => self.due_otherwise(now),
        }
    }

    /// For policies in which the reader or the state makes an ACK due.
    #[cold]
    fn due_otherwise(self, now: Time) -> Due {
        match self {
            Self::FreeTick { period, phase, .. }
            | Self::FreeTickBytes { period, phase, .. }
            | Self::QuickStart { period, phase, .. } => Due::At(free_tick::next(now, period, phase)),
            Self::Delayed { delay, .. } | Self::DelayedBytes { delay, .. } => Due::At(now + delay),
            Self::Adaptive(bounds) => Due::At(now + bounds.min),
            Self::EverySegment => Due::Now,
        }
    }

    /// Whether the policy only counts segments.
    #[inline]
    pub(crate) const fn counts_segments(&self) -> bool {
        matches!(self, Self::EverySegment | Self::Delayed { .. } | Self::FreeTick { .. })
    }

    /// Whether the policy has state.
    pub(crate) const fn has_state(self) -> bool {
        matches!(self, Self::QuickStart { .. } | Self::Adaptive(_))
    }

    /// The initial state of a connection that was opened at `opened`.
    pub(crate) const fn memory(self, opened: Time) -> Memory {
        let young_until = match self {
            Self::QuickStart { young, .. } => young as u64,
            _ => 0,
        };
        Memory { young_until, adaptive: Adaptive::new(opened) }
    }

    /// When to acknowledge data that has arrived in order.
    pub(crate) fn arrives(self, now: Time, arrival: &Arrival, memory: &mut Memory) -> Due {
        match self {
            Self::QuickStart { every, period, phase, .. } => {
                let Arrival { received, unacknowledged, mss, .. } = *arrival;
                if quick_start::is_due(received, unacknowledged, memory.young_until, mss, every) {
                    Due::Now
                } else {
                    Due::At(free_tick::next(now, period, phase))
                }
            }
            Self::Adaptive(bounds) => memory.adaptive.arrives(now, arrival, bounds),
            _ => self.due(now, 1),
        }
    }

    /// The same for an ordinary segment. `None` if the policy must see the whole [`Arrival`]; its state has not changed then.
    #[inline]
    pub(crate) fn arrives_ordinary(self, now: Time, ordinary: Ordinary, memory: &mut Memory) -> Option<Due> {
        match self {
            Self::Adaptive(bounds) => memory.adaptive.arrives_ordinary(now, ordinary, bounds),
            _ => None,
        }
    }

    /// Out-of-order data or a duplicate has arrived, which is acknowledged immediately.
    pub(crate) fn on_possible_loss(self, now: Time, arrival: &Arrival, memory: &mut Memory) {
        match self {
            Self::QuickStart { young, .. } => memory.young_until = arrival.received + u64::from(young),
            Self::Adaptive(bounds) => memory.adaptive.on_possible_loss(now, arrival, bounds),
            _ => {}
        }
    }

    /// When to acknowledge new data behind a gap, or a part of a gap's end. `None`: at once, as every other policy does.
    pub(crate) fn behind_gap(self, now: Time, arrival: &Arrival, memory: &mut Memory) -> Option<Due> {
        match self {
            Self::Adaptive(bounds) => Some(memory.adaptive.behind_gap(now, arrival, bounds)),
            _ => None,
        }
    }

    /// The segment that is being processed asks for quick ACKs: it is marked, or a retransmission.
    pub(crate) fn on_mark(self, memory: &mut Memory) {
        if let Self::Adaptive(bounds) = self {
            memory.adaptive.on_mark(bounds);
        }
    }

    /// A segment with data was refused.
    pub(crate) fn on_refused(self, arrival: &Arrival, memory: &mut Memory) {
        if let Self::Adaptive(bounds) = self {
            memory.adaptive.on_refused(arrival, bounds);
        }
    }

    /// When to acknowledge the peer's FIN, which has arrived in order at a host that has not closed.
    pub(crate) fn on_fin(self, now: Time, arrival: &Arrival, memory: &mut Memory) -> Due {
        match self {
            Self::Adaptive(bounds) => memory.adaptive.on_fin(now, arrival, bounds),
            _ => Due::Now,
        }
    }

    /// When an ACK that waits is due, because a segment without data was processed.
    pub(crate) fn reconsider(self, now: Time, arrival: &Arrival, memory: &mut Memory) -> Due {
        match self {
            Self::Adaptive(bounds) => memory.adaptive.reconsider(now, arrival, bounds),
            _ => Due::At(arrival.armed),
        }
    }

    /// A segment with `len` bytes of data is sent and acknowledges everything.
    #[cold]
    pub(crate) fn on_departure(self, now: Time, len: u32, memory: &mut Memory) {
        if let Self::Adaptive(bounds) = self {
            memory.adaptive.leaves(now, len, bounds);
        }
    }

    /// The connection opens, and data waits to be sent.
    pub(crate) fn opens_with_data(self, now: Time, memory: &mut Memory) {
        if let Self::Adaptive(bounds) = self {
            memory.adaptive.opens_with_data(now, bounds);
        }
    }

    /// The timer has sent the ACK; `rto` is the present RTO.
    pub(crate) fn on_timer_ack(self, rto: Span, memory: &mut Memory) {
        if let Self::Adaptive(bounds) = self {
            memory.adaptive.on_timer_ack(rto, bounds);
        }
    }
}

impl Memory {
    /// Whether the ACK of data behind a gap waits.
    pub(crate) const fn waits_behind_gap(&self) -> bool {
        self.adaptive.waits_behind_gap()
    }

    /// No ACK of data behind a gap waits any more.
    pub(crate) const fn forgo_behind_gap(&mut self) {
        self.adaptive.forgo_behind_gap();
    }

    /// Whether a delayed ACK of `unacknowledged` bytes is due after a read that has left `unread` bytes.
    pub(crate) const fn is_due_once_read(&self, unacknowledged: u64, unread: u64) -> bool {
        self.adaptive.is_due_once_read(unacknowledged, unread)
    }
}
