//! Congestion control: how much may be in flight. One file per algorithm.
//!
//! An algorithm hears what happened as a [`Signal`] with one meaning each, sees the connection through a [`View`],
//! and answers with `cwnd` and `ssthresh`. Which segment is resent, and when, is not its business: that is
//! `recovery`.

mod cubic;
mod growth;
mod none;
mod reno;
mod tahoe;

pub use cubic::Cubic;
pub use none::Unlimited;
pub use reno::Reno;
pub use tahoe::Tahoe;

use crate::config::Growth;
use crate::time::{Span, Time};

/// What an algorithm may know of the connection when a signal arrives.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Now.
    pub now: Time,
    /// Bytes of a full segment.
    pub mss: u32,
    /// FlightSize: bytes sent and not yet acknowledged, *before* what happened took effect (RFC 5681, section 2).
    /// With [`Signal::ExitRecovery`] alone: what is still outstanding *after* the ACK that ended recovery (RFC 6582,
    /// section 3.2, step 3).
    pub flight: u32,
    /// The window that limits the sender: min(cwnd, peer's window, own cap), in bytes.
    pub window: u32,
    /// Smoothed round-trip time, once there is one.
    pub srtt: Option<Span>,
    /// Whether the sender had used all of cwnd when the acknowledged data left (RFC 9438, section 4.3 and RFC 7661's
    /// concern: a window that is not used says nothing about the path).
    pub cwnd_limited: bool,
}

/// What happened, one meaning each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// New data was acknowledged, outside recovery.
    Acked {
        /// How many bytes.
        bytes: u32,
    },
    /// The `n`-th duplicate acknowledgment in a row arrived, outside recovery.
    DupAck {
        /// Counted from 1.
        n: u32,
    },
    /// A loss was noticed without a timeout: one per window of data.
    EnterRecovery,
    /// Some, not all, of what was in flight at the loss has been acknowledged.
    PartialAck {
        /// How many bytes.
        bytes: u32,
    },
    /// All that was in flight at the loss has been acknowledged.
    ExitRecovery,
    /// The retransmission timer ran out.
    Timeout {
        /// Whether this is the first time for this data (RFC 5681, equation 4: ssthresh falls only once).
        first: bool,
    },
    /// The peer reports a congestion mark (RFC 3168).
    EcnCe,
    /// The reduction was a mistake.
    Undo,
    /// Data is about to leave after an idle time of at least one RTO (RFC 5681, section 4.1).
    IdleRestart,
}

/// A congestion control algorithm. All quantities in bytes.
pub trait CongestionControl: core::fmt::Debug + Send {
    /// Takes notice of what happened.
    fn on(&mut self, signal: Signal, view: &View);
    /// The congestion window.
    fn cwnd(&self) -> u32;
    /// The slow start threshold; `u32::MAX` stands for infinite.
    fn ssthresh(&self) -> u32;
}

/// The choice of an algorithm with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// No congestion control: the windows alone limit the sender.
    None,
    /// Jacobson 1988 as in 4.3BSD-Tahoe.
    Tahoe,
    /// RFC 5681 (4.3BSD-Reno).
    Reno,
    /// RFC 5681 with the exit rule of RFC 6582, section 3.2, step 3.
    NewReno,
    /// RFC 9438.
    Cubic,
}

/// The built-in algorithms, dispatched statically, and a place for the user's own.
#[derive(Debug)]
pub enum Congestion {
    /// See [`Unlimited`].
    None(Unlimited),
    /// See [`Tahoe`].
    Tahoe(Tahoe),
    /// See [`Reno`]; also serves NewReno.
    Reno(Reno),
    /// See [`Cubic`]; boxed, since it is larger than the rest.
    Cubic(Box<Cubic>),
    /// The user's own.
    Custom(Box<dyn CongestionControl>),
}

impl Congestion {
    /// A new instance with the given initial `cwnd` and `ssthresh` in bytes.
    pub fn new(kind: Kind, cwnd: u32, ssthresh: u32, growth: Growth) -> Self {
        match kind {
            Kind::None => Self::None(Unlimited),
            Kind::Tahoe => Self::Tahoe(Tahoe::new(cwnd, ssthresh, growth)),
            Kind::Reno => Self::Reno(Reno::new(cwnd, ssthresh, growth)),
            Kind::NewReno => Self::Reno(Reno::with_cautious_exit(cwnd, ssthresh, growth)),
            Kind::Cubic => Self::Cubic(Box::new(Cubic::new(cwnd, ssthresh, growth))),
        }
    }
}

impl CongestionControl for Congestion {
    #[inline]
    fn on(&mut self, signal: Signal, view: &View) {
        match self {
            Self::None(cc) => cc.on(signal, view),
            Self::Tahoe(cc) => cc.on(signal, view),
            Self::Reno(cc) => cc.on(signal, view),
            Self::Cubic(cc) => cc.on(signal, view),
            Self::Custom(cc) => cc.on(signal, view),
        }
    }

    #[inline]
    fn cwnd(&self) -> u32 {
        match self {
            Self::None(cc) => cc.cwnd(),
            Self::Tahoe(cc) => cc.cwnd(),
            Self::Reno(cc) => cc.cwnd(),
            Self::Cubic(cc) => cc.cwnd(),
            Self::Custom(cc) => cc.cwnd(),
        }
    }

    #[inline]
    fn ssthresh(&self) -> u32 {
        match self {
            Self::None(cc) => cc.ssthresh(),
            Self::Tahoe(cc) => cc.ssthresh(),
            Self::Reno(cc) => cc.ssthresh(),
            Self::Cubic(cc) => cc.ssthresh(),
            Self::Custom(cc) => cc.ssthresh(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Counting, Grows};

    pub(super) const GROWTH: Growth =
        Growth { grows: Grows::Always, counting: Counting::Acks, slow_start_per_ack: 1 };

    /// A connection with `flight` bytes outstanding that uses all of its window.
    pub(super) fn view(mss: u32, flight: u32) -> View {
        View { now: Time::ZERO, mss, flight, window: flight, srtt: None, cwnd_limited: true }
    }

    /// One window's worth of ACKs, one for each segment.
    pub(super) fn ack_a_round(cc: &mut impl CongestionControl, mss: u32) {
        for _ in 0..cc.cwnd() / mss {
            cc.on(Signal::Acked { bytes: mss }, &view(mss, cc.cwnd()));
        }
    }

    #[test]
    fn each_kind_starts_with_what_it_is_given() {
        for kind in [Kind::Tahoe, Kind::Reno, Kind::NewReno, Kind::Cubic] {
            let cc = Congestion::new(kind, 4000, 60_000, GROWTH);
            assert_eq!((cc.cwnd(), cc.ssthresh()), (4000, 60_000), "{kind:?}");
        }
        assert_eq!(Congestion::new(Kind::None, 4000, 60_000, GROWTH).cwnd(), u32::MAX);
    }

    #[test]
    fn the_choice_costs_little_room() {
        assert!(size_of::<Congestion>() <= 40, "{}", size_of::<Congestion>());
    }
}
