//! The receive sequence space: reassembly, the window we offer, and what to acknowledge and when.
//!
//! Positions count from the peer's SYN, which is 0; stream offset `n` is position `n + 1`; the FIN stands behind the last
//! byte.

use crate::config::{Config, WindowGrowth};
use crate::opening::negotiate::Agreed;
use crate::ranges::Range;
use crate::receive::acking::{Acking, Due, Memory, by_bytes};
use crate::receive::autotuning::Tuning;
use crate::receive::reassembly::Reassembly;
use crate::record::reason::Reason;
use crate::recovery::nak;
use crate::time::{Coarse, Stamp, Time};
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

/// The receiving half of a connection.
#[derive(Debug)]
pub(crate) struct Receiver {
    irs: Seq,
    /// Buffer size.
    buffer: u32,
    /// RCV.NXT.
    pub(super) nxt: u64,
    /// Everything before this was read by the application.
    pub(super) read: u64,
    /// Right edge of the window announced; it never moves left.
    edge: u64,
    /// What the header said when a window was announced last, and how much was read by then: with nothing received or
    /// read since, it says the same again.
    told_window: u16,
    /// The lower half of a position; one that is not reached again where nothing was announced yet.
    told_read: u32,
    reassembly: Option<Box<Reassembly>>,
    /// Where the peer's FIN stands, if that is known: the lower half of a position, which is near the left edge.
    fin: u32,
    fin_is_known: bool,
    /// The left edge has passed the FIN.
    finished: bool,
    /// Last.ACK.sent (RFC 7323, section 4.3): the lower half of a position, which is near the left edge.
    last_ack: u32,
    /// Segments with data received in order and not acknowledged.
    unacknowledged: u8,
    pub(super) due: AckDue,
    /// Since when an acknowledgment waits.
    waits_since: Stamp,
    /// When the timer of a delayed ACK expires.
    pub(super) delayed_ack: Time,
    /// TS.Recent, and when it was set (RFC 7323, section 5).
    pub(super) ts_recent: u32,
    pub(super) ts_recent_at: Coarse,
    pub(super) extras: Option<Box<Extras>>,
}

/// What few receivers need. It is allocated on first use.
#[derive(Debug, Default)]
pub(super) struct Extras {
    /// What the delayed-ACK policy remembers, if it is one that does.
    pub(super) acking: Option<Box<Memory>>,
    /// How the receive window grows, where it does.
    pub(super) tuning: Option<Box<Tuning>>,
    /// RCV.UP: position behind urgent data that the peer sends, 0 if none.
    receive_urgent: u64,
}

impl Receiver {
    pub(crate) fn new(buffer: u32) -> Self {
        Self {
            irs: Seq(0),
            buffer,
            nxt: 0,
            read: 0,
            edge: 0,
            told_window: 0,
            told_read: u32::MAX,
            reassembly: None,
            fin: 0,
            fin_is_known: false,
            finished: false,
            last_ack: 0,
            unacknowledged: 0,
            due: AckDue::No,
            waits_since: Stamp::default(),
            delayed_ack: Time::NEVER,
            ts_recent: 0,
            ts_recent_at: Coarse::default(),
            extras: None,
        }
    }

    /// The state without the ACK that is due and its reports, for a digest.
    pub(crate) fn without_due_ack(&self) -> impl core::fmt::Debug {
        let Self { irs, buffer, nxt, read, edge, told_window, told_read, .. } = self;
        let Self { reassembly, fin, fin_is_known, finished, last_ack, unacknowledged, .. } = self;
        let Self { due: _, waits_since: _, delayed_ack: _, ts_recent, ts_recent_at, extras, .. } = self;
        let held = reassembly.as_ref().filter(|r| !r.held.is_empty()).map(|r| (&r.held, r.recent));
        let announced = (edge, told_window, told_read, last_ack);
        let received = (irs, buffer, nxt, read, held, fin, fin_is_known, finished, unacknowledged);
        (announced, received, ts_recent, ts_recent_at, extras)
    }

    /// What few receivers need; allocated on first use.
    pub(super) fn extras(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }

    /// RCV.NXT.
    #[inline]
    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Whether an acknowledgment is due.
    #[inline]
    pub(crate) fn due(&self) -> AckDue {
        self.due
    }

    /// Nothing is to be acknowledged any more.
    pub(crate) fn finish_acks(&mut self) {
        self.due = AckDue::No;
        self.delayed_ack = Time::NEVER;
    }

    /// Stream bytes received in order.
    #[inline]
    pub(crate) fn received(&self) -> u64 {
        (self.nxt - u64::from(self.is_finished())).max(1) - 1
    }

    /// Takes in an urgent pointer: the position behind urgent data (RFC 9293, section 3.8.5). Returns whether it is news.
    #[cold]
    pub(crate) fn take_urgent(&mut self, position: u64) -> bool {
        let news = position > self.read && position > self.extras.as_ref().map_or(0, |e| e.receive_urgent);
        if news {
            self.extras().receive_urgent = position;
        }
        news
    }

    /// A segment leaves: policies that remember are told.
    #[inline]
    pub(crate) fn segment_leaves(&mut self, now: Time, len: u32) {
        if let Some(memory) = self.extras.as_mut().and_then(|extras| extras.acking.as_mut()) {
            memory.leaves(now, len);
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
            self.told_read = (self.read as u32).wrapping_sub(1);
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
        let end = (start + i64::from(len)).min(self.edge.min(self.fin()) as i64);
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
            && !self.fin_is_known
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
    #[inline(always)]
    pub(super) fn when_to_acknowledge(&mut self, now: Time, text: Text, acking: Acking) -> Option<Time> {
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
    pub(super) fn acknowledge_when(&mut self, now: Time, due: Due, fills_gap: bool) -> Option<Time> {
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
        (self.nxt.max(1) - 1, u64::from((self.nxt as u32).wrapping_sub(self.last_ack)))
    }

    /// An acknowledgment is due now; an earlier reason stays, but for a NAK, which says more.
    #[inline]
    pub(crate) fn acknowledge(&mut self, reason: Reason) {
        if !matches!(self.due, AckDue::Now(_)) || reason == Reason::Nak {
            self.due = AckDue::Now(reason);
        }
    }

    /// Position of the peer's FIN; `u64::MAX` while it is unknown.
    #[inline]
    fn fin(&self) -> u64 {
        if !self.fin_is_known {
            return u64::MAX;
        }
        let ahead = self.fin.wrapping_sub(self.nxt as u32) as i32;
        self.nxt.wrapping_add_signed(i64::from(ahead))
    }

    /// Remembers where the peer's FIN stands. Returns whether everything before it, and so the FIN, has arrived.
    pub(crate) fn take_fin(&mut self, position: i64) -> bool {
        if !self.fin_is_known && position >= self.nxt as i64 {
            (self.fin, self.fin_is_known) = (position as u32, true);
        }
        self.finish()
    }

    /// Passes the FIN if the left edge has reached it.
    pub(crate) fn finish(&mut self) -> bool {
        let reached = self.nxt == self.fin();
        if reached {
            self.nxt += 1;
            self.edge = self.edge.max(self.nxt);
            self.finished = true;
        }
        reached
    }

    /// Whether the peer's FIN has been passed.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Position just behind the last byte received in order.
    #[inline]
    fn data_end(&self) -> u64 {
        self.nxt - u64::from(self.finished)
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
        if self.nxt as u32 == self.last_ack && self.read as u32 == self.told_read {
            return (self.told_window, promised);
        }
        let permitted = (self.read + u64::from(self.buffer)).max(self.edge);
        let growth = permitted - self.edge;
        let worth = growth >= u64::from(self.buffer / 2).min(u64::from(agreed.mss))
            || (grows == WindowGrowth::AtOnce && self.is_open_enough(permitted, agreed.mss));
        let offer = if worth { permitted.saturating_sub(self.nxt) as u32 } else { promised };
        let (field, window) = agreed.write_window(offer, promised);
        self.edge = self.edge.max(self.nxt + u64::from(window));
        (self.told_read, self.told_window) = (self.read as u32, field);
        (field, window)
    }

    /// 4.4BSD's avoidance of silly windows: less than a segment and a quarter of the buffer is not worth telling.
    fn is_open_enough(&self, permitted: u64, mss: u16) -> bool {
        permitted.saturating_sub(self.nxt) >= u64::from(self.buffer / 4).min(u64::from(mss))
    }

    /// A segment that acknowledges everything leaves. Returns RCV.NXT as a sequence number.
    #[inline]
    pub(crate) fn acknowledged(&mut self) -> Seq {
        self.last_ack = self.nxt as u32;
        self.unacknowledged = 0;
        self.due = AckDue::No;
        self.delayed_ack = Time::NEVER;
        self.seq(self.nxt)
    }

    /// Whether the segment shall renew TS.Recent (RFC 7323, section 4.3, step 3).
    #[inline]
    pub(crate) fn renews_timestamp(&self, start: i64) -> bool {
        (start as u32).wrapping_sub(self.last_ack) as i32 <= 0
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
}
