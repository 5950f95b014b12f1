//! The receive sequence space: reassembly, the announced window, and the ACKs.
//!
//! Positions count from the peer's SYN, which is 0. Stream offset `n` is position `n + 1`. The FIN follows the last
//! byte.

use crate::config::OldSegments;
use crate::context::Context;
use crate::ranges::Range;
use crate::receive::acking::{Acking, Due, Memory};
use crate::receive::autotuning::Tuning;
use crate::receive::background::Background;
use crate::receive::reassembly::Reassembly;
use crate::record::reason::Reason;
use crate::recovery::nak;
use crate::time::{Coarse, Stamp, Time};
use crate::wire::segment::Payload;
use crate::wire::seq::Seq;

/// The largest number of out-of-order ranges. It limits the memory that a peer with tiny segments can use.
const MAX_HELD: usize = 1 << 14;

/// Whether an ACK is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AckDue {
    /// No.
    No,
    /// When the delayed ACK timer expires, or with the next segment.
    Later,
    /// Now, for this reason.
    Now(Reason),
}

/// The result of processing the data of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Text {
    /// In order. `fills_gap` is set if the segment filled a gap fully or partly, or if its first part is a duplicate that is
    /// reported at once.
    InOrder { fills_gap: bool },
    /// Out of order; stored.
    OutOfOrder,
    /// No new data.
    Duplicate,
}

/// The receiver of a connection.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub(super) irs: Seq,
    /// Buffer size.
    pub(super) buffer: u32,
    /// RCV.NXT.
    pub(super) nxt: u64,
    /// The position up to which the application has read.
    pub(super) read: u64,
    /// Right edge of the announced window; it never moves left.
    pub(super) edge: u64,
    /// The last announced window field, and the read position at that time. If nothing was received or read since, the
    /// field is the same again.
    pub(super) announced_window: u16,
    /// The lower half of a position. Before the first announcement it holds a position that never occurs.
    pub(super) announced_read: u32,
    pub(super) reassembly: Option<Box<Reassembly>>,
    /// The position of the peer's FIN, if known: its lower half, because it is near the left edge.
    fin: u32,
    fin_is_known: bool,
    /// The FIN and all data before it have arrived.
    finished: bool,
    /// Last.ACK.sent (RFC 7323, section 4.3): the lower half of a position, because it is near the left edge.
    pub(super) last_ack: u32,
    /// Segments with data received in order and not acknowledged.
    pub(super) unacknowledged: u8,
    pub(super) due: AckDue,
    /// Since when an ACK is delayed; before the first one, when the connection was opened.
    pub(super) waits_since: Stamp,
    /// When the delayed ACK timer expires.
    pub(super) delayed_ack: Time,
    /// TS.Recent, and when it was set (RFC 7323, section 5).
    pub(super) ts_recent: u32,
    pub(super) ts_recent_at: Coarse,
    pub(super) extras: Option<Box<Extras>>,
}

/// State that few receivers need. It is allocated on first use.
#[derive(Debug, Default)]
pub(super) struct Extras {
    /// The state of the delayed ACK policy, if it has any.
    pub(super) acking: Option<Box<Memory>>,
    /// The state of autotuning, if it is in use.
    pub(super) tuning: Option<Box<Tuning>>,
    /// The state of rLEDBAT, if it is in use.
    pub(super) background: Option<Box<Background>>,
    /// RCV.UP: the position after the peer's urgent data; 0 if there is none.
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
            announced_window: 0,
            announced_read: u32::MAX,
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
        let Self { irs, buffer, nxt, read, edge, announced_window, announced_read, .. } = self;
        let Self { reassembly, fin, fin_is_known, finished, last_ack, unacknowledged, .. } = self;
        let Self { due: _, waits_since: _, delayed_ack: _, ts_recent, ts_recent_at, extras, .. } = self;
        let held = reassembly.as_ref().filter(|r| !r.held.is_empty()).map(|r| (&r.held, r.recent));
        let announced = (edge, announced_window, announced_read, last_ack);
        let received = (irs, buffer, nxt, read, held, fin, fin_is_known, finished, unacknowledged);
        (announced, received, ts_recent, ts_recent_at, extras)
    }

    /// The state, for a digest. When a delay began that is over does not count: only the procedures that wait note it.
    pub(crate) fn without_past_delay(&self) -> impl core::fmt::Debug {
        let Self { irs, buffer, nxt, read, edge, announced_window, announced_read, .. } = self;
        let Self { reassembly, fin, fin_is_known, finished, last_ack, unacknowledged, .. } = self;
        let Self { due, waits_since, delayed_ack, ts_recent, ts_recent_at, extras, .. } = self;
        // Before a policy has state, it is when the connection was opened.
        let is_used = *due == AckDue::Later || extras.as_ref().is_none_or(|extras| extras.acking.is_none());
        let ack = (last_ack, unacknowledged, due, is_used.then_some(waits_since), delayed_ack);
        let received = (irs, buffer, nxt, read, reassembly, fin, fin_is_known, finished);
        ((edge, announced_window, announced_read), received, ack, (ts_recent, ts_recent_at, extras))
    }

    /// The rare state; it is allocated on first use.
    pub(super) fn extras(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }

    /// Reads what [`crate::Connection::fetch_losses`] loads of a receiver.
    #[inline]
    pub(crate) fn fetch_held(&self) -> u64 {
        self.reassembly.as_ref().map_or(0, |reassembly| reassembly.fetch())
    }

    /// RCV.NXT.
    #[inline]
    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Whether an ACK is due.
    #[inline]
    pub(crate) fn due(&self) -> AckDue {
        self.due
    }

    /// Cancels all ACKs.
    pub(crate) fn finish_acks(&mut self) {
        self.due = AckDue::No;
        self.delayed_ack = Time::NEVER;
    }

    /// Stream bytes received in order.
    #[inline]
    pub(crate) fn received(&self) -> u64 {
        (self.nxt - u64::from(self.is_finished())).max(1) - 1
    }

    /// Processes an urgent pointer, the position after urgent data (RFC 9293, section 3.8.5). Returns whether it is
    /// new.
    #[cold]
    pub(crate) fn take_urgent(&mut self, position: u64) -> bool {
        let news = position > self.read && position > self.extras.as_ref().map_or(0, |e| e.receive_urgent);
        if news {
            self.extras().receive_urgent = position;
        }
        news
    }

    /// Updates the policies with state when a segment is sent.
    #[inline]
    pub(crate) fn segment_leaves(&mut self, cx: &Context, now: Time, len: u32) {
        if let Some(memory) = self.extras.as_mut().and_then(|extras| extras.acking.as_mut()) {
            cx.config.acking.on_departure(now, len, memory);
        }
    }

    /// The peer's SYN has arrived; ours announces a window of `window` bytes.
    pub(crate) fn synchronize(&mut self, irs: Seq, window: u32) {
        self.irs = irs;
        self.nxt = 1;
        self.read = 1;
        self.last_ack = 1;
        self.accept_behind(window);
    }

    /// A window of `window` bytes behind all that has arrived is accepted, as far as the buffer holds it.
    pub(crate) fn accept_behind(&mut self, window: u32) {
        // Linux announces a buffer of which it then keeps a segment for itself (`tcp_init_buffer_space()`).
        let keeps = self.counts_memory();
        self.edge = self.nxt + u64::from(if keeps { window } else { self.buffer.min(window) });
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

    /// Processes `len` bytes at position `start`, limited to the window. `naks` is the MSS in which a NAK counts, if the peer
    /// understands NAKs. A segment whose first part is old is acknowledged at once; in Linux its D-SACK waits for the ordinary
    /// ACK (`tcp_data_queue()` goes on at `queue_and_out`).
    #[inline]
    pub(crate) fn take(
        &mut self,
        start: i64,
        len: u32,
        naks: Option<u32>,
        old_segments: OldSegments,
    ) -> (Text, Range) {
        let end = (start + i64::from(len)).min(self.edge.min(self.fin()) as i64);
        let nxt = self.nxt as i64;
        if end <= start.max(nxt) {
            return (Text::Duplicate, Range::default());
        }
        let is_partly_old = start < nxt;
        if is_partly_old {
            self.note_duplicate(start, (nxt - start) as u32);
        }
        let start = start.max(nxt);
        let range = Range::new(start as u64, end as u64);
        if range.start == self.nxt {
            // A FIN behind a gap is stored like data (`tcp_data_queue_ofo()`).
            let at_once = match old_segments {
                OldSegments::Linux => self.fin_is_known && !self.finished,
                _ => is_partly_old,
            };
            let fills_gap = self.append(range);
            (Text::InOrder { fills_gap: fills_gap || at_once }, range)
        } else {
            (self.hold(range, naks, old_segments), range)
        }
    }

    /// Stores the text of a SYN until the connection is open (RFC 9293, section 3.10.7.3). RCV.NXT does not move, so
    /// that our SYN-ACK acknowledges the SYN only.
    pub(crate) fn queue_syn_text(&mut self, len: u32) {
        let range = Range::new(self.nxt, (self.nxt + u64::from(len)).min(self.edge));
        if !range.is_empty() {
            let reassembly = self.reassembly.get_or_insert_default();
            reassembly.held.insert(range);
            reassembly.taken = range;
        }
    }

    /// Delivers the queued text of a SYN. Returns whether there was any.
    pub(crate) fn deliver_syn_text(&mut self) -> bool {
        let nxt = self.nxt;
        self.append(Range::new(nxt, nxt));
        self.nxt > nxt
    }

    /// Processes a payload at the left edge, if all of it fits into the window, no out-of-order data is stored, and no
    /// FIN is known.
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

    /// Whether all of a payload at position `start` is new to the left edge and lies in the window, and no FIN is known.
    #[inline]
    pub(crate) fn holds_whole(&self, start: i64, payload: Payload) -> bool {
        start >= self.nxt as i64
            && start + i64::from(payload.len) <= self.edge as i64
            && payload.offset.wrapping_add(1) == start as u64
            && !self.fin_is_known
    }

    /// Moves the left edge past `range` and the stored data that follows it. Returns whether any data was stored.
    #[inline]
    fn append(&mut self, range: Range) -> bool {
        self.nxt = range.end;
        let Some(reassembly) = &mut self.reassembly else { return false };
        let fills_gap = !reassembly.held.is_empty();
        reassembly.note_overlap(range);
        // Stored ranges never touch each other, so at most one of them continues `range`.
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

    /// Stores `range`, which is out of order.
    fn hold(&mut self, range: Range, naks: Option<u32>, old_segments: OldSegments) -> Text {
        let nxt = self.nxt;
        let reassembly = self.reassembly.get_or_insert_default();
        let first = reassembly.held.first();
        if reassembly.held.len() >= MAX_HELD
            && first.is_none_or(|r| range.end < r.start || range.start > r.end)
        {
            return Text::OutOfOrder;
        }
        reassembly.note_overlap(range);
        let (merged, added) = reassembly.held.insert(range);
        reassembly.report(if old_segments == OldSegments::Linux { range } else { merged }, nxt);
        if added == 0 {
            return Text::Duplicate;
        }
        reassembly.taken = range;
        if let Some(mss) = naks
            && let Some(gap) = reassembly.held.first()
            && let Some(request) = nak::request(self.nxt, gap.start, reassembly.last_nak, mss)
        {
            reassembly.nak = Some(request);
        }
        Text::OutOfOrder
    }

    /// Records a duplicate for D-SACK; `start` and `len` are those of the segment.
    pub(crate) fn note_duplicate(&mut self, start: i64, len: u32) {
        // What lies before the stream is no part of it.
        let (first, end) = (start.max(1), (start + i64::from(len)).min(self.nxt as i64));
        if len > 0 && first < end {
            let range = Range::new(first as u64, end as u64);
            self.reassembly.get_or_insert_default().duplicate = Some(range);
        }
    }

    /// Decides when the last segment is acknowledged. Returns the deadline, if the ACK is delayed.
    #[inline(always)]
    pub(super) fn when_to_acknowledge(&mut self, now: Time, text: Text, acking: &Acking) -> Option<Time> {
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

    /// Acknowledges data in order at the time `due`. Returns the deadline, if the ACK is delayed.
    #[inline]
    pub(super) fn acknowledge_when(&mut self, now: Time, due: Due, fills_gap: bool) -> Option<Time> {
        match due {
            // RFC 5681, section 4.2: immediately when a gap is filled fully or partly.
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

    /// Since when an ACK is delayed, if it is.
    pub(crate) fn waits_since(&self, now: Time) -> Option<Time> {
        (self.due == AckDue::Later).then(|| self.waits_since.instant(now))
    }

    /// Bytes received in order since the start of the connection, and how many of them are unacknowledged.
    pub(crate) fn progress(&self) -> (u64, u64) {
        (self.nxt.max(1) - 1, u64::from((self.nxt as u32).wrapping_sub(self.last_ack)))
    }

    /// Makes an ACK due now. An earlier reason stays, but a NAK replaces it, because it carries more information.
    #[inline]
    pub(crate) fn acknowledge(&mut self, reason: Reason) {
        if !matches!(self.due, AckDue::Now(_)) || reason == Reason::Nak {
            self.due = AckDue::Now(reason);
        }
    }

    /// Position of the peer's FIN; `u64::MAX` while it is unknown.
    #[inline]
    pub(super) fn fin(&self) -> u64 {
        if !self.fin_is_known {
            return u64::MAX;
        }
        let ahead = self.fin.wrapping_sub(self.nxt as u32) as i32;
        self.nxt.wrapping_add_signed(i64::from(ahead))
    }

    /// Records the position of the peer's FIN. Returns whether all data before it has arrived.
    pub(crate) fn take_fin(&mut self, position: i64) -> bool {
        if !self.fin_is_known && position >= self.nxt as i64 {
            (self.fin, self.fin_is_known) = (position as u32, true);
        }
        self.finish()
    }

    /// Moves the left edge past the FIN if all data has arrived.
    pub(crate) fn finish(&mut self) -> bool {
        let reached = self.nxt == self.fin();
        if reached {
            self.nxt += 1;
            self.edge = self.edge.max(self.nxt);
            self.finished = true;
        }
        reached
    }

    /// Bytes received out of order.
    pub(crate) fn out_of_order(&self) -> u64 {
        self.reassembly.as_ref().map_or(0, |reassembly| reassembly.held.covered())
    }

    /// The number of parts of the data that was received out of order.
    pub(crate) fn parts(&self) -> usize {
        self.reassembly.as_ref().map_or(0, |reassembly| reassembly.held.len())
    }

    /// Whether the peer's FIN and all data have arrived.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// The position after the last byte received in order.
    #[inline]
    fn data_end(&self) -> u64 {
        self.nxt - u64::from(self.finished)
    }

    /// Bytes that the application may read.
    #[inline]
    pub(crate) fn readable(&self) -> u64 {
        self.data_end().saturating_sub(self.read)
    }

    /// Reads at most `max` bytes; returns position and length.
    #[inline]
    pub(crate) fn read(&mut self, max: u64) -> (u64, u64) {
        let len = self.readable().min(max);
        let from = self.read;
        self.read += len;
        (from, len)
    }

    /// Reads all there is; returns its length.
    #[inline(always)]
    pub(crate) fn read_all(&mut self) -> u64 {
        let len = self.readable();
        self.read += len;
        len
    }

    /// Records that a segment acknowledges everything. Returns RCV.NXT as a sequence number.
    #[inline]
    pub(crate) fn acknowledged(&mut self) -> Seq {
        self.last_ack = self.nxt as u32;
        self.unacknowledged = 0;
        self.due = AckDue::No;
        self.delayed_ack = Time::NEVER;
        self.seq(self.nxt)
    }

    /// Whether the segment updates TS.Recent (RFC 7323, section 4.3, step 3).
    #[inline]
    pub(crate) fn renews_timestamp(&self, start: i64) -> bool {
        (start as u32).wrapping_sub(self.last_ack) as i32 <= 0
    }

    /// Whether neither data nor a FIN is stored behind a gap.
    pub(crate) fn waits_for_nothing(&self) -> bool {
        self.out_of_order() == 0 && (self.finished || !self.fin_is_known)
    }

    /// Whether no out-of-order data is stored and no report waits.
    #[inline]
    pub(crate) fn is_in_order(&self) -> bool {
        self.reassembly.is_none()
    }
}
