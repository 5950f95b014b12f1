//! The receive sequence space: reassembly, the window we offer, and what to acknowledge and when.
//!
//! Positions count from the peer's SYN, which is 0; stream offset `n` is position `n + 1`; the FIN stands behind the last
//! byte.

use crate::config::{Config, WindowGrowth};
use crate::opening::negotiate::Agreed;
use crate::ranges::{Range, RangeSet};
use crate::receive::acking::{Acking, Due, by_bytes};
use crate::record::reason::Reason;
use crate::recovery::nak;
use crate::time::{Stamp, Time};
use crate::wire::options::{Nak, SackBlock, SackBlocks};
use crate::wire::segment::Payload;
use crate::wire::seq::Seq;

/// Ranges held out of order at most: a peer that sends slivers shall not fill our memory.
const MAX_HELD: usize = 1 << 14;

/// Whether an acknowledgment is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AckDue {
    /// Nothing is to be acknowledged.
    No,
    /// When the timer runs out, or with the next segment.
    Later,
    /// Now, and why.
    Now(Reason),
}

/// What became of a segment's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Text {
    /// In order. Whether it filled a gap, in whole or in part: something was held beyond.
    InOrder { fills_gap: bool },
    /// Held beyond a gap.
    OutOfOrder,
    /// Nothing new.
    Duplicate,
}

/// What is held beyond the left edge, and in which order SACK reports it.
#[derive(Debug, Default)]
struct Reassembly {
    held: RangeSet,
    /// The ranges that last changed, latest first (RFC 2018, section 4).
    recent: [Range; 4],
    /// A duplicate to be reported once (RFC 2883, section 4).
    duplicate: Option<Range>,
    /// Position of the last NAK, which is not repeated (RFC 1106, section 2.1).
    last_nak: u64,
    /// The NAK that waits: position and count.
    nak: Option<(u64, u8)>,
    /// What was held last and no driver has fetched yet.
    taken: Range,
}

impl Reassembly {
    /// What of `range` is held already is a duplicate: the first such part is reported, unless one below it will be
    /// (RFC 2883, section 4.2).
    #[inline]
    fn note_overlap(&mut self, range: Range) {
        if let Some(held) = self.held.at_or_after(range.start)
            && held.start < range.end
            && self.duplicate.is_none()
        {
            self.duplicate = Some(Range::new(held.start.max(range.start), held.end.min(range.end)));
        }
    }

    /// Nothing is held or waits to be told, and the hole of the last NAK lies behind the left edge.
    fn is_of_no_more_use(&self, nxt: u64) -> bool {
        self.held.is_empty() && self.duplicate.is_none() && self.nak.is_none() && self.last_nak < nxt
    }
}

/// The receive sequence space.
#[derive(Debug)]
pub(crate) struct ReceiveSpace {
    irs: Seq,
    /// Buffer size.
    buffer: u32,
    /// RCV.NXT.
    pub(crate) nxt: u64,
    /// Everything before this was read by the application.
    read: u64,
    /// Right edge of the window announced; it never moves left.
    edge: u64,
    /// What the header said when a window was announced last, and how much was read by then: with nothing received or
    /// read since, it says the same again.
    told_window: u16,
    told_read: u64,
    reassembly: Option<Box<Reassembly>>,
    /// Where the peer's FIN stands, once known; `u64::MAX` before.
    fin: u64,
    /// Last.ACK.sent (RFC 7323, section 4.3).
    last_ack: u64,
    /// Segments with data received in order and not acknowledged.
    unacknowledged: u8,
    pub(crate) due: AckDue,
    /// Since when an acknowledgment waits.
    waits_since: Stamp,
}

impl ReceiveSpace {
    pub(crate) fn new(buffer: u32) -> Self {
        Self {
            irs: Seq(0),
            buffer,
            nxt: 0,
            read: 0,
            edge: 0,
            told_window: 0,
            told_read: u64::MAX,
            reassembly: None,
            fin: u64::MAX,
            last_ack: 0,
            unacknowledged: 0,
            due: AckDue::No,
            waits_since: Stamp::default(),
        }
    }

    /// The peer's SYN has arrived; ours announces a window of `window` bytes.
    pub(crate) fn synchronize(&mut self, irs: Seq, window: u32) {
        self.irs = irs;
        self.nxt = 1;
        self.read = 1;
        self.last_ack = 1;
        self.edge = 1 + u64::from(self.buffer.min(window));
    }

    /// What our SYN announces: never more than 16 bits of it.
    pub(crate) fn syn_window(&self, config: &Config) -> u16 {
        config.initial_receive_window.unwrap_or(u32::MAX).min(config.receive_window).min(0xFFFF) as u16
    }

    /// No window above `largest` can be announced: the buffer beyond it is of no use.
    pub(crate) fn limit_buffer(&mut self, largest: u32) {
        self.buffer = self.buffer.min(largest);
    }

    /// The buffer is of another size from now on; what was announced stays so.
    pub(crate) fn set_buffer(&mut self, bytes: u32) {
        // What a header said last would be said again.
        if bytes != self.buffer {
            self.buffer = bytes;
            self.told_read = u64::MAX;
        }
    }

    /// Rounds the buffer up to whole segments, as far as a window can be announced.
    pub(crate) fn round_buffer(&mut self, mss: u32, largest: u32) {
        self.buffer = self.buffer.next_multiple_of(mss.max(1)).min(largest);
    }

    /// The sequence number of a position.
    #[inline]
    pub(crate) fn seq(&self, position: u64) -> Seq {
        self.irs.plus(position as u32)
    }

    /// The position of a sequence number: the one nearest to RCV.NXT. Negative before the SYN.
    #[inline]
    pub(crate) fn position(&self, seq: Seq) -> i64 {
        self.nxt as i64 + i64::from(seq.distance_from(self.seq(self.nxt)))
    }

    /// RCV.WND: how much of what was announced is still open.
    #[inline]
    pub(crate) fn window(&self) -> u32 {
        self.edge.saturating_sub(self.nxt) as u32
    }

    /// The four tests of RFC 9293, section 3.10.7.4, table 6: does any of the segment fall into the window? The table
    /// looks at the segment's two ends; one that covers the whole window (a FIN right behind it, the first byte already
    /// taken as a probe) has both outside, and would be refused as often as it comes.
    #[inline]
    pub(crate) fn accepts(&self, start: i64, seq_len: u32) -> bool {
        let (nxt, edge) = (self.nxt as i64, self.edge.max(self.nxt) as i64);
        let last = start + i64::from(seq_len) - 1;
        if edge == nxt {
            return seq_len == 0 && start == nxt;
        }
        start < edge && if seq_len > 0 { nxt <= last } else { nxt <= start }
    }

    /// Takes in `len` bytes at position `start`, cut to the window. `now` and `acking` say when to acknowledge.
    #[inline]
    pub(crate) fn take(&mut self, start: i64, len: u32, mss: u32) -> (Text, Range) {
        let end = (start + i64::from(len)).min(self.edge.min(self.fin) as i64);
        let nxt = self.nxt as i64;
        if end <= start.max(nxt) {
            return (Text::Duplicate, Range::default());
        }
        if start < nxt {
            self.note_duplicate(start, (nxt - start) as u32);
        }
        let start = start.max(nxt);
        let range = Range::new(start as u64, end as u64);
        if range.start == self.nxt {
            (Text::InOrder { fills_gap: self.append(range) }, range)
        } else {
            (self.hold(range, mss), range)
        }
    }

    /// Whether a position is the right edge of a window that is open.
    pub(crate) fn is_right_edge(&self, position: i64) -> bool {
        self.edge > self.nxt && position == self.edge as i64
    }

    /// Takes in a payload that is known to stand at the left edge, if all of it is just what is expected there: it fits
    /// into the window, nothing is held beyond, and no FIN is known of.
    #[inline]
    pub(crate) fn takes_whole(&mut self, payload: Payload) -> bool {
        let end = self.nxt + u64::from(payload.len);
        let whole = end <= self.edge
            && self.fin == u64::MAX
            && self.is_in_order()
            && payload.offset.wrapping_add(1) == self.nxt;
        if whole {
            self.nxt = end;
        }
        whole
    }

    /// Moves the left edge over `range` and what is held directly behind it; whether anything was held.
    #[inline]
    fn append(&mut self, range: Range) -> bool {
        self.nxt = range.end;
        let Some(reassembly) = &mut self.reassembly else { return false };
        let fills_gap = !reassembly.held.is_empty();
        reassembly.note_overlap(range);
        // Held ranges never touch each other, so only the one that `range` reaches into can carry the edge on.
        if let Some(next) = reassembly.held.at_or_after(range.end)
            && next.start <= range.end
        {
            self.nxt = next.end;
        }
        reassembly.held.remove_below(self.nxt);
        if reassembly.is_of_no_more_use(self.nxt) {
            self.reassembly = None;
        }
        fills_gap
    }

    /// Holds `range`, which lies beyond a gap.
    fn hold(&mut self, range: Range, mss: u32) -> Text {
        let reassembly = self.reassembly.get_or_insert_default();
        let first = reassembly.held.first();
        if reassembly.held.len() >= MAX_HELD
            && first.is_none_or(|r| range.end < r.start || range.start > r.end)
        {
            return Text::OutOfOrder;
        }
        reassembly.note_overlap(range);
        let (merged, added) = reassembly.held.insert(range);
        let mut latest = [merged, Range::default(), Range::default(), Range::default()];
        let older = reassembly.recent.iter().filter(|r| r.end < merged.start || merged.end < r.start);
        for (slot, r) in latest[1..].iter_mut().zip(older.filter(|r| !r.is_empty())) {
            *slot = *r;
        }
        reassembly.recent = latest;
        if added == 0 {
            return Text::Duplicate;
        }
        reassembly.taken = range;
        if let Some(gap) = reassembly.held.first()
            && let Some(request) = nak::request(self.nxt, gap.start, reassembly.last_nak, mss)
        {
            reassembly.nak = Some(request);
        }
        Text::OutOfOrder
    }

    /// Remembers a duplicate for D-SACK; `start` and `len` as they came.
    pub(crate) fn note_duplicate(&mut self, start: i64, len: u32) {
        let start = start.max(1) as u64;
        let end = (start + u64::from(len)).min(self.nxt);
        if len > 0 && start < end {
            self.reassembly.get_or_insert_default().duplicate = Some(Range::new(start, end));
        }
    }

    /// Decides when the segment just taken in is acknowledged. Returns the instant, if a timer shall wait for it.
    #[inline]
    pub(crate) fn schedule_ack(&mut self, now: Time, text: Text, acking: Acking) -> Option<Time> {
        match text {
            Text::InOrder { fills_gap } => {
                self.unacknowledged = self.unacknowledged.saturating_add(1);
                return self.acknowledge_when(now, acking.due(now, self.unacknowledged), fills_gap);
            }
            Text::OutOfOrder if self.has_nak() => self.acknowledge(Reason::Nak),
            Text::OutOfOrder | Text::Duplicate => self.acknowledge(Reason::DuplicateAck),
        }
        None
    }

    /// What is in order is acknowledged when it is due. Returns the instant, if a timer shall wait for it.
    #[inline]
    pub(crate) fn acknowledge_when(&mut self, now: Time, due: Due, fills_gap: bool) -> Option<Time> {
        match due {
            // RFC 5681, section 4.2: at once when a gap is filled, in whole or in part.
            Due::At(when) if !fills_gap && !matches!(self.due, AckDue::Now(_)) => {
                if self.due == AckDue::No {
                    self.due = AckDue::Later;
                    self.waits_since = Stamp::at(now);
                }
                return Some(when);
            }
            Due::At(_) | Due::Now => self.acknowledge(Reason::Ack),
        }
        None
    }

    /// Since when an acknowledgment waits for its timer, if one does.
    pub(crate) fn waits_since(&self, now: Time) -> Option<Time> {
        (self.due == AckDue::Later).then(|| self.waits_since.instant(now))
    }

    /// Bytes received in order since the connection began, and how many of them are not acknowledged.
    pub(crate) fn progress(&self) -> (u64, u64) {
        (self.nxt.max(1) - 1, self.nxt - self.last_ack)
    }

    /// An acknowledgment is due now; an earlier reason stays, but for a NAK, which says more.
    #[inline]
    pub(crate) fn acknowledge(&mut self, reason: Reason) {
        if !matches!(self.due, AckDue::Now(_)) || reason == Reason::Nak {
            self.due = AckDue::Now(reason);
        }
    }

    /// Remembers where the peer's FIN stands. Returns whether everything before it, and so the FIN, has arrived.
    pub(crate) fn take_fin(&mut self, position: i64) -> bool {
        if self.fin == u64::MAX && position >= self.nxt as i64 {
            self.fin = position as u64;
        }
        self.finish()
    }

    /// Passes the FIN if the left edge has reached it.
    pub(crate) fn finish(&mut self) -> bool {
        let reached = self.nxt == self.fin;
        if reached {
            self.nxt += 1;
            self.edge = self.edge.max(self.nxt);
        }
        reached
    }

    /// Whether the peer's FIN has been passed.
    pub(crate) fn is_finished(&self) -> bool {
        self.nxt > self.fin
    }

    /// Position just behind the last byte received in order.
    #[inline]
    fn data_end(&self) -> u64 {
        self.nxt.min(self.fin)
    }

    /// Bytes that the application may read.
    #[inline]
    pub(crate) fn readable(&self) -> u64 {
        self.data_end().saturating_sub(self.read)
    }

    /// The application reads at most `max` bytes: position and length of what it gets.
    #[inline]
    pub(crate) fn read(&mut self, max: u64) -> (u64, u64) {
        let len = self.readable().min(max);
        let from = self.read;
        self.read += len;
        (from, len)
    }

    /// By how much the window could grow in the peer's eyes; zero if that is of no use: what is acknowledged at once tells of
    /// the window too.
    #[inline]
    pub(crate) fn growth(&self) -> u64 {
        if matches!(self.due, AckDue::Now(_)) || self.is_finished() {
            return 0;
        }
        (self.read + u64::from(self.buffer)).saturating_sub(self.edge)
    }

    /// The window may open far enough for an update: by half the buffer, or by a segment if it was all but closed (RFC 9293,
    /// section 3.8.6.2.2).
    #[inline]
    pub(crate) fn update_window_by(&mut self, growth: u64, mss: u32) {
        let (half, open) = (u64::from(self.buffer / 2), u64::from(self.window()));
        let mss = u64::from(mss);
        if growth > 0 && growth >= half.min(mss) && (growth >= half || open < 2 * mss) {
            self.acknowledge(Reason::WindowUpdate);
        }
    }

    /// The window may open far enough to make an acknowledgment due where bytes are counted.
    pub(crate) fn acknowledge_bytes(&mut self, growth: u64, mss: u32, segments: u8) {
        if growth > 0 && by_bytes::is_due(growth, self.buffer, mss, segments) {
            self.acknowledge(Reason::WindowUpdate);
        }
    }

    /// What the header of an outgoing segment announces. Called when the segment leaves: the edge moves.
    #[inline(always)]
    pub(crate) fn announce(&mut self, agreed: &Agreed, grows: WindowGrowth) -> (u16, u32) {
        let promised = self.window();
        if self.nxt == self.last_ack && self.read == self.told_read {
            return (self.told_window, promised);
        }
        let permitted = (self.read + u64::from(self.buffer)).max(self.edge);
        let growth = permitted - self.edge;
        let worth = growth >= u64::from(self.buffer / 2).min(u64::from(agreed.mss))
            || (grows == WindowGrowth::AtOnce && self.is_open_enough(permitted, agreed.mss));
        let offer = if worth { permitted.saturating_sub(self.nxt) as u32 } else { promised };
        let (field, window) = agreed.write_window(offer, promised);
        self.edge = self.edge.max(self.nxt + u64::from(window));
        (self.told_read, self.told_window) = (self.read, field);
        (field, window)
    }

    /// 4.4BSD's avoidance of silly windows: less than a segment and a quarter of the buffer is not worth telling.
    fn is_open_enough(&self, permitted: u64, mss: u16) -> bool {
        permitted.saturating_sub(self.nxt) >= u64::from(self.buffer / 4).min(u64::from(mss))
    }

    /// A segment that acknowledges everything leaves. Returns RCV.NXT as a sequence number.
    #[inline]
    pub(crate) fn acknowledged(&mut self) -> Seq {
        self.last_ack = self.nxt;
        self.unacknowledged = 0;
        self.due = AckDue::No;
        self.seq(self.nxt)
    }

    /// Whether the segment shall renew TS.Recent (RFC 7323, section 4.3, step 3).
    #[inline]
    pub(crate) fn renews_timestamp(&self, start: i64) -> bool {
        start <= self.last_ack as i64
    }

    /// Nothing is held beyond the left edge, and there is nothing to report but that edge.
    #[inline]
    pub(crate) fn is_in_order(&self) -> bool {
        self.reassembly.is_none()
    }

    /// Whether there is anything to report beside the left edge, SACK being permitted or not.
    #[inline]
    pub(crate) fn has_reports(&self, sack: bool) -> bool {
        self.reassembly.is_some() && (self.has_nak() || (sack && self.has_blocks()))
    }

    /// Whether there is anything that a SACK option would report.
    #[inline]
    pub(crate) fn has_blocks(&self) -> bool {
        self.reassembly.as_ref().is_some_and(|r| !r.held.is_empty() || r.duplicate.is_some())
    }

    /// At most `room` blocks: the duplicate first, once (RFC 2883, section 4), then what changed last.
    pub(crate) fn take_blocks(&mut self, room: usize) -> SackBlocks {
        let (irs, nxt) = (self.irs, self.nxt);
        let block = |r: Range| SackBlock { left: irs.plus(r.start as u32), right: irs.plus(r.end as u32) };
        let mut blocks = SackBlocks::EMPTY;
        let Some(reassembly) = &mut self.reassembly else { return blocks };
        if let Some(duplicate) = reassembly.duplicate.take() {
            blocks.push(block(duplicate));
        }
        for r in reassembly.recent.iter().filter(|r| r.start > nxt) {
            if blocks.as_slice().len() < room {
                blocks.push(block(*r));
            }
        }
        blocks
    }

    /// The NAK that waits, as an option; it is remembered as sent.
    #[inline]
    pub(crate) fn take_nak(&mut self) -> Option<Nak> {
        let reassembly = self.reassembly.as_mut()?;
        let (position, count) = reassembly.nak.take()?;
        reassembly.last_nak = position;
        Some(Nak { first: self.seq(position), count })
    }

    /// Whether a NAK waits.
    #[inline]
    pub(crate) fn has_nak(&self) -> bool {
        self.reassembly.as_ref().is_some_and(|reassembly| reassembly.nak.is_some())
    }

    /// What the last segment brought beyond a gap, once.
    pub(crate) fn take_held(&mut self) -> Option<Range> {
        let taken = core::mem::take(&mut self.reassembly.as_mut()?.taken);
        (!taken.is_empty()).then_some(taken)
    }

    /// Drops a NAK that the peer would not understand.
    pub(crate) fn forget_nak(&mut self) {
        if let Some(reassembly) = &mut self.reassembly {
            reassembly.nak = None;
        }
    }

    /// Everything before this was read by the application.
    pub(crate) fn read_position(&self) -> u64 {
        self.read
    }
}
