//! The interface of a congestion control: its input and its results.

use crate::congestion::delivery_rate::{LostSegment, RateSample};
use crate::congestion::pacing;
use crate::time::{Span, Time};

/// The state of the connection at a signal.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Now.
    pub now: Time,
    /// Bytes of a full segment.
    pub mss: u32,
    /// FlightSize: bytes sent and not yet acknowledged, *before* the event took effect (RFC 5681, section 2). Only with
    /// [`Signal::ExitRecovery`] it is the value *after* the ACK that ended recovery (RFC 6582, section 3.2, step 3).
    pub flight: u32,
    /// The window that limits the sender: min(cwnd, peer's window, own cap), in bytes.
    pub window: u32,
    /// Smoothed RTT, if there is a sample.
    pub srtt: Option<Span>,
    /// The RTT sample of the last ACK, if losses are detected by time or delivery rates are measured. Nearly every ACK
    /// then has a sample.
    pub rtt: Option<Span>,
    /// Whether the sender paces.
    pub paced: bool,
    /// Bytes acknowledged so far, this ACK included, and bytes sent so far.
    pub acknowledged: u64,
    /// See [`acknowledged`](Self::acknowledged).
    pub sent: u64,
    /// Whether the sender used all of cwnd when the acknowledged data was sent. An unused window gives no information
    /// about the path (RFC 9438, section 4.3; RFC 7661).
    pub cwnd_limited: bool,
}

/// An event. Each has one meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// New data was acknowledged, outside recovery.
    Acked {
        /// How many bytes.
        bytes: u32,
    },
    /// The `n`-th consecutive duplicate ACK arrived, outside recovery.
    DupAck {
        /// Counted from 1.
        n: u32,
    },
    /// A loss was detected without a timeout: once per window of data.
    EnterRecovery,
    /// A partial ACK: a part of the data in flight at the loss was acknowledged.
    PartialAck {
        /// How many bytes.
        bytes: u32,
    },
    /// All data in flight at the loss was acknowledged.
    ExitRecovery,
    /// The retransmission timer expired.
    Timeout {
        /// Whether this is the first time for this data (RFC 5681, equation 4: ssthresh decreases only once).
        first: bool,
    },
    /// The peer reports a congestion mark (RFC 3168).
    EcnCe,
    /// A round has ended in which `acked` bytes were acknowledged, `marked` of them by ACKs with ECE (RFC 8257, section
    /// 3.3).
    RoundMarked {
        /// All of them.
        acked: u32,
        /// Those with ECE.
        marked: u32,
    },
    /// The last reduction was spurious.
    Undo,
    /// The sender restarts after an idle time of at least one RTO (RFC 5681, section 4.1).
    IdleRestart {
        /// How many RTOs were over before its end: at least 1.
        timeouts: u32,
    },
    /// The sender restarts after a pause of the application of any length with nothing in flight. Only if delivery
    /// rates are measured.
    Resumed,
}

/// The initial values of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    /// The configured initial window.
    pub cwnd: u32,
    /// The configured slow start threshold; `u32::MAX` is infinite.
    pub ssthresh: u32,
    /// The seed for random choices: the initial sequence number.
    pub seed: u32,
}

/// A congestion control algorithm. All quantities in bytes.
pub trait CongestionControl: core::fmt::Debug + Send {
    /// Starts a user-defined algorithm. It is called when the algorithm is set, when the handshake has determined the
    /// MSS, and after a lost SYN. Built-in algorithms are created anew instead.
    fn begin(&mut self, start: &Start) {
        let _ = start;
    }
    /// Processes an event.
    fn on(&mut self, signal: Signal, view: &View);
    /// The congestion window; it is read after each signal.
    fn cwnd(&self) -> u32;
    /// The slow start threshold; `u32::MAX` is infinite.
    fn ssthresh(&self) -> u32;

    /// Sets cwnd and ssthresh: for Careful Resume, and for an algorithm that takes over from another one. An algorithm that does
    /// not support it keeps its own.
    fn set_windows(&mut self, cwnd: u32, ssthresh: u32) {
        let _ = (cwnd, ssthresh);
    }

    /// Sets the ssthresh that an undo restores (Linux, `prior_ssthresh`), and returns the one before. With 0, as after a mark, an
    /// undo restores nothing.
    fn set_prior_ssthresh(&mut self, ssthresh: u32) -> u32 {
        let _ = ssthresh;
        0
    }

    /// Data is sent while nothing is outstanding. The last transmission was so long ago (Linux, `CA_EVENT_TX_START`).
    fn begins_to_send(&mut self, now: Time, pause: Span) {
        let _ = (now, pause);
    }

    /// An RTT beside [`View::rtt`]: that of an ACK which increases no window, as in a recovery, or of what an ACK reports (Linux,
    /// `pkts_acked`).
    fn measure(&mut self, now: Time, rtt: Option<Span>) {
        let _ = (now, rtt);
    }

    /// The connection is open and paces; `srtt` is the RTT of the handshake, if it gave a sample. An algorithm with a pacing
    /// rate of its own sets the first one.
    fn begin_pace(&mut self, srtt: Option<Span>) {
        let _ = srtt;
    }

    /// Processes the delivery rate sample of an ACK, after all other effects of the ACK. It is called for every ACK,
    /// but only if delivery rates are measured (`Kind::needs_rates`, or pacing).
    fn delivered(&mut self, sample: &RateSample, view: &View) {
        let _ = (sample, view);
    }
    /// Processes a lost segment. It is called for each one, before the sample of the ACK that revealed the loss, and
    /// only if delivery rates are measured.
    fn lost(&mut self, segment: &LostSegment, view: &View) {
        let _ = (segment, view);
    }
    /// The pacing rate in bytes per second, or `None` if it follows from cwnd. It is read after each signal.
    fn pacing_rate(&self) -> Option<u64> {
        None
    }
    /// The least number of segments that a host hands over together, if it may.
    fn least_burst(&self) -> u64 {
        pacing::LEAST_BURST
    }
    /// Whether a mark that an ACK reports at `now` reduces the window. An algorithm may ignore marks for longer than a round
    /// trip after a reduction; the first one that it does not ignore is signalled.
    fn heeds_marks(&self, now: Time) -> bool {
        let _ = now;
        true
    }
    /// Whether the algorithm deliberately sends less than the path can carry. Samples then give no information about
    /// the path.
    fn is_sparing(&self) -> bool {
        false
    }
    /// The path model, if the algorithm has one.
    fn path(&self) -> Option<PathModel> {
        None
    }
}

/// The path model of a congestion control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathModel {
    /// Its bandwidth in bytes per second.
    pub bandwidth: u64,
    /// The RTT without queueing delay, if known.
    pub min_rtt: Option<Span>,
}
