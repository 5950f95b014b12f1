//! Probes of the path MTU (RFC 4821): a segment that is longer than the ones before, and whose data is sent again in shorter ones if the
//! path drops it.

/// Maximum number of lost probes; later ones are not recorded.
const MOST: usize = 1 << 12;
/// So many segments in a row have the usual length.
const USUAL: u32 = 2;

#[derive(Clone, Copy, Debug)]
struct Probe {
    at: u64,
    start: i64,
    len: u32,
}

/// The probes of one sender.
#[derive(Debug, Default)]
pub(in crate::diagnosis) struct Probes {
    /// The length of the latest segments, and how many of them in a row had it.
    length: u32,
    same: u32,
    /// The latest length that enough of them had.
    usual: u32,
    latest: Option<Probe>,
    /// The position of the probe that is missing, and when it left.
    missing: Option<(i64, u64)>,
    /// From when until when one was missing, in nanoseconds since the begin.
    lost: Vec<(u64, u64)>,
}

impl Probes {
    /// The latest length that segments with new data had in a row; 0 without one.
    pub(in crate::diagnosis) const fn usual(&self) -> u32 {
        self.usual
    }

    /// New data of `len` bytes at `start`. Longer than `most` are several segments that the network card divides.
    pub(in crate::diagnosis) fn note_sent(&mut self, at: u64, (start, len): (i64, u32), most: u32) {
        let longer = len > self.length && len <= most && self.same >= USUAL;
        let again = self.latest.is_some_and(|latest| latest.len == len);
        if longer && !again {
            self.latest = Some(Probe { at, start, len });
            return;
        }
        self.same = if len == self.length { self.same.saturating_add(1) } else { 1 };
        self.length = len;
        if self.same >= USUAL {
            self.usual = len;
        }
    }

    /// `len` bytes at `start` are sent again.
    pub(in crate::diagnosis) fn note_resent(&mut self, (start, len): (i64, u32)) {
        if let Some(probe) = self.latest.take_if(|probe| probe.start == start && len < probe.len) {
            self.missing.get_or_insert((start, probe.at));
        }
    }

    /// Everything below `ack` is acknowledged at `at`.
    pub(in crate::diagnosis) fn note_ack(&mut self, at: u64, ack: i64) {
        if let Some((_, from)) = self.missing.take_if(|(start, _)| ack > *start)
            && self.lost.len() < MOST
        {
            self.lost.push((from, at));
        }
    }

    /// Whether a probe was missing at `at`.
    pub(in crate::diagnosis) fn is_missing(&self, at: u64) -> bool {
        let index = self.lost.partition_point(|lost| lost.1 <= at);
        self.lost.get(index).is_some_and(|lost| lost.0 <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 1000 bytes each 10 ns, and one of `len` bytes at 20 ns; its data is sent again in segments of `resent` bytes at
    /// 60 ns and acknowledged at 80 ns.
    fn missing(len: u32, resent: u32, most: u32) -> Vec<(u64, u64)> {
        let mut probes = Probes::default();
        probes.note_sent(0, (0, 1000), most);
        probes.note_sent(10, (1000, 1000), most);
        probes.note_sent(20, (2000, len), most);
        probes.note_sent(30, (2000 + i64::from(len), 1000), most);
        probes.note_ack(50, 2000);
        probes.note_resent((2000, resent));
        probes.note_ack(80, 2000 + i64::from(len));
        probes.lost
    }

    #[test]
    fn a_longer_segment_that_is_sent_again_in_shorter_ones_was_a_probe() {
        assert_eq!(missing(1400, 1000, 1460), [(20, 80)]);
        assert_eq!(missing(1400, 1400, 1460), [], "any segment may be lost");
        assert_eq!(missing(1000, 500, 1460), [], "it has the usual length");
        assert_eq!(missing(4000, 1000, 1460), [], "the network card divides it");
    }

    #[test]
    fn a_probe_is_missing_from_when_it_left_until_its_data_is_acknowledged() {
        let probes = Probes { lost: vec![(20, 80), (100, 130)], ..Probes::default() };
        let at = [10, 20, 79, 80, 110, 130].map(|at| probes.is_missing(at));
        assert_eq!(at, [false, true, true, false, true, false]);
    }
}
