//! Delayed ACKs: when received data is acknowledged, by the configured policy.

use crate::context::Context;
use crate::receive::acking::{Acking, Arrival, Due, Memory, Ordinary, Shape};
use crate::receive::autotuning::Tuning;
use crate::receive::receiver::{AckDue, Receiver, Text};
use crate::record::event::{Event, Timer};
use crate::record::reason::Reason;
use crate::time::{Span, Stamp, Time};
use crate::wire::segment::Segment;

/// The times of the path that some policies use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathTimes {
    pub(crate) rto: Span,
    pub(crate) srtt: Option<Span>,
}

/// When the application reads what has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reads {
    /// All of it, before anything is sent.
    AtOnce,
    /// Later, or never.
    Later,
}

impl Receiver {
    /// Schedules the ACK of accepted data: now, or when the delayed ACK timer expires.
    #[inline(always)]
    pub(crate) fn schedule_ack(&mut self, now: Time, text: Text, acking: &Acking) {
        if let Some(when) = self.when_to_acknowledge(now, text, acking)
            && self.delayed_ack.is_never()
        {
            self.delayed_ack = when;
        }
    }

    /// Like [`Self::schedule_ack`], for a policy that does not only count segments.
    #[cold]
    pub(crate) fn schedule_ack_otherwise(
        &mut self,
        cx: &Context,
        (now, times): (Time, PathTimes),
        text: Text,
        segment: &Segment,
        reads: Reads,
    ) {
        let acking = cx.config.acking;
        let when = if acking.has_state() {
            self.apply_stateful_policy(cx, (now, times), text, segment, reads)
        } else {
            self.when_to_acknowledge(now, text, &acking)
        };
        if let Some(when) = when {
            self.delayed_ack = self.delayed_ack.min(when);
        }
    }

    /// Forgets what the policy has measured: the data of a SYN says nothing about the peer's pace (Linux,
    /// `tcp_fastopen_add_skb()` does not call `tcp_event_data_recv()`).
    #[cold]
    pub(crate) fn forget_pace(&mut self) {
        if let Some(extras) = &mut self.extras {
            extras.acking = None;
        }
    }

    /// Schedules the ACK of an ordinary segment. Returns false if the policy needs more information; nothing has changed then.
    #[inline(always)]
    pub(crate) fn schedule_ordinary_ack(
        &mut self,
        cx: &Context,
        now: Time,
        text: Text,
        segment: &Segment,
        reads: Reads,
    ) -> bool {
        if !matches!(text, Text::InOrder { fills_gap: false }) {
            return false;
        }
        let unacknowledged = self.progress().1;
        let is_read_quickly = self.readable() <= unacknowledged
            && (reads == Reads::AtOnce || self.is_read_quickly(cx, unacknowledged, reads));
        let ordinary = Ordinary {
            len: segment.payload.len,
            flags: segment.flags,
            unacknowledged,
            is_read_quickly,
            announced: cx.announced_payload(),
            opens_window: self.opens_window(),
            armed: self.delayed_ack,
        };
        let Some(memory) = self.extras.as_mut().and_then(|extras| extras.acking.as_mut()) else {
            return false;
        };
        let Some(due) = cx.config.acking.arrives_ordinary(now, ordinary, memory) else { return false };
        if let Some(when) = self.acknowledge_when(now, due, false) {
            self.delayed_ack = self.delayed_ack.min(when);
        }
        true
    }

    /// Applies a policy with state to a segment. Returns the deadline of a timer, if one is needed.
    fn apply_stateful_policy(
        &mut self,
        cx: &Context,
        (now, times): (Time, PathTimes),
        text: Text,
        segment: &Segment,
        reads: Reads,
    ) -> Option<Time> {
        let acking = cx.config.acking;
        let mut arrival = self.arrival(cx, times, segment, reads);
        arrival.is_in_order = matches!(text, Text::InOrder { .. });
        let memory = self.memory(acking, now);
        if let Text::InOrder { fills_gap: false } = text {
            let due = acking.arrives(now, &arrival, memory);
            self.acknowledge_when(now, due, false)
        } else {
            acking.on_possible_loss(now, &arrival, memory);
            // Without SACK, duplicate ACKs are counted, and none is joined.
            let joins = cx.agreed.sack && !arrival.is_old && !self.is_in_order() && !self.has_nak();
            let due = if joins { acking.behind_gap(now, &arrival, self.memory(acking, now)) } else { None };
            match due {
                Some(due) => self.acknowledge_behind_gap(now, text, due),
                None => self.when_to_acknowledge(now, text, &acking),
            }
        }
    }

    /// Acknowledges data while there is a gap, at the time `due`. Returns the deadline, if the ACK waits.
    fn acknowledge_behind_gap(&mut self, now: Time, text: Text, due: Due) -> Option<Time> {
        if let Text::InOrder { .. } = text {
            self.unacknowledged = self.unacknowledged.saturating_add(1);
            return self.acknowledge_when(now, due, false);
        }
        match due {
            Due::Now => self.acknowledge(Reason::DuplicateAck),
            Due::At(_) => return self.acknowledge_when(now, due, false),
        }
        None
    }

    /// Whether the window is no smaller than at the last ACK (`__tcp_ack_snd_check()`).
    fn is_read_quickly(&self, cx: &Context, unacknowledged: u64, reads: Reads) -> bool {
        let unread = self.readable();
        match self.tuning() {
            Some(tuning) if tuning.counts_memory() => {
                // The ACK that waits for the reader is due when it has read, which is at once.
                reads == Reads::AtOnce || self.has_room_for_unread(tuning, unacknowledged)
            }
            // A scaled window first grows by about an eighth, because packets need less memory than Linux assumes at first
            // (`tcp_grow_window()`). Until then unread data does not make it smaller.
            _ if cx.agreed.largest_window() > 0xFFFF => {
                unread <= unacknowledged + u64::from(self.window() / 8)
            }
            _ => unread <= unacknowledged,
        }
    }

    /// The same where the memory of packets counts.
    fn has_room_for_unread(&self, tuning: &Tuning, unacknowledged: u64) -> bool {
        let full = self.extras.as_ref().and_then(|extras| extras.acking.as_ref()).map_or(0, |m| m.full());
        // Only then anything depends on it.
        let matters = self.readable() > 0 && unacknowledged > u64::from(full);
        let place = self.place();
        !matters || tuning.select(place) >= place.announced
    }

    /// Whether the segment that is being processed has opened the window.
    #[inline]
    fn opens_window(&self) -> bool {
        self.tuning().is_some_and(Tuning::opens_by_memory)
    }

    /// What a policy with state is given about a segment that is not in order.
    #[inline]
    fn arrival(&self, cx: &Context, times: PathTimes, segment: &Segment, reads: Reads) -> Arrival {
        let (received, unacknowledged) = self.progress();
        Arrival {
            shape: Shape { len: segment.payload.len, header_len: segment.header_len, flags: segment.flags },
            is_in_order: false,
            is_old: self.position(segment.seq) < self.nxt() as i64,
            received,
            unacknowledged,
            is_read_quickly: self.is_read_quickly(cx, unacknowledged, reads),
            opens_window: self.opens_window(),
            window: self.window(),
            mss: u32::from(cx.agreed.payload),
            own_header_len: cx.agreed.header_len,
            announced: cx.announced_payload(),
            rto: times.rto,
            srtt: times.srtt,
            receiver_rtt: self.tuning().and_then(Tuning::rtt),
            armed: self.delayed_ack,
        }
    }

    /// The connection is open (`lrcvtime` in `tcp_create_openreq_child()` and `tcp_finish_connect()`).
    #[inline]
    pub(crate) fn opens(&mut self, cx: &Context, now: Time) {
        self.waits_since = Stamp::at(now);
        if let Some(tuning) = self.extras.as_deref_mut().and_then(|extras| extras.tuning.as_deref_mut()) {
            tuning.opens(now, u32::from(cx.agreed.payload));
        }
    }

    /// The state of a policy that has some.
    fn memory(&mut self, acking: Acking, now: Time) -> &mut Memory {
        let opened = self.waits_since.instant(now);
        self.extras().acking.get_or_insert_with(|| Box::new(acking.memory(opened)))
    }

    /// The segment that is being processed asks for quick ACKs, if the policy has such.
    #[cold]
    pub(crate) fn hurry(&mut self, now: Time, acking: Acking) {
        if matches!(acking, Acking::Adaptive(_)) {
            acking.on_mark(self.memory(acking, now));
        }
    }

    /// A segment with data was refused, as old or as unexpected.
    #[cold]
    pub(crate) fn note_refused(&mut self, cx: &Context, now: Time, times: PathTimes, segment: &Segment) {
        let acking = cx.config.acking;
        let is_old = self.position(segment.seq) < self.nxt() as i64;
        if is_old && matches!(acking, Acking::Adaptive(_)) {
            let arrival = self.arrival(cx, times, segment, Reads::Later);
            acking.on_refused(&arrival, self.memory(acking, now));
        }
    }

    /// The peer's FIN has arrived in order at a host that has not closed: its ACK is due now or later.
    #[cold]
    pub(crate) fn acknowledge_fin(&mut self, cx: &Context, now: Time, times: PathTimes, segment: &Segment) {
        let acking = cx.config.acking;
        if !acking.has_state() {
            return self.acknowledge(Reason::Ack);
        }
        let arrival = self.arrival(cx, times, segment, Reads::Later);
        let due = acking.on_fin(now, &arrival, self.memory(acking, now));
        if let Some(when) = self.acknowledge_when(now, due, false) {
            self.delayed_ack = self.delayed_ack.min(when);
        }
    }

    /// A segment without data was processed while an ACK waits. Its timer may be about to expire, or the application may have read
    /// meanwhile, so the ACK may be due now.
    #[cold]
    pub(crate) fn reconsider_ack(&mut self, cx: &Context, now: Time, times: PathTimes, segment: &Segment) {
        let acking = cx.config.acking;
        if !matches!(acking, Acking::Adaptive(_)) {
            return;
        }
        let arrival = self.arrival(cx, times, segment, Reads::Later);
        let due = acking.reconsider(now, &arrival, self.memory(acking, now));
        if let Some(when) = self.acknowledge_when(now, due, false) {
            self.delayed_ack = self.delayed_ack.min(when);
        }
    }

    /// The connection opens while data waits that the SYN did not carry.
    pub(crate) fn opens_with_data(&mut self, cx: &Context, now: Time) {
        let acking = cx.config.acking;
        if acking.has_state() {
            acking.opens_with_data(now, self.memory(acking, now));
        }
    }

    /// When the timer of a delayed ACK expires; [`Time::NEVER`] if it does not run.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Time {
        self.delayed_ack
    }

    /// Whether the ACK of data behind a gap waits.
    pub(crate) fn waits_behind_gap(&self) -> bool {
        let memory = self.extras.as_ref().and_then(|extras| extras.acking.as_ref());
        memory.is_some_and(|memory| memory.waits_behind_gap())
    }

    /// The data that has just arrived behind a gap causes no ACK of its own.
    #[cold]
    pub(crate) fn forgo_ack(&mut self) {
        self.finish_acks();
        if let Some(memory) = self.extras.as_mut().and_then(|extras| extras.acking.as_mut()) {
            memory.forgo_behind_gap();
        }
    }

    /// Stops the delayed ACK timer.
    #[inline]
    pub(crate) fn stop_delayed_ack(&mut self) {
        self.delayed_ack = Time::NEVER;
    }

    /// Makes the ACK due if the delayed ACK timer has expired. `rto` is the RTO of the sender, which some policies use.
    pub(crate) fn on_delayed_ack_timer(&mut self, cx: &mut Context, now: Time, rto: Span) {
        if self.delayed_ack > now {
            return;
        }
        self.delayed_ack = Time::NEVER;
        if self.due == AckDue::Later {
            cx.note(now, Event::Fired { timer: Timer::DelayedAck });
            let joined = self.waits_behind_gap();
            self.acknowledge(if joined { Reason::DuplicateAck } else { Reason::DelayedAck });
            if let Some(memory) = self.extras.as_mut().and_then(|extras| extras.acking.as_mut()) {
                cx.config.acking.on_timer_ack(rto, memory);
            }
        }
    }

    /// The application has read `len` bytes. A window update or a delayed ACK may be due.
    #[inline(always)]
    pub(crate) fn on_read(&mut self, cx: &Context, len: u64) {
        if cx.config.acking.counts_segments() {
            let growth = if len > 0 { self.growth() } else { 0 };
            self.update_window_by(growth, u32::from(cx.agreed.payload));
        } else {
            self.on_read_otherwise(cx, len);
        }
    }

    /// [`Self::on_read`] with a policy that does not only count segments.
    #[cold]
    fn on_read_otherwise(&mut self, cx: &Context, len: u64) {
        self.on_read_with_state(cx, len);
    }

    /// [`Self::on_read`] with a policy that does not only count segments, for a caller that is not on the path of all
    /// connections.
    #[inline(always)]
    pub(crate) fn on_read_with_state(&mut self, cx: &Context, len: u64) {
        let growth = if len > 0 { self.growth() } else { 0 };
        if growth > 0 || self.due == AckDue::Later {
            self.acknowledge_after_read(cx, growth);
        }
    }

    /// The application has read, and the window could grow by `growth`. With a policy that does not only count
    /// segments, a delayed ACK may be due.
    #[inline(always)]
    fn acknowledge_after_read(&mut self, cx: &Context, growth: u64) {
        let mss = u32::from(cx.agreed.payload);
        let (_, unacknowledged) = self.progress();
        let unread = self.readable();
        let memory = self.extras.as_ref().and_then(|extras| extras.acking.as_ref());
        let is_due = self.due == AckDue::Later
            && memory.is_some_and(|memory| memory.is_due_once_read(unacknowledged, unread));
        match cx.config.acking {
            Acking::DelayedBytes { every, .. } | Acking::FreeTickBytes { every, .. } => {
                self.acknowledge_bytes(growth, mss, every);
            }
            // tcp_cleanup_rbuf() looks at the ACK that waits first.
            Acking::Adaptive(_) if is_due && self.counts_memory() => {}
            _ => self.update_window_by(growth, mss),
        }
        if is_due {
            self.acknowledge(Reason::Ack);
        }
    }
}
