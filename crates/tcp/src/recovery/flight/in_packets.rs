//! A sender whose cwnd counts packets, not bytes (Linux, `tcp_packets_in_flight()`): a short segment takes as much of cwnd as a
//! full one, and opens it as much.
//!
//! Windows and amounts stay in bytes. To what is delivered, sent and in the network comes the padding that makes each segment
//! a full one. While short segments are outstanding, the state is not quiet, so the fast paths need not know of them.

use super::ShortSegments;
use crate::ranges::Range;
use crate::recovery::{LossRecovery, Phase};

/// What is left of a segment.
struct Rest {
    range: Range,
    /// The bytes that are acknowledged.
    missing: u64,
}

impl LossRecovery {
    fn short(&self) -> Option<&ShortSegments> {
        Some(&self.rack()?.short)
    }

    /// The padding of the segments in the network.
    pub(crate) fn padding_in_network(&self) -> u64 {
        let short = self.short().map_or(0, ShortSegments::in_network);
        short + self.cut_off().filter(|rest| self.is_in_network(rest.range)).map_or(0, |rest| rest.missing)
    }

    /// The padding of all outstanding segments.
    pub(crate) fn padding_outstanding(&self) -> u64 {
        self.short().map_or(0, ShortSegments::outstanding) + self.cut_off().map_or(0, |rest| rest.missing)
    }

    /// What is left of the first segment, if a part of it is acknowledged: it stays a packet (`tcp_trim_head()`).
    fn cut_off(&self) -> Option<Rest> {
        if !self.loss.has_short {
            return None;
        }
        let flight = &self.log.read()?.flight;
        let (start, end) = (flight.edge(), flight.front()?.range.end);
        Some(Rest { range: Range::new(start, end), missing: start - flight.cut_from()? })
    }

    /// Whether a segment is neither lost nor reported.
    fn is_in_network(&self, segment: Range) -> bool {
        let is_lost = self.rack().is_some_and(|rack| rack.repairs.lost.covered_within(segment) > 0);
        !is_lost && self.loss.sacked_within(segment) == 0
    }

    /// An ACK acknowledges a part of a segment.
    pub(crate) fn note_cut_off(&mut self) {
        self.loss.trouble().has_short = true;
    }

    /// The padding of the segments in `range` that were not reported yet.
    pub(crate) fn padding_unreported(&self, range: Range) -> u64 {
        self.short().map_or(0, |short| short.unreported_in(range))
    }

    /// A segment is sent, or sent again; a full one has `full` bytes.
    pub(crate) fn note_short(&mut self, range: Range, full: u64, again: bool) {
        let padding = full.saturating_sub(range.len());
        if padding == 0 && !again {
            return;
        }
        let rest = if again { self.rest_behind(range) } else { None };
        let is_open = again && self.loss.phase == Phase::Open;
        let Some(rack) = self.rack_for_change() else { return };
        if padding == 0 && rest.is_none() && rack.short.is_empty() {
            return;
        }
        if again {
            let is_lost = rest.is_some_and(|rest| rack.repairs.lost.covered_within(rest) > 0);
            rack.short.add_again(range, padding);
            if let Some(rest) = rest {
                rack.short.cut_off(rest, full.saturating_sub(rest.len()), is_lost);
            }
        } else {
            rack.short.add(range, padding);
        }
        let is_probe = is_open && rack.probe.is_resend();
        if let Some(prr) = rack.prr_of_sent(is_probe) {
            prr.sent(padding);
        }
        self.note_whether_short();
    }

    /// What remains of a segment of which `range` is sent again: it is a segment of its own from now on (`tcp_fragment()`).
    fn rest_behind(&self, range: Range) -> Option<Range> {
        let whole = self.segment_at(range.end - 1)?;
        (whole.end > range.end).then(|| Range::new(range.end, whole.end))
    }

    /// Whether short segments are outstanding may have changed.
    pub(in crate::recovery) fn note_whether_short(&mut self) {
        let is_cut = self.log.read().is_some_and(|departures| departures.flight.cut_from().is_some());
        let some = is_cut || self.rack().is_some_and(|rack| !rack.short.is_empty());
        if some {
            self.loss.trouble().has_short = true;
        } else if let Some(loss) = self.loss.known() {
            loss.has_short = false;
        }
    }
}
