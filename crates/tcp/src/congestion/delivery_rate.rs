//! How fast the network delivers: one sample for each acknowledgment (draft-cheng-iccrg-delivery-rate-estimation, now a
//! section of draft-ietf-ccwg-bbr; Linux, `tcp_rate.c`).
//!
//! A snapshot at each transmission records how much had been delivered, and when. When the segment is acknowledged, a sample
//! is the data delivered since then, divided by the time. The time is the longer one of the interval between transmissions and
//! the interval between ACKs, so a sample never exceeds the rate of the path. A sample is marked if the application limited the
//! sender: it then gives information about the application, not about the path.

use crate::congestion::pacing;
use crate::ranges::Range;
use crate::time::{Span, Time};
use std::collections::VecDeque;

/// What the sender repairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Repairing {
    /// Nothing is known to be lost.
    #[default]
    Nothing,
    /// A loss that was detected without a timeout.
    Loss,
    /// A timeout.
    Timeout,
}

/// The data that was delivered while one segment was in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    /// Bytes delivered in total when it was sent.
    pub prior_delivered: u64,
    /// Bytes delivered since.
    pub delivered: u64,
    /// The longer one of the interval between the transmissions and the interval between the ACKs.
    pub span: Span,
    /// Whether the application limited the sender.
    pub app_limited: bool,
    /// Bytes in flight when it was sent, including itself.
    pub tx_in_flight: u64,
    /// Bytes lost since then.
    pub lost: u64,
}

impl Interval {
    /// Bytes per second.
    pub fn rate(&self) -> u64 {
        pacing::rate(self.delivered, self.span)
    }
}

/// A lost segment: its latest transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LostSegment {
    /// Its first position in the stream.
    pub start: u64,
    /// The position after it.
    pub end: u64,
    /// Bytes in flight when it was sent, including itself.
    pub tx_in_flight: u64,
    /// Bytes lost since then, including itself.
    pub lost: u64,
    /// Whether the application limited the sender then.
    pub app_limited: bool,
}

/// What one ACK shows about deliveries. All amounts in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateSample {
    /// Delivered in total.
    pub delivered: u64,
    /// When the last of it was delivered.
    pub delivered_at: Time,
    /// Lost in total.
    pub lost: u64,
    /// Delivered according to this ACK for the first time.
    pub newly_delivered: u64,
    /// Lost since the previous sample.
    pub newly_lost: u64,
    /// The rate, if there is one. An ACK of nothing new gives none. An ACK that arrives sooner than the minimum RTT answers an
    /// earlier transmission, and gives none either.
    pub interval: Option<Interval>,
    /// The RTT of the newest segment that it acknowledges, if that was sent once.
    pub rtt: Option<Span>,
    /// The minimum RTT of the last five minutes.
    pub min_rtt: Option<Span>,
    /// Whether the receiver may have delayed it.
    pub maybe_delayed: bool,
    /// In flight before this ACK.
    pub prior_in_flight: u64,
    /// In flight now.
    pub in_flight: u64,
    /// When pacing permits the next segment.
    pub next_departure: Time,
    /// What the sender repairs now.
    pub repairing: Repairing,
    /// Whether the peer sends SACK blocks, so that more than one loss in a round trip can be detected.
    pub selective: bool,
}

/// The latest transmission of an unacknowledged segment. The log of transmissions knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    pub(crate) range: Range,
    /// Its number in the order of all transmissions.
    pub(crate) serial: u32,
    /// Whether it is a retransmission.
    pub(crate) again: bool,
}

/// The state of the connection when a segment was sent: the state of the packet in the draft's terms.
#[derive(Clone, Copy, Debug)]
struct Snapshot {
    /// The number of the transmission.
    serial: u32,
    /// P.send_time.
    sent: Time,
    /// P.first_send_time.
    first_sent: Time,
    /// P.delivered and P.delivered_time.
    delivered: u64,
    delivered_at: Time,
    app_limited: bool,
    /// P.tx_in_flight and P.lost.
    in_flight: u64,
    lost: u64,
}

/// The snapshots of all transmissions that may still be acknowledged or found lost, in order of their numbers.
///
/// They are apart from the log of transmissions, whose entries have their numbers: connections that measure no rates, which
/// are nearly all, then need no memory for them, and no instruction.
#[derive(Debug, Default)]
struct Snapshots(VecDeque<Snapshot>);

impl Snapshots {
    fn get(&self, serial: u32) -> Option<&Snapshot> {
        let first = self.0.front()?.serial;
        let place = |snapshot: &Snapshot| snapshot.serial.wrapping_sub(first);
        let wanted = serial.wrapping_sub(first);
        // As long as none is missing, its place follows from its number.
        let direct = self.0.get(wanted as usize).filter(|snapshot| snapshot.serial == serial);
        direct.or_else(|| {
            let at = self.0.partition_point(|snapshot| place(snapshot) < wanted);
            self.0.get(at).filter(|snapshot| snapshot.serial == serial)
        })
    }

    /// Removes those that no entry of the log refers to, once they are more than half. So the cost is O(log n) for each
    /// transmission, and a peer that causes many retransmissions cannot make the list long.
    fn tidy(&mut self, segments: usize, serials: impl Iterator<Item = u32>) {
        const SPARE: usize = 16;
        if segments == 0 {
            self.0.clear();
        } else if self.0.len() > 2 * segments + SPARE {
            let mut used: Vec<u32> = serials.collect();
            used.sort_unstable();
            self.0.retain(|snapshot| used.binary_search(&snapshot.serial).is_ok());
        }
    }
}

/// The measure of one connection.
#[derive(Debug, Default)]
pub(crate) struct DeliveryRate {
    snapshots: Snapshots,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    /// Until this amount is delivered, samples are limited by the application; 0 if they are not.
    app_limited_until: u64,
    /// The part of the delivered bytes that no report has named: a duplicate ACK without SACK shows that something arrived,
    /// but not what.
    unnamed: u64,
    rtt: Option<Span>,
    /// The last sample that the application did not limit, or the largest limited one since.
    latest: Option<Interval>,
    ack: Ack,
}

/// What the present ACK has shown so far.
#[derive(Clone, Copy, Debug, Default)]
struct Ack {
    delivered: u64,
    prior_in_flight: u64,
    /// The newest transmission that it reports as delivered, with its end.
    newest: Option<(Snapshot, u64)>,
    lost_before: u64,
}

/// A segment that is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    pub(crate) now: Time,
    /// The number of the transmission.
    pub(crate) serial: u32,
    /// Its length in positions.
    pub(crate) len: u64,
    /// Bytes unacknowledged, and in flight, before.
    pub(crate) outstanding: u64,
    pub(crate) in_flight: u64,
}

/// The state of the connection after the processing of an ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) now: Time,
    pub(crate) in_flight: u64,
    pub(crate) next_departure: Time,
    pub(crate) repairing: Repairing,
    pub(crate) selective: bool,
    pub(crate) mss: u64,
    pub(crate) min_rtt: Option<Span>,
}

impl DeliveryRate {
    /// Begins now. Data that is outstanding gives no samples.
    pub(crate) fn beginning(now: Time) -> Self {
        Self { delivered_at: now, first_sent: now, ..Self::default() }
    }

    /// A segment is sent, for the first time or again.
    pub(crate) fn leaves(&mut self, segment: Leaving) {
        let Leaving { now, serial, len, outstanding, in_flight } = segment;
        if outstanding == 0 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        self.snapshots.0.push_back(Snapshot {
            serial,
            sent: now,
            first_sent: self.first_sent,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            app_limited: self.app_limited_until > 0,
            in_flight: in_flight + len,
            lost: self.lost,
        });
    }

    /// `range` is lost, which the segments of `transmissions` overlap: passes each lost segment to `report`. `padding`: what these
    /// lack of full ones, if each counts as one.
    pub(crate) fn lose(
        &mut self,
        (range, padding): (Range, u64),
        transmissions: impl Iterator<Item = Transmission>,
        mut report: impl FnMut(&LostSegment),
    ) {
        let mut lost = self.lost;
        for segment in transmissions {
            let Some(departure) = self.snapshots.get(segment.serial) else { continue };
            let (start, end) = (segment.range.start.max(range.start), segment.range.end.min(range.end));
            lost += end - start;
            report(&LostSegment {
                start,
                end,
                tx_in_flight: departure.in_flight,
                lost: lost - departure.lost,
                app_limited: departure.app_limited,
            });
        }
        self.lost += range.len() + padding;
    }

    /// An ACK arrives while `in_flight` bytes are in flight. `anew`: what a timer has marked lost since the last one, and what an
    /// ACK without a sample has delivered, does not count for its sample (Linux, `tcp_ack()`: `lost`, `delivered`).
    pub(crate) fn open(&mut self, in_flight: u64, anew: bool) {
        if anew {
            self.ack = Ack { lost_before: self.lost, ..Ack::default() };
        }
        self.ack.prior_in_flight = in_flight;
    }

    /// About `bytes` have arrived; later ACKs show which ones (Linux, `tcp_add_reno_sack()`). All that has arrived above a
    /// hole is at most `most` bytes (`tcp_limit_reno_sacked()`).
    pub(crate) fn deliver_unnamed(&mut self, bytes: u64, most: u64) {
        let after = (self.unnamed + bytes).min(most).max(self.unnamed);
        self.count(after - self.unnamed);
        self.unnamed = after;
    }

    /// `bytes` of what is outstanding have arrived, as far as duplicate ACKs show (Linux, `sacked_out`).
    pub(crate) fn set_unnamed(&mut self, bytes: u64) {
        self.unnamed = bytes;
    }

    /// A D-SACK reports that `bytes` have arrived once more.
    pub(crate) fn deliver_again(&mut self, bytes: u64) {
        self.count(bytes);
    }

    /// `count` gives the bytes of whole segments among those that the present ACK has delivered: only these have arrived.
    pub(crate) fn recount(&mut self, count: impl Fn(u64) -> u64) {
        let whole = count(self.ack.delivered);
        self.delivered = (self.delivered + whole).saturating_sub(self.ack.delivered);
        self.ack.delivered = whole;
    }

    fn count(&mut self, bytes: u64) {
        self.delivered += bytes;
        self.ack.delivered += bytes;
    }

    /// The present ACK is the first to report `len` bytes as delivered, which the segments of `transmissions` overlap. Returns
    /// the RTT of the last of them that was sent once.
    ///
    /// A segment of `mss` bytes of them fills the hole, so at least that has newly arrived (Linux,
    /// `tcp_remove_reno_sacks()`). Otherwise an ACK could deliver nothing, and a rate of nothing would stop a paced sender.
    pub(crate) fn deliver(
        &mut self,
        now: Time,
        len: u64,
        mss: u64,
        transmissions: impl Iterator<Item = Transmission>,
    ) -> Option<Span> {
        self.count(len.saturating_sub(self.unnamed).max(mss.min(len)));
        self.unnamed = self.unnamed.saturating_sub(len.saturating_sub(mss));
        let mut learnt = None;
        for segment in transmissions {
            let Some(&snapshot) = self.snapshots.get(segment.serial) else { continue };
            let order = |(s, end): &(Snapshot, u64)| (s.delivered, s.sent, *end);
            let this = (snapshot, segment.range.end);
            if self.ack.newest.is_none_or(|newest| order(&this) > order(&newest)) {
                self.ack.newest = Some(this);
            }
            if !segment.again {
                learnt = Some(now - snapshot.sent);
            }
        }
        self.rtt = learnt.or(self.rtt);
        learnt
    }

    /// Everything below `una` is acknowledged. `segments` are outstanding; the numbers of their latest transmissions are
    /// `serials`.
    pub(crate) fn forget(&mut self, segments: usize, serials: impl Iterator<Item = u32>) {
        self.snapshots.tidy(segments, serials);
    }

    /// The RTT that the present ACK shows, if its segments give none.
    pub(crate) fn replace_rtt(&mut self, rtt: Option<Span>) {
        self.rtt = rtt;
    }

    /// The RTT that the present ACK shows.
    pub(crate) fn rtt(&self) -> Option<Span> {
        self.rtt
    }

    /// The application has less than a segment to send, although the window has room. Samples are marked until all data in
    /// flight is delivered.
    pub(crate) fn limit(&mut self, in_flight: u64) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// The sample that is reported to users.
    pub(crate) fn latest(&self) -> Option<Interval> {
        self.latest
    }

    /// Whether samples are marked now.
    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited_until > 0
    }

    /// The ACK is processed completely, and gives no sample. What it reports counts in the totals only.
    pub(crate) fn pass_over(&mut self) {
        self.ack = Ack { lost_before: self.lost, ..Ack::default() };
        self.rtt = None;
    }

    /// The ACK is processed completely: its sample.
    pub(crate) fn conclude(&mut self, taken: Taken) -> RateSample {
        let ack = core::mem::take(&mut self.ack);
        self.ack.lost_before = self.lost;
        if self.app_limited_until > 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        if ack.delivered > 0 {
            self.delivered_at = taken.now;
        }
        let newest = ack.newest.map(|(newest, _)| newest);
        let interval = newest.map(|newest| {
            self.first_sent = newest.sent;
            let (sending, arriving) = (newest.sent - newest.first_sent, taken.now - newest.delivered_at);
            Interval {
                prior_delivered: newest.delivered,
                delivered: self.delivered - newest.delivered,
                span: sending.max(arriving),
                app_limited: newest.app_limited,
                tx_in_flight: newest.in_flight,
                lost: self.lost - newest.lost,
            }
        });
        let least = taken.min_rtt.unwrap_or(Span::ZERO);
        let interval = interval.filter(|interval| interval.span > Span::ZERO && interval.span >= least);
        if let Some(new) = interval
            && (!new.app_limited || self.latest.is_none_or(|latest| new.rate() >= latest.rate()))
        {
            self.latest = Some(new);
        }
        RateSample {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            lost: self.lost,
            newly_delivered: ack.delivered,
            newly_lost: self.lost - ack.lost_before,
            interval,
            rtt: self.rtt.take(),
            min_rtt: taken.min_rtt,
            // A receiver delays the ACK of a single segment that is not full.
            maybe_delayed: ack.delivered > 0
                && ack.delivered < taken.mss
                && newest.is_some_and(|newest| newest.delivered + ack.delivered == self.delivered),
            prior_in_flight: ack.prior_in_flight,
            in_flight: taken.in_flight,
            next_departure: taken.next_departure,
            repairing: taken.repairing,
            selective: taken.selective,
        }
    }
}

#[cfg(test)]
#[path = "delivery_rate_tests.rs"]
mod tests;
