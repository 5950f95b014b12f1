//! The receiver in a *run*: data arrives in order, is read and acknowledged at once. What depends on the buffer only is
//! computed when the buffer changes.

use super::window_growth::take_echo;
use crate::context::Context;
use crate::receive::acking::Acking;
use crate::receive::receiver::{AckDue, Receiver};
use crate::receive::window_growth::Lies;
use crate::time::{Coarse, Time};
use crate::wire::seq::Seq;

/// What follows from the size of the buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiveRun {
    /// The least growth of the window that is announced.
    worth: u32,
    /// The field that announces all of the buffer, and the window that it stands for.
    field: u16,
    window: u32,
}

impl Receiver {
    /// A run, if one can begin: every segment is acknowledged at once, and none waits.
    pub(crate) fn begin_run(&self, cx: &Context) -> Option<ReceiveRun> {
        let has_acknowledged = self.due == AckDue::No
            && self.unacknowledged == 0
            && self.delayed_ack.is_never()
            && self.nxt as u32 == self.last_ack;
        let is_plain =
            self.extras.as_ref().is_none_or(|rare| rare.acking.is_none() && rare.background.is_none());
        let may_run = cx.config.acking == Acking::EverySegment && self.read == self.nxt;
        (may_run && has_acknowledged && is_plain).then(|| self.size_run(cx))
    }

    fn size_run(&self, cx: &Context) -> ReceiveRun {
        let (field, window) = cx.agreed.write_window(self.buffer, 0);
        let worth = match self.tuning() {
            // A field that cannot hold all of the window does not tell where its right edge is.
            Some(tuning) if tuning.counts_memory() => {
                if field < 0xFFFF {
                    1
                } else {
                    u32::MAX
                }
            }
            _ => (self.buffer / 2).min(u32::from(cx.agreed.mss)).max(1),
        };
        ReceiveRun { worth, field, window }
    }

    /// The application reads the data of a segment that [`Self::takes_whole`] has taken, and the window adapts. Our first
    /// segment was sent at `first`; `echo` is the timestamp that the segment echoes.
    #[inline(always)]
    pub(crate) fn read_in_run(
        &mut self,
        cx: &Context,
        run: &mut ReceiveRun,
        now: Time,
        (first, echo, len): (Coarse, u32, u32),
    ) {
        let mss = u32::from(cx.agreed.payload);
        let Some(tuning) = self.extras.as_deref_mut().and_then(|extras| extras.tuning.as_deref_mut()) else {
            self.read = self.nxt;
            return;
        };
        if tuning.is_new(echo) {
            take_echo(tuning, now, (echo, len, mss), first, false);
        }
        if tuning.passes(len, self.buffer) {
            self.read = self.nxt;
            tuning.read(now, (self.read - u64::from(len), self.read), 0, mss, || 0);
            if tuning.is_settled(self.buffer) {
                return;
            }
        } else {
            if tuning.counts_memory() {
                self.take_packet((self.nxt - u64::from(len), len), cx.agreed.header_len, Lies::InOrder);
            } else {
                tuning.arrives(len, mss);
            }
            self.resize(cx);
            self.read = self.nxt;
        }
        self.resize_run(cx, run, now);
    }

    /// The buffer may change after data was read.
    #[cold]
    fn resize_run(&mut self, cx: &Context, run: &mut ReceiveRun, now: Time) {
        // A second look changes nothing.
        self.tune_to_reader(cx, now, 0);
        *run = self.size_run(cx);
    }

    /// The field of the window for the ACK of a segment that was read, and the acknowledgment number.
    #[inline(always)]
    pub(crate) fn acknowledge_in_run(&mut self, cx: &Context, run: &ReceiveRun) -> (u16, Seq) {
        let promised = self.window();
        let is_worth = self.buffer.saturating_sub(promised) >= run.worth && promised <= run.window;
        let field = if is_worth {
            self.edge = self.nxt + u64::from(run.window);
            self.note_announced(run.field);
            run.field
        } else {
            self.announce(&cx.agreed, cx.config.window_growth).0
        };
        self.last_ack = self.nxt as u32;
        (field, self.seq(self.nxt))
    }

    /// All that was read until now is announced by this field.
    #[inline(always)]
    pub(super) fn note_announced(&mut self, field: u16) {
        (self.announced_read, self.announced_window) = (self.read as u32, field);
    }

    /// The acknowledgment number and the window field of all segments until something arrives or is read, if sending one
    /// changes nothing here.
    pub(crate) fn announces_alike(&self) -> Option<(Seq, u16)> {
        let is_announced = self.nxt as u32 == self.last_ack && self.read as u32 == self.announced_read;
        let is_acknowledged =
            self.due == AckDue::No && self.unacknowledged == 0 && self.delayed_ack.is_never();
        let has_memory = self.extras.as_ref().is_some_and(|extras| extras.acking.is_some());
        let is_alike = is_announced && is_acknowledged && !has_memory;
        is_alike.then(|| (self.seq(self.nxt), self.announced_window))
    }
}
