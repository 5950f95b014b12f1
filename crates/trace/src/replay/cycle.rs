//! The cycle of RFC 889, section 3: a packet is sent, and the response arrives in time, late, or not at all.

use super::timer::Timer;
use super::trip::Trip;
use netspurt_tcp::rto::RtoEstimator;
use netspurt_tcp::time::Span;

/// The rules from one cycle to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rules {
    /// RFC 889, section 3: every delay is a sample, late ones too; a loss changes nothing. The first cycle sets the
    /// estimate: to its delay or, if it was lost, to a one-way delay of 50 ms.
    Document,
    /// As in a connection: the timer starts with its initial timeout, doubles when it expires (RFC 6298, section 5.5)
    /// and stays doubled until there is a sample. A retransmitted packet is no sample (Karn's rule, section 3).
    Connection,
}

/// The RTT that the document's program used if the first packet was lost.
///
/// Derived from run RICE-1: one loss of .1 s = 2 · 50 ms, then three timeouts too many until the estimate has grown.
const PRESUMED: Span = Span::from_ms(100);

/// The cost of a timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Lost packets. Each costs the current timeout.
    pub lost: u64,
    /// Time spent on them, in picoseconds.
    pub lost_ps: u128,
    /// Spurious retransmissions: the timeout was shorter than the delay.
    pub rtx: u64,
    /// The delays of these packets, in picoseconds. The document counts them in full.
    pub rtx_ps: u128,
}

impl Tally {
    /// All time without useful data, in picoseconds.
    pub const fn wasted_ps(&self) -> u128 {
        self.lost_ps + self.rtx_ps
    }

    pub(super) fn lose(&mut self, rto: Span) {
        self.lost += 1;
        self.lost_ps += u128::from(rto.as_ps());
    }

    pub(super) fn resend(&mut self, rtt: Span) {
        self.rtx += 1;
        self.rtx_ps += u128::from(rtt.as_ps());
    }
}

/// Receives each cycle: the delay, and the timeout in force.
pub(super) trait Witness {
    fn cycle(&mut self, trip: Trip, rto: Span);
}

/// Ignores all cycles.
impl Witness for () {
    #[inline]
    fn cycle(&mut self, _trip: Trip, _rto: Span) {}
}

/// Several timers over the same delays, which may be passed in parts.
#[derive(Debug)]
pub(super) struct Lanes<E, const N: usize> {
    timers: [Timer<E>; N],
    rules: Rules,
    /// Number of doublings of each timer; always 0 with the document's rules.
    doublings: [u32; N],
    fresh: bool,
}

impl<E: RtoEstimator, const N: usize> Lanes<E, N> {
    pub(super) const fn new(timers: [Timer<E>; N], rules: Rules) -> Self {
        Self { timers, rules, doublings: [0; N], fresh: true }
    }

    /// Replays the next delays.
    pub(super) fn replay(&mut self, mut trips: &[Trip], witness: &mut impl Witness) -> [Tally; N] {
        let mut tallies = [Tally::default(); N];
        match self.rules {
            Rules::Document => {
                if self.fresh
                    && let Some((&first, rest)) = trips.split_first()
                {
                    self.begin(first, &mut tallies, witness);
                    trips = rest;
                }
                self.by_the_document(trips, &mut tallies, witness);
            }
            Rules::Connection => self.as_a_connection(trips, &mut tallies, witness),
        }
        tallies
    }

    /// The first cycle by the document's rules: it cannot be late.
    fn begin(&mut self, first: Trip, tallies: &mut [Tally; N], witness: &mut impl Witness) {
        self.fresh = false;
        for (timer, tally) in self.timers.iter_mut().zip(tallies) {
            timer.process(first.get().unwrap_or(PRESUMED));
            if first.get().is_none() {
                tally.lose(timer.rto());
            }
            witness.cycle(first, timer.rto());
        }
    }

    fn by_the_document(&mut self, trips: &[Trip], tallies: &mut [Tally; N], witness: &mut impl Witness) {
        for &trip in trips {
            for (timer, tally) in self.timers.iter_mut().zip(tallies.iter_mut()) {
                let rto = timer.rto();
                witness.cycle(trip, rto);
                match trip.get() {
                    None => tally.lose(rto),
                    Some(rtt) => {
                        if rtt > rto {
                            tally.resend(rtt);
                        }
                        timer.process(rtt);
                    }
                }
            }
        }
    }

    fn as_a_connection(&mut self, trips: &[Trip], tallies: &mut [Tally; N], witness: &mut impl Witness) {
        for &trip in trips {
            let lanes = self.timers.iter_mut().zip(&mut self.doublings).zip(tallies.iter_mut());
            for ((timer, doublings), tally) in lanes {
                let rto = timer.backed_off(*doublings);
                witness.cycle(trip, rto);
                match trip.get() {
                    None => {
                        tally.lose(rto);
                        *doublings += 1;
                    }
                    Some(rtt) if rtt > rto => {
                        tally.resend(rtt);
                        *doublings += expiries(timer, *doublings, rtt);
                    }
                    Some(rtt) => {
                        timer.process(rtt);
                        *doublings = 0;
                    }
                }
            }
        }
    }
}

/// How often a timer expires before a response after `rtt`. It starts with this number of doublings and doubles each
/// time.
fn expiries<E: RtoEstimator>(timer: &Timer<E>, doublings: u32, rtt: Span) -> u32 {
    let mut waited = Span::ZERO;
    let mut times = 0;
    loop {
        let next = timer.backed_off(doublings + times);
        waited += next;
        // A timer at its maximum would expire further without an effect on the next packet.
        if waited >= rtt || times >= 64 || next == Span::ZERO {
            return times;
        }
        times += 1;
    }
}
