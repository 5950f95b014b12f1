//! Proportional Rate Reduction (RFC 6937, and RFC 9937, which obsoletes it): how much may be sent during a recovery. The
//! window falls to its target gradually, with each ACK, without a pause at the start and a burst at the end.

mod applied;

use crate::config::PrrRule;

/// The state of one recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Prr {
    rule: PrrRule,
    /// RecoverFS: bytes outstanding when the loss was detected; with RFC 9937, without those that SACK had already reported.
    recover_flight: u64,
    /// prr_delivered: bytes delivered since then.
    delivered: u64,
    /// prr_out: bytes sent since then.
    out: u64,
    /// The window: bytes in the network, and bytes that may be sent in addition.
    window: u64,
}

/// Outstanding data when a loss is detected, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// SND.MAX − SND.UNA.
    pub(crate) outstanding: u64,
    /// Bytes of it that SACK has reported.
    pub(crate) sacked: u64,
    /// Bytes that the ACK that reveals the loss newly acknowledges or reports.
    pub(crate) newly: u64,
    /// cwnd before its reduction.
    pub(crate) cwnd: u64,
}

impl Start {
    /// RecoverFS. RFC 9937, section 6.1: without data that SACK had reported before this ACK. Linux: `prior_cwnd`.
    fn recover_flight(self, rule: PrrRule) -> u64 {
        match rule {
            PrrRule::Rfc6937 => self.outstanding,
            PrrRule::Linux => self.cwnd,
            PrrRule::Rfc9937 => (self.outstanding + self.newly).saturating_sub(self.sacked),
        }
    }
}

/// The facts of an ACK in recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// Bytes that it newly acknowledges or reports (DeliveredData).
    pub(crate) delivered: u64,
    /// Bytes in the network.
    pub(crate) pipe: u64,
    /// The target window.
    pub(crate) ssthresh: u64,
    pub(crate) mss: u64,
    /// Whether it acknowledges new data and shows no further loss. Then the window may exceed the delivered bytes by one
    /// segment (section 3.1, slow start reduction bound; otherwise the conservative bound).
    pub(crate) is_safe: bool,
}

impl Prr {
    /// A loss was detected.
    pub(crate) fn new(rule: PrrRule, start: Start) -> Self {
        let recover_flight = start.recover_flight(rule).max(1);
        // Linux leaves cwnd as it is until an ACK delivers something (`tcp_init_cwnd_reduction()`).
        let window = if rule == PrrRule::Linux { start.cwnd } else { 0 };
        Self { rule, recover_flight, delivered: 0, out: 0, window }
    }

    /// Whether a tail loss probe that sends data again counts as sent. In Linux it does not (`tcp_send_loss_probe()`).
    pub(crate) fn counts_probes(&self) -> bool {
        self.rule != PrrRule::Linux
    }

    /// RFC 6937, section 3.1, and RFC 9937, section 6.2, on every ACK in recovery.
    pub(crate) fn on_ack(&mut self, ack: Progress) {
        // RFC 9937: an ACK that delivers nothing changes nothing. The first one permits the fast retransmit.
        if self.rule == PrrRule::Rfc9937 && ack.delivered == 0 && self.window > 0 {
            return;
        }
        if self.rule == PrrRule::Linux {
            return self.on_ack_in_segments(ack);
        }
        self.delivered += ack.delivered;
        let room = if ack.pipe > ack.ssthresh {
            let share = u128::from(self.delivered) * u128::from(ack.ssthresh);
            let due = share.div_ceil(u128::from(self.recover_flight)) as u64;
            due.saturating_sub(self.out)
        } else {
            let bound = self.delivered.saturating_sub(self.out).max(ack.delivered);
            let bound = if ack.is_safe { bound + ack.mss } else { bound };
            bound.min(ack.ssthresh - ack.pipe)
        };
        // The fast retransmit is always sent. RFC 9937: as a full segment only if nothing else is permitted.
        let forced = match self.rule {
            PrrRule::Rfc6937 | PrrRule::Linux => room < ack.mss,
            PrrRule::Rfc9937 => room == 0,
        };
        let room = if self.out == 0 && forced { ack.mss } else { room };
        self.window = ack.pipe + room;
    }

    /// `tcp_cwnd_reduction()` on every ACK in recovery. It counts segments: a part of one counts as one.
    fn on_ack_in_segments(&mut self, ack: Progress) {
        if ack.delivered == 0 {
            return;
        }
        let mss = ack.mss.max(1);
        let newly = ack.delivered.max(mss);
        self.delivered += newly;
        let [pipe, newly, delivered] = [ack.pipe, newly, self.delivered].map(|bytes| bytes.div_ceil(mss));
        // Short segments are padded. A FIN in a full segment is no packet more.
        let out = (self.out / mss).max(u64::from(self.out > 0));
        let [ssthresh, before] = [ack.ssthresh, self.recover_flight].map(|window| (window / mss).max(1));
        let room = if pipe > ssthresh {
            (delivered * ssthresh).div_ceil(before).saturating_sub(out)
        } else {
            let bound = delivered.saturating_sub(out).max(newly) + u64::from(ack.is_safe);
            bound.min(ssthresh - pipe)
        };
        // The fast retransmit is always sent.
        // What is left of a segment of which a part is acknowledged is a packet, too.
        self.window = (pipe + room.max(u64::from(out == 0))) * mss;
    }

    /// `bytes` were sent.
    pub(crate) fn sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    /// cwnd during the recovery.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// So many bytes outstanding, of which nothing has been reported.
    fn outstanding(outstanding: u64) -> Start {
        Start { outstanding, sacked: 0, newly: 0, cwnd: outstanding }
    }

    #[test]
    fn linux_counts_the_rest_of_a_segment_in_the_network_as_one() {
        let mut prr = Prr::new(PrrRule::Linux, outstanding(10 * MSS));
        prr.on_ack(Progress {
            delivered: MSS,
            pipe: 2 * MSS - 1,
            ssthresh: 7 * MSS,
            mss: MSS,
            is_safe: false,
        });
        assert_eq!(prr.window(), 3 * MSS);
    }

    #[test]
    fn linux_counts_a_full_segment_with_a_fin_as_one_sent() {
        let mut prr = Prr::new(PrrRule::Linux, outstanding(10 * MSS));
        let delivers =
            |delivered| Progress { delivered, pipe: 2 * MSS, ssthresh: 7 * MSS, mss: MSS, is_safe: false };
        prr.on_ack(delivers(3 * MSS));
        prr.sent(MSS + 1);
        prr.on_ack(delivers(MSS));
        assert_eq!(prr.window(), (2 + 4 - 1) * MSS);
    }

    #[test]
    fn rfc_9937_reduces_from_what_was_in_flight() {
        // Twelve outstanding, three reported by SACK, one of them by the ACK that reveals the loss.
        let start = Start { outstanding: 12 * MSS, sacked: 3 * MSS, newly: MSS, cwnd: 11 * MSS };
        assert_eq!(start.recover_flight(PrrRule::Rfc9937), 10 * MSS);
        assert_eq!(start.recover_flight(PrrRule::Rfc6937), 12 * MSS);
        assert_eq!(start.recover_flight(PrrRule::Linux), 11 * MSS);
        // That ACK acknowledges two more, which are no longer outstanding.
        let start = Start { outstanding: 10 * MSS, sacked: 3 * MSS, newly: 3 * MSS, cwnd: 10 * MSS };
        assert_eq!(start.recover_flight(PrrRule::Rfc9937), 10 * MSS);
    }

    /// One loss in a window of `flight` segments, of which each of the others is reported in turn; returns what left on
    /// each ACK.
    fn reduce(flight: u64, ssthresh: u64) -> Vec<u64> {
        let mut prr = Prr::new(PrrRule::Rfc6937, outstanding(flight * MSS));
        let mut pipe = (flight - 1) * MSS;
        (1..flight)
            .map(|_| {
                pipe -= MSS;
                let progress =
                    Progress { delivered: MSS, pipe, ssthresh: ssthresh * MSS, mss: MSS, is_safe: false };
                prr.on_ack(progress);
                let mut left = 0;
                while pipe + MSS <= prr.window() {
                    pipe += MSS;
                    prr.sent(MSS);
                    left += 1;
                }
                left
            })
            .collect()
    }

    #[test]
    fn half_the_window_leaves_with_every_other_ack() {
        // RFC 6937, section 4, first example: 20 segments, halved to 10.
        let left = reduce(20, 10);
        assert_eq!(left.iter().sum::<u64>(), 10);
        assert!(left.iter().all(|&n| n <= 1), "{left:?}");
    }

    #[test]
    fn seven_tenths_leave_in_the_same_proportion() {
        let left = reduce(100, 70);
        let sum = left.iter().sum::<u64>();
        assert!((69..=70).contains(&sum), "{sum}");
        assert!(left.windows(10).all(|w| (6..=8).contains(&w.iter().sum::<u64>())), "{left:?}");
    }

    #[test]
    fn never_more_leaves_than_was_delivered_unless_that_is_safe() {
        let mut prr = Prr::new(PrrRule::Rfc6937, outstanding(20 * MSS));
        // Section 4, second example: most of the window was lost.
        prr.on_ack(Progress { delivered: MSS, pipe: 4 * MSS, ssthresh: 10 * MSS, mss: MSS, is_safe: false });
        assert_eq!(prr.window(), 5 * MSS);
        prr.sent(MSS);
        prr.on_ack(Progress { delivered: MSS, pipe: 4 * MSS, ssthresh: 10 * MSS, mss: MSS, is_safe: true });
        assert_eq!(prr.window(), 6 * MSS);
    }

    /// The algorithm of RFC 9937, section 6, as it stands there: cwnd after each ACK, where all that is permitted is sent.
    fn document(recover_fs: i64, acks: &[Progress]) -> Vec<i64> {
        let (mut prr_delivered, mut prr_out, mut cwnd) = (0_i64, 0_i64, 0_i64);
        acks.iter()
            .map(|ack| {
                let (delivered, inflight) = (ack.delivered as i64, ack.pipe as i64);
                let (ssthresh, smss) = (ack.ssthresh as i64, ack.mss as i64);
                if delivered != 0 || cwnd == 0 {
                    prr_delivered += delivered;
                    let mut count = if inflight > ssthresh {
                        (prr_delivered * ssthresh + recover_fs - 1) / recover_fs - prr_out
                    } else {
                        let bound = (prr_delivered - prr_out).max(delivered);
                        (bound + if ack.is_safe { smss } else { 0 }).min(ssthresh - inflight)
                    };
                    count = count.max(0);
                    if prr_out == 0 && count == 0 {
                        count = smss;
                    }
                    cwnd = inflight + count;
                }
                prr_out += (cwnd - inflight).max(0);
                cwnd
            })
            .collect()
    }

    #[test]
    fn rfc_9937_is_the_algorithm_of_its_section_6() {
        let mut dice = 1_u64;
        let mut below = |n: u64| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33) % n
        };
        for _ in 0..500 {
            let flight = (10 + below(90)) * MSS;
            let ssthresh = flight * 7 / 10;
            let acks: Vec<Progress> = (0..60)
                .map(|_| Progress {
                    delivered: below(4) * MSS,
                    pipe: below(flight / MSS) * MSS,
                    ssthresh,
                    mss: MSS,
                    is_safe: below(2) == 1,
                })
                .collect();
            let mut prr = Prr::new(PrrRule::Rfc9937, outstanding(flight));
            let ours: Vec<i64> = acks
                .iter()
                .map(|&ack| {
                    prr.on_ack(ack);
                    prr.sent(prr.window().saturating_sub(ack.pipe));
                    prr.window() as i64
                })
                .collect();
            assert_eq!(ours, document(flight as i64, &acks));
        }
    }

    #[test]
    fn linux_rounds_up_to_whole_segments() {
        // cwnd 14 is halved. 15 segments are outstanding: one is lost, five are reported, four of them by this ACK.
        let start = Start { outstanding: 15 * MSS, sacked: 5 * MSS, newly: 4 * MSS, cwnd: 14 * MSS };
        let ack = Progress { delivered: 4 * MSS, pipe: 9 * MSS, ssthresh: 7 * MSS, mss: MSS, is_safe: false };
        let window = |rule| {
            let mut prr = Prr::new(rule, start);
            prr.on_ack(ack);
            prr.window()
        };
        // (7 * 4 + 14 - 1) / 14 = 2: the fast retransmit and one new segment.
        assert_eq!(window(PrrRule::Linux), 11 * MSS);
        assert!(window(PrrRule::Rfc6937) < 11 * MSS);
    }

    #[test]
    fn on_linux_an_ack_that_delivers_nothing_changes_nothing() {
        let mut prr = Prr::new(PrrRule::Linux, outstanding(20 * MSS));
        let ack = Progress { delivered: 0, pipe: 4 * MSS, ssthresh: 10 * MSS, mss: MSS, is_safe: false };
        prr.on_ack(ack);
        assert_eq!(prr.window(), 20 * MSS, "the window before the loss");
        prr.on_ack(Progress { delivered: MSS, ..ack });
        assert_eq!(prr.window(), 5 * MSS);
        prr.sent(MSS);
        prr.on_ack(Progress { pipe: 2 * MSS, ..ack });
        assert_eq!(prr.window(), 5 * MSS);
    }

    #[test]
    fn rfc_9937_permits_nothing_for_an_ack_that_delivers_nothing() {
        let ack =
            |delivered| Progress { delivered, pipe: 12 * MSS, ssthresh: 10 * MSS, mss: MSS, is_safe: false };
        let mut prr = Prr::new(PrrRule::Rfc9937, outstanding(20 * MSS));
        prr.on_ack(ack(0));
        assert_eq!(prr.window(), 13 * MSS, "the fast retransmit");
        prr.sent(MSS);
        prr.on_ack(ack(4 * MSS));
        assert_eq!(prr.window(), 13 * MSS);
        prr.on_ack(Progress { pipe: 5 * MSS, ..ack(0) });
        assert_eq!(prr.window(), 13 * MSS, "unchanged");
    }
}
