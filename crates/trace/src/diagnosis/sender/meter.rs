//! What was sent, acknowledged and measured, in slices of a fraction of a round trip.

/// Maximum number of slices; above that, neighbours are joined.
const MOST: usize = 1 << 13;

/// What the time since the last segment shows of the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::diagnosis) enum Since {
    Unknown,
    /// It had pauses of so many nanoseconds, if nobody else has used it.
    Pause(u64),
    /// It has transmitted all the time: so many packets of others.
    Others(u16),
}

/// Counts and measurements of a short time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::diagnosis) struct Slice {
    /// Its end, in nanoseconds since the begin of the connection.
    pub(in crate::diagnosis) until: u64,
    /// The packet with which it began, as Wireshark numbers them.
    pub(in crate::diagnosis) packet: u64,
    /// New bytes sent.
    pub(in crate::diagnosis) sent: u32,
    /// Bytes acknowledged or reported by SACK for the first time.
    pub(in crate::diagnosis) delivered: u32,
    /// The most bytes outstanding.
    pub(in crate::diagnosis) flight: u32,
    /// Bytes outstanding during a pause; 0 elsewhere.
    pub(in crate::diagnosis) outstanding: u32,
    /// The latest window, in bytes.
    pub(in crate::diagnosis) window: u32,
    /// Least round trip from here to the receiver in nanoseconds, plus one; 0 without a sample.
    pub(in crate::diagnosis) ahead: u32,
    /// Least round trip from here to the sender, likewise.
    pub(in crate::diagnosis) behind: u32,
    /// Segments with new data.
    pub(in crate::diagnosis) segments: u16,
    /// Those that followed neither an ACK nor another segment at once.
    pub(in crate::diagnosis) unprompted: u16,
    /// Those that came at the pace of their sender, without an ACK.
    pub(in crate::diagnosis) paced: u16,
    /// Those shorter than the largest.
    pub(in crate::diagnosis) short: u16,
    /// Retransmissions.
    pub(in crate::diagnosis) resent: u16,
    /// ACKs.
    pub(in crate::diagnosis) acks: u16,
    /// ACKs of new data that made the window smaller.
    pub(in crate::diagnosis) shrinks: u16,
    /// Segments with data in the other direction.
    pub(in crate::diagnosis) answers: u16,
    /// Segments first sent in this slice, or before it, that were retransmitted later.
    pub(in crate::diagnosis) lost: u16,
    /// The highest rate of a train of segments, in kilobytes per second; 0 without one.
    pub(in crate::diagnosis) train: u32,
    /// The same for the segments themselves, and not for their ACKs.
    pub(in crate::diagnosis) arrivals: u32,
    /// Segments since the one before which the link has transmitted without a pause, how many packets of others, and segments before
    /// which it may have had one.
    pub(in crate::diagnosis) together: u16,
    pub(in crate::diagnosis) between: u16,
    pub(in crate::diagnosis) apart: u16,
    /// How long its pauses before segments were, in nanoseconds.
    pub(in crate::diagnosis) paused: u32,
    /// ACKs that report congestion marks.
    pub(in crate::diagnosis) marks: u16,
    /// Position after the last byte sent so far.
    pub(in crate::diagnosis) end: i64,
}

/// The smaller of two measurements; 0 means no measurement.
fn least(a: u32, b: u32) -> u32 {
    match (a, b) {
        (0, x) | (x, 0) => x,
        (a, b) => a.min(b),
    }
}

impl Slice {
    fn join(&mut self, next: &Self) {
        self.until = next.until;
        self.sent = self.sent.saturating_add(next.sent);
        self.delivered = self.delivered.saturating_add(next.delivered);
        self.flight = self.flight.max(next.flight);
        self.window = next.window;
        self.ahead = least(self.ahead, next.ahead);
        self.behind = least(self.behind, next.behind);
        self.segments = self.segments.saturating_add(next.segments);
        self.unprompted = self.unprompted.saturating_add(next.unprompted);
        self.paced = self.paced.saturating_add(next.paced);
        self.short = self.short.saturating_add(next.short);
        self.resent = self.resent.saturating_add(next.resent);
        self.shrinks = self.shrinks.saturating_add(next.shrinks);
        self.acks = self.acks.saturating_add(next.acks);
        self.answers = self.answers.saturating_add(next.answers);
        self.lost = self.lost.saturating_add(next.lost);
        self.train = self.train.max(next.train);
        self.arrivals = self.arrivals.max(next.arrivals);
        self.together = self.together.saturating_add(next.together);
        self.between = self.between.saturating_add(next.between);
        self.apart = self.apart.saturating_add(next.apart);
        self.paused = self.paused.saturating_add(next.paused);
        self.marks = self.marks.saturating_add(next.marks);
        self.end = next.end;
    }

    /// A segment came; what the link has done since the one before.
    pub(in crate::diagnosis) fn note_link(&mut self, since: Since) {
        let busy = matches!(since, Since::Others(_));
        self.together = self.together.saturating_add(u16::from(busy));
        self.apart = self.apart.saturating_add(u16::from(!busy));
        match since {
            Since::Others(others) => self.between = self.between.saturating_add(others),
            Since::Pause(ns) => {
                self.paused = self.paused.saturating_add(u32::try_from(ns).unwrap_or(u32::MAX));
            }
            Since::Unknown => {}
        }
    }

    /// Records a round trip from here to the receiver.
    pub(in crate::diagnosis) fn note_ahead(&mut self, ns: u64) {
        self.ahead = least(self.ahead, u32::try_from(ns + 1).unwrap_or(u32::MAX));
    }

    /// Records a round trip from here to the sender.
    pub(in crate::diagnosis) fn note_behind(&mut self, ns: u64) {
        self.behind = least(self.behind, u32::try_from(ns + 1).unwrap_or(u32::MAX));
    }

    /// A longer round trip from here to the sender counts as one of so many nanoseconds.
    pub(in crate::diagnosis) fn permit_behind(&mut self, ns: u64) {
        self.behind = self.behind.min(u32::try_from(ns + 1).unwrap_or(u32::MAX));
    }
}

/// The slices of one direction.
#[derive(Debug, Default)]
pub(in crate::diagnosis) struct Meter {
    slices: Vec<Slice>,
    /// The slice that is being filled.
    now: Slice,
    began: u64,
    /// How long a slice lasts at least, in nanoseconds.
    length: u64,
    /// Bytes outstanding after the latest event: in a pause, they stay so.
    outstanding: u32,
}

impl Meter {
    /// Sets how long a slice lasts at least.
    pub(in crate::diagnosis) fn set_length(&mut self, ns: u64) {
        self.length = self.length.max(ns);
    }

    /// So many bytes are outstanding from now on.
    pub(in crate::diagnosis) fn set_outstanding(&mut self, bytes: u32) {
        self.outstanding = bytes;
    }

    /// The slice for an event at `at`.
    #[inline]
    pub(in crate::diagnosis) fn at(&mut self, at: u64, packet: u64) -> &mut Slice {
        if at >= self.began + self.length.max(1) {
            self.close(at, packet);
        }
        &mut self.now
    }

    fn close(&mut self, at: u64, packet: u64) {
        // A pause is a separate slice: earlier counts belong to its begin.
        let end = self.began + self.length.max(1);
        let last = Slice { until: at.min(end), ..self.now };
        if last.until > self.began {
            self.slices.push(last);
        }
        if at > end {
            self.slices.push(Slice {
                until: at,
                packet,
                window: last.window,
                end: last.end,
                outstanding: self.outstanding,
                ..Slice::default()
            });
        }
        self.began = at;
        self.now = Slice { packet, window: last.window, end: last.end, ..Slice::default() };
        if self.slices.len() > MOST {
            self.join_neighbours();
        }
    }

    /// The slice in which the byte at `position` was sent; their number if that is the present one. Searched from the end: most
    /// questions are about the last round trip.
    fn index_of(&self, position: i64) -> usize {
        let sent_before = |slice: &Slice| slice.end <= position;
        let (mut until, mut step) = (self.slices.len(), 1);
        while until > 0 {
            let from = until.saturating_sub(step);
            if from == 0 || sent_before(&self.slices[from]) {
                return from + self.slices[from..until].partition_point(sent_before);
            }
            (until, step) = (from, 2 * step);
        }
        0
    }

    /// The segment at `start`, which was sent before, did not arrive.
    pub(in crate::diagnosis) fn note_lost(&mut self, start: i64) {
        let index = self.index_of(start);
        let slice = self.slices.get_mut(index).unwrap_or(&mut self.now);
        slice.lost = slice.lost.saturating_add(1);
    }

    /// When the byte at `position` was sent: the end of its slice. `None` if that is the present one.
    pub(in crate::diagnosis) fn sent_at(&self, position: i64) -> Option<u64> {
        let index = self.index_of(position);
        self.slices.get(index).map(|slice| slice.until)
    }

    /// When the byte at `position` was sent: the middle of its slice. `None` if that is the present one.
    pub(in crate::diagnosis) fn sent_about(&self, position: i64) -> Option<u64> {
        let index = self.index_of(position);
        let began = index.checked_sub(1).map_or(0, |before| self.slices[before].until);
        self.slices.get(index).map(|slice| u64::midpoint(began, slice.until))
    }

    #[cold]
    fn join_neighbours(&mut self) {
        self.length = self.length.max(1) * 2;
        let all = core::mem::take(&mut self.slices);
        for pair in all.chunks(2) {
            let mut first = pair[0];
            if let Some(second) = pair.get(1) {
                first.join(second);
            }
            self.slices.push(first);
        }
    }

    /// All slices, the last one until `end`.
    pub(in crate::diagnosis) fn finish(mut self, end: u64) -> Vec<Slice> {
        if end > self.began {
            self.now.until = end;
            self.slices.push(self.now);
        }
        self.slices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_a_slice_of_its_own() {
        let mut meter = Meter::default();
        meter.set_length(10);
        meter.at(0, 1).sent += 1;
        meter.at(9, 2).sent += 1;
        meter.at(50, 3).sent += 1;
        let slices = meter.finish(55);
        let seen: Vec<_> = slices.iter().map(|slice| (slice.until, slice.sent, slice.packet)).collect();
        assert_eq!(seen, [(10, 2, 0), (50, 0, 3), (55, 1, 3)]);
    }

    #[test]
    fn the_slice_of_a_byte_is_the_same_from_either_end() {
        for count in 0..40 {
            let mut meter = Meter::default();
            meter.set_length(10);
            for n in 0..count {
                meter.at(10 * n, n).end = 100 * (n as i64 / 3);
            }
            for position in -1..1500 {
                let wanted = meter.slices.partition_point(|slice| slice.end <= position);
                assert_eq!(meter.index_of(position), wanted, "byte {position}, {count} slices");
            }
        }
    }

    #[test]
    fn what_is_outstanding_stays_so_in_a_pause() {
        let mut meter = Meter::default();
        meter.set_length(10);
        meter.at(0, 1).end = 3000;
        meter.set_outstanding(3000);
        meter.at(50, 2).acks += 1;
        assert_eq!(meter.sent_about(2000), Some(5));
        let flights: Vec<u32> = meter.finish(55).iter().map(|slice| slice.outstanding).collect();
        assert_eq!(flights, [0, 3000, 0]);
    }

    #[test]
    fn a_long_connection_needs_bounded_memory_and_keeps_its_sums() {
        let mut meter = Meter::default();
        meter.set_length(3);
        for n in 0..1_000_000 {
            meter.at(n, n).sent += 1;
        }
        let slices = meter.finish(1_000_000);
        assert!(slices.len() <= MOST + 1);
        assert_eq!(slices.iter().map(|slice| u64::from(slice.sent)).sum::<u64>(), 1_000_000);
    }
}
