//! The cycle of RFC 889, section 3: a packet is sent, and its answer comes in time, late, or not at all.

use super::timer::Timer;
use super::trip::Trip;
use netspurt_tcp::rto::RtoEstimator;
use netspurt_tcp::time::Span;

/// How a timer is treated from one cycle to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rules {
    /// RFC 889, section 3: every delay is a sample, also a late one; a loss changes nothing. The first cycle sets the
    /// estimate: to its delay, or, if it was lost, to a delay of 50 ms, normalised to one way.
    Document,
    /// As in a connection: the timer starts with its initial timeout, doubles when it runs out (RFC 6298, section 5.5)
    /// and stays so until there is a sample; a packet that was sent twice gives none (Karn's rule, section 3).
    Connection,
}

/// What the document's program took for the delay if the first packet was lost, there and back.
///
/// Run RICE-1 tells: one loss of .1 s = 2 · 50 ms, then three timeouts too many until the estimate has come up.
const PRESUMED: Span = Span::from_ms(100);

/// What a timer cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Packets lost. For each the timeout in force was spent.
    pub lost: u64,
    /// Time spent on them, in picoseconds.
    pub lost_ps: u128,
    /// Packets sent again although their answer was on its way: the timeout was shorter than the delay.
    pub rtx: u64,
    /// The delays of these packets, in picoseconds: charged whole, as the document does.
    pub rtx_ps: u128,
}

impl Tally {
    /// All time that was not spent on good data, in picoseconds.
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

/// Who hears of each cycle: how the answer came, and the timeout that was in force.
pub(super) trait Witness {
    fn cycle(&mut self, trip: Trip, rto: Span);
}

/// Nobody.
impl Witness for () {
    #[inline]
    fn cycle(&mut self, _trip: Trip, _rto: Span) {}
}

/// Timers side by side over the same delays, which may come in pieces.
#[derive(Debug)]
pub(super) struct Lanes<E, const N: usize> {
    timers: [Timer<E>; N],
    rules: Rules,
    /// How often each timer has doubled; always 0 by the rules of the document.
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

    /// The first cycle by the rules of the document: it cannot be late.
    fn begin(&mut self, first: Trip, tallies: &mut [Tally; N], witness: &mut impl Witness) {
        self.fresh = false;
        for (timer, tally) in self.timers.iter_mut().zip(tallies) {
            timer.hear(first.get().unwrap_or(PRESUMED));
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
                        timer.hear(rtt);
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
                        timer.hear(rtt);
                        *doublings = 0;
                    }
                }
            }
        }
    }
}

/// How often a timer that has doubled so often runs out before an answer comes after `rtt`, doubling each time.
fn expiries<E: RtoEstimator>(timer: &Timer<E>, doublings: u32, rtt: Span) -> u32 {
    let mut waited = Span::ZERO;
    let mut times = 0;
    loop {
        let next = timer.backed_off(doublings + times);
        waited += next;
        // A timer that cannot grow any more would go on running out without an effect on the next packet.
        if waited >= rtt || times >= 64 || next == Span::ZERO {
            return times;
        }
        times += 1;
    }
}
