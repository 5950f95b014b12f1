//! One direction of a connection: the data of one side, and the ACKs of the other side.

mod convicted;
pub(super) mod delivered;
pub(super) mod edges;
mod evidence;
pub(super) mod gaps;
mod lone;
pub(super) mod passed;
pub(super) mod pieces;
pub(super) mod reported;

use crate::conversation::{Side, StreamFields};
use crate::follow::report::StreamReport;
use crate::follow::retransmission::probes::{Probe, probe};
use crate::follow::retransmission::reordering::{Late, judge_late};
use crate::follow::retransmission::spurious::{Proof, Suspect, Suspects, eifel, is_d_sack};
use crate::follow::retransmission::{
    Cause, Evidence, Phase, Verdict, is_reported_itself, is_silent, judge, plus,
};
use crate::follow::rtt::estimate::Estimate;
use crate::follow::rtt::turnaround::Turnaround;
use crate::follow::rtt::{Covered, by_karn, by_timestamps, sending_with};
use crate::follow::stream::delivered::Delivered;
use crate::follow::stream::edges::{Asked, Edges, Repair};
use crate::follow::stream::gaps::{Gap, Gaps};
use crate::follow::stream::lone::Lone;
use crate::follow::stream::passed::Passed;
use crate::follow::stream::pieces::{Piece, Pieces, Sending};
use crate::follow::stream::reported::Reported;
use crate::follow::watch::{Event, EventContext, Flight, Method, RttSample, Watch};
use crate::stamp::Stamp;
use netspurt_tcp::segment::{Ecn, Flags, Segment};
use netspurt_tcp::time::Span;

/// The state of a stream.
#[derive(Debug)]
pub(super) struct Stream {
    side: Side,
    pub(super) report: StreamReport,
    /// The position after the last byte seen, and the first unacknowledged position; `None` before the first segment.
    edges: Option<Edges>,
    pieces: Pieces,
    gaps: Gaps,
    reported: Reported,
    delivered: Delivered,
    suspects: Suspects,
    /// RTT from the capture point to the receiver.
    pub(super) estimate: Estimate,
    /// From here to the sender and back, where data echoes the timestamps of ACKs.
    turnaround: Turnaround,
    repair: Repair,
    /// Whether a timer has ended the latest silence.
    lone: Lone,
    /// How far its retransmissions have come.
    passed: Passed,
    duplicate_acks: u32,
    /// When a loss at the left edge was reported.
    known: Option<Stamp>,
    /// The last loss report: its time, and the missing range.
    reported_last: Option<Asked>,
    /// The range that the latest NAK requests.
    asked: Option<Asked>,
    window: Option<u32>,
    /// When the receiver last sent something that could cause a retransmission.
    news: Stamp,
    /// Time of the last retransmission.
    resent_at: Stamp,
    /// Whether SACK has reported anything.
    sacks: bool,
    /// Whether its SYN was captured.
    opened: bool,
    /// From the SYN to its acknowledgment.
    handshake: Option<Span>,
    /// Position of the FIN.
    fin: Option<i64>,
    told_flight: u64,
}

impl Stream {
    pub(super) fn new(side: Side) -> Self {
        Self {
            side,
            report: StreamReport::default(),
            edges: None,
            pieces: Pieces::default(),
            gaps: Gaps::default(),
            reported: Reported::default(),
            delivered: Delivered::default(),
            suspects: Suspects::default(),
            estimate: Estimate::default(),
            turnaround: Turnaround::default(),
            repair: Repair::default(),
            lone: Lone::default(),
            passed: Passed::default(),
            duplicate_acks: 0,
            known: None,
            reported_last: None,
            asked: None,
            window: None,
            news: Stamp::default(),
            resent_at: Stamp::default(),
            sacks: false,
            opened: false,
            handshake: None,
            fin: None,
            told_flight: 0,
        }
    }

    /// Number of stored records, about fifty bytes each.
    #[inline]
    pub(super) fn load(&self) -> usize {
        self.pieces.len() + self.gaps.len() + self.suspects.len()
    }

    /// Whether a FIN was sent and acknowledged.
    pub(super) fn is_finished(&self) -> bool {
        self.fin.zip(self.edges).is_some_and(|(fin, edges)| edges.una > fin)
    }

    /// The RTT from its SYN to the acknowledgment of the SYN.
    pub(super) const fn handshake(&self) -> Option<Span> {
        self.handshake
    }

    /// Whether a SYN was captured.
    pub(super) const fn is_opened(&self) -> bool {
        self.opened
    }

    /// Whether a FIN was sent.
    pub(super) const fn is_closing(&self) -> bool {
        self.fin.is_some()
    }

    /// Processes a segment of the sender. `behind` is the RTT from the capture point to the sender.
    #[inline]
    pub(super) fn process_data<W: Watch>(
        &mut self,
        fields: &StreamFields,
        segment: &Segment,
        sending: Sending,
        behind: &Estimate,
        scene: &mut EventContext<'_, W>,
    ) {
        self.report.packets += 1;
        let (start, len) = (fields.seq, segment.seq_len());
        if let Some(Edges { una, next }) = self.edges
            && !segment.flags.any(Flags::SYN | Flags::FIN)
            && let Some(probe) = probe(start, len, una, next, self.window)
        {
            self.process_probe(probe, start, len, scene);
            if probe == Probe::KeepAlive {
                return;
            }
        }
        if len == 0 {
            return;
        }
        self.report.marked += u64::from(segment.ecn == Ecn::Ce);
        if let Some(stamps) = segment.options.timestamps
            && let Some(span) = self.turnaround.note_echo(stamps.echo, sending.at)
        {
            scene.watch.turnaround(scene.id, self.side, sending.at, span);
        }
        let behind = &behind.at_least(self.turnaround.least());
        let end = start + i64::from(len);
        self.note_segment(segment, start, end, sending.at);
        let Some(Edges { next, .. }) = self.edges else {
            self.edges = Some(Edges { una: start, next: end });
            self.pieces.push(Piece::new(start, end, sending));
            return self.report_flight(scene);
        };
        if start < next {
            self.process_again(start, end.min(next), segment, sending, behind, scene);
        }
        if end > next {
            self.process_new(start.max(next), end, sending, behind);
        }
        self.report_flight(scene);
    }

    fn note_segment(&mut self, segment: &Segment, start: i64, end: i64, at: Stamp) {
        let report = &mut self.report;
        report.segments += 1;
        report.bytes += u64::from(segment.payload.len);
        report.segment_most = report.segment_most.max(segment.payload.len);
        if segment.payload.len > 0 {
            report.data_from.get_or_insert(at);
        }
        if segment.flags.has(Flags::SYN) {
            self.note_offer(segment);
        }
        if segment.flags.has(Flags::FIN) {
            self.fin = Some(end - 1);
        }
        debug_assert!(start < end);
    }

    fn note_offer(&mut self, syn: &Segment) {
        self.opened = true;
        self.report.mss = syn.options.mss;
        self.report.window_scale = syn.options.window_scale;
        self.report.sack_permitted = syn.options.sack_permitted;
        self.report.timestamps = syn.options.timestamps.is_some();
    }

    fn process_probe<W: Watch>(
        &mut self,
        probe: Probe,
        start: i64,
        len: u32,
        scene: &mut EventContext<'_, W>,
    ) {
        let event = match probe {
            Probe::Window => {
                self.report.window_probes += 1;
                Event::WindowProbe
            }
            Probe::KeepAlive => {
                self.report.keep_alives += 1;
                Event::KeepAlive
            }
        };
        scene.report(self.side, start, len, event);
    }

    /// Processes new data.
    #[inline]
    fn process_new(&mut self, start: i64, end: i64, sending: Sending, behind: &Estimate) {
        let Some(edges) = &mut self.edges else { return };
        let skips = start > edges.next;
        if skips {
            let order = self.report.segments;
            self.gaps.open(Gap { start: edges.next, end: start, opener: sending, order });
        }
        let newest = self.pieces.newest().map_or(self.resent_at, |newest| newest.max(self.resent_at));
        let round = plus(self.estimate.smoothed(), behind.smoothed());
        if let Some(since) = self.lone.note(newest, sending.at, skips, round)
            && self.repair.phase == Phase::Open
        {
            let before = self.repair.before;
            self.repair = Repair { phase: Phase::Timeout, since, until: start, before, ..Repair::default() };
        }
        let Some(edges) = &mut self.edges else { return };
        edges.next = end;
        self.pieces.push(Piece::new(start, end, sending));
    }

    /// Processes data that is not new: reordered, copied, or retransmitted.
    #[cold]
    fn process_again<W: Watch>(
        &mut self,
        start: i64,
        end: i64,
        segment: &Segment,
        sending: Sending,
        behind: &Estimate,
        scene: &mut EventContext<'_, W>,
    ) {
        // The byte of a window probe is retransmitted with the data that follows it.
        let probed = end - start == 1 && !segment.flags.any(Flags::SYN | Flags::FIN);
        if probed && (segment.payload.len > 1 || self.window == Some(0)) {
            return self.pieces.send_again(start, end, sending);
        }
        if let Some(&gap) = self.gaps.around(start, end) {
            return self.fills_gap(gap, (start, end), segment, sending, behind, scene);
        }
        let known = self.pieces.find(start).copied();
        let last = known.map(|piece| piece.last);
        if let Some(last) = last.filter(|last| last.left_after(&sending).is_some()) {
            return self.comes_late(start, end, &sending, last, scene);
        }
        let opening = segment.flags.has(Flags::SYN);
        let evidence = self.evidence_again(known.as_ref(), (start, end), opening, sending, behind);
        let len = (end - start) as u32;
        let cause = match judge(&evidence) {
            Verdict::Copied => {
                self.report.duplicated += 1;
                return scene.report(self.side, start, len, Event::Duplicated);
            }
            Verdict::Resent(cause) => cause,
        };
        self.note_resent(cause, segment, sending.at);
        self.repairs(cause, &evidence, sending.at);
        // A rescue retransmission is out of order.
        if !evidence.rescue {
            self.passed.note(self.repair.since, (start, sending.at));
        }
        self.repair.rescued |= evidence.rescue && cause == Cause::Fast;
        self.gaps.close(start, end);
        self.pieces.send_again(start, end, sending);
        scene.report(self.side, start, len, Event::Retransmitted { cause, after: evidence.after });
        if evidence.arrived {
            self.report.spurious += 1;
            scene.report(self.side, start, len, Event::Spurious { proof: Proof::Acknowledged });
        } else {
            self.suspects.add(Suspect { start, end });
        }
    }

    /// Processes data that fills a gap: it was reordered, or its original was lost before the capture point.
    fn fills_gap<W: Watch>(
        &mut self,
        gap: Gap,
        (start, end): (i64, i64),
        segment: &Segment,
        sending: Sending,
        behind: &Estimate,
        scene: &mut EventContext<'_, W>,
    ) {
        let opening = segment.flags.has(Flags::SYN);
        let evidence = self.evidence(start, end, Some(&gap.opener), opening, behind, sending.at);
        let evidence = Evidence { unseen: true, by_clock: sending.left_after(&gap.opener), ..evidence };
        self.gaps.close(start, end);
        let (resent, event) = match judge_late(&evidence, &sending, &gap.opener) {
            Late::Overtaken => {
                let extent = self.report.segments - gap.order;
                self.report.reordered += 1;
                self.report.reordering_extent = self.report.reordering_extent.max(extent);
                (false, Event::Reordered { extent, late: sending.at.since(gap.opener.at) })
            }
            Late::Resent(cause) => {
                self.note_resent(cause, segment, sending.at);
                self.repairs(cause, &evidence, sending.at);
                self.passed.note(self.repair.since, (start, sending.at));
                self.suspects.add(Suspect { start, end });
                (true, Event::Retransmitted { cause, after: None })
            }
        };
        self.pieces.fill(Piece { resent, ..Piece::new(start, end, sending) });
        scene.report(self.side, start, (end - start) as u32, event);
    }

    fn note_resent(&mut self, cause: Cause, segment: &Segment, at: Stamp) {
        self.resent_at = at;
        self.report.retransmitted[cause as usize] += 1;
        self.report.retransmitted_bytes += u64::from(segment.payload.len);
    }

    /// Updates the sender's recovery after a retransmission.
    fn repairs(&mut self, cause: Cause, evidence: &Evidence, at: Stamp) {
        // Some senders go on to retransmit, although they could know that their timeout was needless.
        self.repair.needless &= is_reported_itself(evidence);
        let until = self.edges.map_or(0, |edges| edges.next);
        let phase = match (cause, self.repair.phase) {
            (Cause::Timeout, Phase::Open | Phase::Fast) => Phase::Timeout,
            // Another timeout.
            (Cause::Timeout, Phase::Timeout) if evidence.again || is_silent(evidence) => Phase::Timeout,
            (Cause::Fast | Cause::Nak, Phase::Open) | (Cause::Fast, Phase::Timeout) => Phase::Fast,
            _ => return,
        };
        self.repair = Repair { phase, since: at, until, before: (Phase::Open, at), ..Repair::default() };
    }

    /// Processes a segment of the receiver.
    #[inline]
    pub(super) fn process_ack<W: Watch>(
        &mut self,
        fields: &StreamFields,
        segment: &Segment,
        scene: &mut EventContext<'_, W>,
    ) {
        let Some(ack) = fields.ack.filter(|_| !segment.flags.has(Flags::RST)) else { return };
        if let Some(stamps) = segment.options.timestamps {
            self.turnaround.note_ack(stamps.value, scene.at);
        }
        let Edges { una, next } = *self.edges.get_or_insert(Edges { una: ack, next: ack });
        let mut news = false;
        if !segment.options.sack.is_empty() {
            self.sacks = true;
            news = self.process_sack(ack, segment, scene);
        }
        if ack > una {
            let echo = segment.options.timestamps.map(|stamps| stamps.echo);
            self.advance(ack, echo, scene);
            news = true;
        } else if ack == una && next > una && is_bare(segment) && (news || self.window == Some(fields.window))
        {
            self.duplicate_acks += 1;
            self.report.duplicate_acks += 1;
            news = true;
            scene.report(self.side, ack, 0, Event::DuplicateAck { count: self.duplicate_acks });
        }
        if let Some(nak) = fields.nak {
            let count = i64::from(segment.options.nak.map_or(0, |nak| nak.count));
            let end = nak + count * i64::from(self.report.segment_most);
            self.asked = Some(Asked { at: scene.at, start: nak, end });
            news = true;
        }
        if news {
            self.news = scene.at;
            let reported =
                self.duplicate_acks >= 3 || self.reported.count() > 2 * u64::from(self.report.segment_most);
            self.known = self.known.filter(|_| reported && ack <= una).or(reported.then_some(scene.at));
            if reported {
                let start = ack.max(una);
                let end = start + i64::from(self.report.segment_most) + self.reported.count() as i64;
                self.reported_last = Some(Asked { at: scene.at, start, end });
            }
        }
        if ack >= una {
            self.process_window(ack, fields.window, segment, scene);
        }
        self.report_flight(scene);
    }

    #[inline]
    fn process_window<W: Watch>(
        &mut self,
        ack: i64,
        window: u32,
        segment: &Segment,
        scene: &mut EventContext<'_, W>,
    ) {
        if window == 0 && self.window != Some(0) {
            self.report.zero_windows += 1;
            scene.report(self.side, ack, 0, Event::ZeroWindow);
        }
        self.window = Some(window);
        // The window of a SYN is never scaled, and another one usually follows.
        if !segment.flags.has(Flags::SYN) {
            self.report.window_most = self.report.window_most.max(Some(window));
        }
    }

    /// Processes SACK blocks. Returns whether they report anything new.
    fn process_sack<W: Watch>(
        &mut self,
        ack: i64,
        segment: &Segment,
        scene: &mut EventContext<'_, W>,
    ) -> bool {
        let mut blocks = segment.options.sack.as_slice().iter().map(|block| {
            let left = ack + i64::from(block.left.distance_from(segment.ack));
            (left, left + i64::from(block.right.distance_from(block.left)))
        });
        let Some(first) = blocks.next() else { return false };
        let mut blocks = blocks.peekable();
        let mut news = false;
        if is_d_sack(first, ack, blocks.peek().copied()) {
            if self.suspects.prove(first.0, first.1).is_some() {
                self.convicted(first.0, (first.1 - first.0) as u32, Proof::DSack, scene);
                self.repair.copied = self.repair.phase == Phase::Timeout;
            }
        } else {
            news |= self.report_block(ack, first, scene.at);
        }
        for block in blocks {
            news |= self.report_block(ack, block, scene.at);
        }
        news
    }

    fn report_block(&mut self, ack: i64, (left, right): (i64, i64), at: Stamp) -> bool {
        let next = self.edges.map_or(ack, |edges| edges.next);
        if left <= ack || next < right {
            return false;
        }
        if let Some(piece) =
            self.reported.first_missing(left, right).and_then(|place| self.pieces.find(place))
        {
            self.delivered.process(piece, at, self.estimate.least());
        }
        self.reported.add(left, right)
    }

    /// Processes an ACK of new data.
    #[inline]
    fn advance<W: Watch>(&mut self, ack: i64, echo: Option<u32>, scene: &mut EventContext<'_, W>) {
        let Some(edges) = &mut self.edges else { return };
        let (una, next) = (edges.una, edges.next);
        (edges.una, edges.next) = (ack, next.max(ack));
        if self.suspects.len() > 0 {
            self.convict_later(ack, echo, scene);
        }
        let mut covered = Covered::default();
        // The ACK that covers a needless retransmission reports a copy if ACKs were lost before.
        let mut needless = core::mem::take(&mut self.repair.copied);
        let repairing = self.repair.phase != Phase::Open;
        while let Some(piece) = self.pieces.take_below(ack, repairing) {
            covered.resent |= piece.resent;
            if self.sacks {
                self.delivered.process(&piece, scene.at, self.estimate.least());
            }
            if let Some(echo) = echo {
                covered.echoed = covered.echoed.or_else(|| sending_with(&piece, echo));
                if piece.start == una
                    && eifel(&piece, echo)
                    && let Some(Suspect { start, end }) = self.suspects.prove(piece.start, piece.end)
                {
                    self.convicted(start, (end - start) as u32, Proof::Timestamps, scene);
                    needless = true;
                }
            }
            covered.newest = Some(piece);
        }
        while let Some(gap) = self.gaps.take_below(ack) {
            covered.unseen = true;
            self.report_unseen(gap.start, gap.end, scene);
        }
        if ack > next {
            covered.unseen = true;
            self.report_unseen(next, ack, scene);
        }
        covered.reported = covered.newest.is_some_and(|newest| self.reported.holds(newest.start, newest.end));
        self.reported.acknowledged(ack);
        self.measure(&covered, ack, scene);
        self.note_acknowledged(una, ack, scene.at);
        self.duplicate_acks = 0;
        let unreported = self.reported.count() == 0;
        self.repair.needless |= needless && unreported && self.repair.phase == Phase::Timeout;
        if self.repair.phase != Phase::Open && ack >= self.repair.until {
            self.repair.before = (self.repair.phase, scene.at);
            self.repair.phase = Phase::Open;
        }
        if self.asked.is_some_and(|asked| asked.end <= ack) {
            self.asked = None;
        }
    }

    #[cold]
    fn report_unseen<W: Watch>(&mut self, start: i64, end: i64, scene: &mut EventContext<'_, W>) {
        let len = u32::try_from(end - start).unwrap_or(u32::MAX);
        self.report.unseen_bytes += u64::from(len);
        scene.report(self.side, start, len, Event::Unseen);
    }

    #[inline]
    fn measure<W: Watch>(&mut self, covered: &Covered, ack: i64, scene: &mut EventContext<'_, W>) {
        let sample = |(sent, len): (Sending, u32), method| RttSample {
            at: scene.at,
            sent: sent.at,
            side: self.side,
            ack,
            len,
            method,
        };
        if let Ok(sent) = by_karn(covered) {
            let opens = ack == 0 && covered.newest.is_some_and(|newest| newest.start == -1);
            let sample = sample(sent, if opens { Method::Handshake } else { Method::Karn });
            self.estimate.process(sample.rtt());
            if opens {
                self.handshake = Some(sample.rtt());
            } else {
                self.report.rtt.add(sample.rtt());
            }
            scene.watch.sample(scene.id, &sample);
        }
        if let Ok(sent) = by_timestamps(covered)
            && ack > 0
        {
            let sample = sample(sent, Method::Timestamps);
            self.report.rtt_timestamps.add(sample.rtt());
            scene.watch.sample(scene.id, &sample);
        }
    }

    /// SYN and FIN do not count as data.
    #[inline]
    fn note_acknowledged(&mut self, una: i64, ack: i64, at: Stamp) {
        let from = if self.opened { una.max(0) } else { una };
        let fin = self.fin.is_some_and(|fin| (una..ack).contains(&fin));
        let octets = (ack - from - i64::from(fin)).max(0) as u64;
        if octets > 0 {
            self.report.acknowledged += octets;
            self.report.data_until = Some(at);
        }
    }

    #[inline]
    fn report_flight<W: Watch>(&mut self, scene: &mut EventContext<'_, W>) {
        let Some(Edges { una, next }) = self.edges else { return };
        let bytes = ((next - una) as u64).saturating_sub(self.reported.count());
        self.report.flight_most = self.report.flight_most.max(bytes);
        if bytes != self.told_flight {
            self.told_flight = bytes;
            let window = self.window.unwrap_or(0);
            scene.watch.flight(scene.id, &Flight { at: scene.at, side: self.side, bytes, window });
        }
    }
}

/// Whether the segment is an ACK without data, SYN or FIN (RFC 5681, section 2).
#[inline]
fn is_bare(segment: &Segment) -> bool {
    segment.payload.len == 0 && !segment.flags.any(Flags::SYN | Flags::FIN | Flags::RST)
}
