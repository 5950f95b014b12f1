//! The signals to congestion control, and its view of the connection.

pub(super) mod deliveries;
mod switch;

use crate::config::{Grows, Reduces};
use crate::congestion::{AvoidanceAck, Signal, View};
use crate::context::Context;
use crate::record::event::Event;
use crate::send::Sender;
use crate::time::{Span, Time};

impl Sender {
    /// The view for congestion control; `flight` bytes were outstanding.
    #[inline]
    pub(crate) fn view(&self, cx: &Context, now: Time, flight: u64) -> View {
        let own = cx.config.send_window.unwrap_or(u32::MAX);
        View {
            now,
            mss: u32::from(cx.agreed.payload),
            flight: flight.min(u64::from(u32::MAX)) as u32,
            window: self.congestion.cwnd().min(self.space.wnd).min(own),
            srtt: self.srtt(cx),
            rtt: self.latest_rtt(),
            paced: cx.config.pacing,
            acknowledged: self.space.una,
            sent: self.space.max,
            cwnd_limited: self.uses_cwnd(cx),
        }
    }

    /// Passes a signal to congestion control.
    pub(crate) fn signal(&mut self, cx: &mut Context, now: Time, signal: Signal, flight: u64) {
        let cuts = matches!(signal, Signal::EnterRecovery | Signal::Timeout { .. } | Signal::EcnCe);
        let flight = match cx.config.reduces {
            Reduces::Cwnd if cuts => u64::from(self.congestion.cwnd()),
            Reduces::Cwnd | Reduces::Flight => flight,
        };
        let view = self.view(cx, now, flight);
        let before = self.congestion.ssthresh();
        self.congestion.on(signal, &view);
        // Linux withdraws CWR where an undo raises ssthresh (`tcp_undo_cwnd_reduction()`): not if a mark has forbidden it.
        let withdraws = !cx.config.counts_as_linux() || self.congestion.ssthresh() > before;
        self.note_reduction(cx, signal, withdraws);
        self.note_window(cx, now);
    }

    /// The same for an ACK of new data outside recovery, without an event.
    #[inline(always)]
    pub(crate) fn open_window(&mut self, cx: &Context, now: Time, bytes: u32, flight: u64) {
        if !self.congestion.acked(bytes, u32::from(cx.agreed.payload)) {
            self.signal_acked(cx, now, bytes, flight);
        }
    }

    /// The same off the path of most connections.
    #[inline(never)]
    pub(in crate::send) fn open_window_apart(&mut self, cx: &Context, now: Time, bytes: u32, flight: u64) {
        self.open_window(cx, now, bytes, flight);
    }

    /// The same for an algorithm that needs more than the number of acknowledged bytes.
    #[inline(never)]
    fn signal_acked(&mut self, cx: &Context, now: Time, bytes: u32, flight: u64) {
        let view = self.view(cx, now, flight);
        self.congestion.on(Signal::Acked { bytes }, &view);
    }

    /// [`Self::open_window`] after an ACK in the ordinary state that has moved SND.UNA from `before` and leaves data
    /// outstanding, where losses are detected by time: `rtt` is the RTT that it shows. Tests first for the
    /// congestion avoidance that most of these connections use.
    #[inline(always)]
    pub(crate) fn open_window_calmly(&mut self, cx: &Context, now: Time, before: u64, rtt: Option<Span>) {
        let bytes = (self.space.una - before) as u32;
        if !self.congestion.takes_avoidance_ack() {
            return self.open_window_apart(cx, now, bytes, self.space.max - before);
        }
        self.congestion.acked_in_avoidance(AvoidanceAck {
            bytes,
            now,
            mss: u32::from(cx.agreed.payload).max(1),
            rtt,
            cwnd_limited: self.uses_cwnd(cx),
        });
    }

    /// Records the windows of congestion control as an event.
    #[inline]
    pub(crate) fn note_window(&mut self, cx: &mut Context, now: Time) {
        if cx.is_recording() {
            let (cwnd, ssthresh) = (self.congestion.cwnd(), self.congestion.ssthresh());
            cx.note(now, Event::Window { cwnd, ssthresh });
        }
    }

    /// RFC 5681, section 4.1: cwnd restarts after an idle time of one RTO.
    #[inline]
    pub(crate) fn restart_if_idle(&mut self, cx: &mut Context, now: Time) {
        if !self.space.is_outstanding() && cx.config.idle_restart && self.space.max > 1 {
            self.restart_after(cx, now, now - self.space.last_sent);
        }
    }

    #[cold]
    fn restart_after(&mut self, cx: &mut Context, now: Time, pause: Span) {
        let rto = self.timers.rto();
        // In a recovery, and while a mark reduces cwnd, Linux restarts from the window of PRR, which is small then.
        let reduces = self.takes_acks_as_linux(cx) && self.recovery.prr_window().is_some();
        if pause > rto && !reduces {
            let timeouts = (pause.as_ps() - 1) / rto.as_ps().max(1);
            let timeouts = u32::try_from(timeouts).unwrap_or(u32::MAX);
            self.signal(cx, now, Signal::IdleRestart { timeouts }, 0);
        }
    }

    /// Whether the use of cwnd permits its growth (cwnd validation).
    #[inline]
    fn uses_cwnd(&self, cx: &Context) -> bool {
        let cwnd = self.congestion.cwnd();
        match cx.config.growth.grows {
            Grows::Always | Grows::WhenLimiting => self.cwnd_limited,
            Grows::WhenUsed => self.space.usage.opens(cwnd, || cwnd < self.congestion.ssthresh()),
        }
    }

    /// Increases cwnd for an ACK of new data outside recovery. An ACK that reports a mark does not increase it (RFC
    /// 3168, section 6.1.2), except with feedback per segment (RFC 8257, section 3.4).
    #[inline]
    pub(crate) fn open_window_unless_marked(&mut self, cx: &mut Context, now: Time, bytes: u32, flight: u64) {
        let una = self.space.una;
        if !cx.ecn().is_some_and(|memory| memory.prevents_growth(una)) {
            self.open_window_apart(cx, now, bytes, flight);
        }
    }

    /// Records a signal in the ECN state. An undo withdraws CWR if `withdraws`.
    #[inline]
    fn note_reduction(&mut self, cx: &mut Context, signal: Signal, withdraws: bool) {
        let max = self.space.max;
        if let Some(memory) = cx.ecn() {
            memory.note_signal(signal, max, withdraws);
        }
    }
}
