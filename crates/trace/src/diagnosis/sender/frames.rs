//! Frames above segmentation offload: several segments, which the network card divides.

use crate::diagnosis::sender::SenderView;

impl SenderView {
    /// Data with `len` bytes at `start` in one packet, with so many bytes of options.
    ///
    /// Beside the sender, the card sends the segments of a frame back to back: each counts as one that left then. Elsewhere a frame was
    /// joined from segments that may have come one after the other, so it stays one.
    pub(in crate::diagnosis) fn note_frame(
        &mut self,
        at: u64,
        packet: u64,
        (start, len): (i64, u32),
        options: u32,
    ) {
        // As long as the MSS beside its options: not two segments, but one of a sender that does not subtract options from the MSS.
        let agreed = self.agreed();
        let options = if agreed.saturating_sub(options) < len && len <= agreed { 0 } else { options };
        self.most = if self.mss > options { self.mss - options } else { u32::MAX };
        self.totals.offload |= len > self.largest();
        let mut clocked = None;
        for (start, len) in self.segments_of((start, len)) {
            self.note_data(at, packet, start, start + i64::from(len), len);
            clocked.get_or_insert(self.clocked);
        }
        // What the frame waited for is what its first segment waited for.
        self.clocked = clocked.unwrap_or(self.clocked);
    }

    /// The payload of the longest segments that both ends permit; 0 if that is not known.
    pub(in crate::diagnosis) fn permitted(&self) -> u32 {
        let options = self.mss.saturating_sub(self.most);
        self.most.min(self.own_mss.saturating_sub(options))
    }

    /// The lesser MSS of both ends, of which a sender subtracts its options (RFC 6691, section 2); `u32::MAX` if it is not known.
    fn agreed(&self) -> u32 {
        [self.mss, self.own_mss].into_iter().filter(|&mss| mss > 0).min().unwrap_or(u32::MAX)
    }

    /// The payload of the longest segments: a sender's own link may permit less than its peer. `u32::MAX` if it is not known.
    fn largest(&self) -> u32 {
        match self.permitted() {
            0 => self.most,
            permitted => permitted,
        }
    }

    /// The segments of the data at `start`. Data without payload, as a FIN, is one.
    pub(in crate::diagnosis) fn segments_of(
        &self,
        (start, len): (i64, u32),
    ) -> impl Iterator<Item = (i64, u32)> + use<> {
        let most = if self.is_beside_sender() { self.largest() } else { u32::MAX };
        let count = len.div_ceil(most).max(1);
        (0..count).map(move |n| (start + i64::from(n * most), most.min(len - n * most)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of 3500 bytes, each with 12 bytes of options, to a peer that permits 1012: how often it counts as new data.
    fn view(behind_ms: u64, mss: u32) -> SenderView {
        view_with(behind_ms, mss, mss)
    }

    /// The same of a sender that permits so much itself.
    fn view_with(behind_ms: u64, mss: u32, own: u32) -> SenderView {
        let mut view = SenderView::new(true);
        view.set_mss(mss);
        view.set_own_mss(own);
        view.note_ahead(0, 40_000_000);
        view.note_behind(0, behind_ms * 1_000_000, 1);
        view.opens(0);
        view.note_frame(0, 1, (0, 3500), 12);
        view
    }

    #[test]
    fn beside_its_sender_a_frame_is_several_segments_of_the_size_that_options_leave() {
        let beside = view(0, 1012);
        assert_eq!((beside.totals.segments, beside.totals.segment, beside.totals.offload), (4, 1000, true));
        let segments: Vec<(i64, u32)> = beside.segments_of((5000, 2400)).collect();
        assert_eq!(segments, [(5000, 1000), (6000, 1000), (7000, 400)]);
        assert_eq!(beside.segments_of((5000, 0)).count(), 1);
        let jumbo = view_with(0, 8960, 1012);
        assert_eq!((jumbo.totals.segments, jumbo.totals.segment, jumbo.totals.offload), (4, 1000, true));
    }

    #[test]
    fn a_segment_as_long_as_the_mss_beside_options_is_one() {
        for (mss, own) in [(1012, 1012), (8960, 1012), (1012, 8960), (1012, 0)] {
            let mut view = view_with(0, mss, own);
            let before = view.totals.segments;
            view.totals.offload = false;
            view.note_frame(1_000_000, 2, (3500, 1012), 12);
            assert_eq!((view.totals.segments - before, view.totals.offload), (1, false), "{mss} {own}");
            view.note_frame(2_000_000, 3, (4512, 1013), 12);
            assert_eq!((view.totals.segments - before, view.totals.offload), (3, true), "{mss} {own}");
        }
    }

    #[test]
    fn a_frame_that_waited_for_data_shows_no_round_trip_to_its_sender() {
        let mut view = view(0, 1012);
        assert!(!view.clocked, "nothing was outstanding");
        view.note_frame(1_000_000, 2, (3500, 3000), 12);
        assert!(view.clocked);
    }

    #[test]
    fn elsewhere_or_if_the_size_of_segments_is_not_known_a_frame_stays_one() {
        let far = view(40, 1012);
        assert_eq!((far.totals.segments, far.totals.segment, far.totals.offload), (1, 1000, true));
        let unknown = view(0, 0);
        assert_eq!(
            (unknown.totals.segments, unknown.totals.segment, unknown.totals.offload),
            (1, 3500, false)
        );
    }
}
