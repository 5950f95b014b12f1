//! What congestion control is told, and what it may see.

use crate::config::{Grows, Reduces};
use crate::congestion::{Signal, View};
use crate::context::Context;
use crate::record::event::Event;
use crate::send::Sender;
use crate::time::{Span, Time};

impl Sender {
    /// What congestion control may see, `flight` bytes having been outstanding.
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

    /// Tells congestion control.
    pub(crate) fn signal(&mut self, cx: &mut Context, now: Time, signal: Signal, flight: u64) {
        let cuts = matches!(signal, Signal::EnterRecovery | Signal::Timeout { .. } | Signal::EcnCe);
        let flight = match cx.config.reduces {
            Reduces::Cwnd if cuts => u64::from(self.congestion.cwnd()),
            Reduces::Cwnd | Reduces::Flight => flight,
        };
        let view = self.view(cx, now, flight);
        self.congestion.on(signal, &view);
        self.note_reduction(cx, signal);
        self.note_window(cx, now);
    }

    /// The same for an ACK of new data outside recovery, not noted.
    #[inline(always)]
    pub(crate) fn open_window(&mut self, cx: &Context, now: Time, bytes: u32, flight: u64) {
        if !self.congestion.acked(bytes, u32::from(cx.agreed.payload)) {
            self.signal_acked(cx, now, bytes, flight);
        }
    }

    /// The same for an algorithm that looks at more than what was acknowledged.
    #[inline(never)]
    fn signal_acked(&mut self, cx: &Context, now: Time, bytes: u32, flight: u64) {
        let view = self.view(cx, now, flight);
        self.congestion.on(Signal::Acked { bytes }, &view);
    }

    /// Notes the windows of congestion control.
    #[inline]
    pub(crate) fn note_window(&mut self, cx: &mut Context, now: Time) {
        if cx.is_recording() {
            let (cwnd, ssthresh) = (self.congestion.cwnd(), self.congestion.ssthresh());
            cx.note(now, Event::Window { cwnd, ssthresh });
        }
    }

    /// RFC 5681, section 4.1: a window that has not been used for an RTO says nothing any more.
    #[inline]
    pub(crate) fn restart_if_idle(&mut self, cx: &mut Context, now: Time) {
        if !self.space.is_outstanding() && cx.config.idle_restart && self.space.max > 1 {
            self.restart_after(cx, now, now - self.space.last_sent);
        }
    }

    #[cold]
    fn restart_after(&mut self, cx: &mut Context, now: Time, pause: Span) {
        if pause > self.timers.rto() {
            self.signal(cx, now, Signal::IdleRestart, 0);
        }
    }

    /// Whether the sender uses as much of cwnd as an ACK must find used to open it.
    #[inline]
    fn uses_cwnd(&self, cx: &Context) -> bool {
        let (cwnd, ssthresh) = (self.congestion.cwnd(), self.congestion.ssthresh());
        match cx.config.growth.grows {
            Grows::Always | Grows::WhenLimiting => self.cwnd_limited,
            Grows::WhenUsed => self.space.usage.opens(cwnd, cwnd < ssthresh),
        }
    }

    /// An ACK of new data outside recovery opens the window, but not one that tells of a mark (RFC 3168, section 6.1.2);
    /// where each ACK does that for itself, it means no more than its share (RFC 8257, section 3.4).
    #[inline]
    pub(crate) fn open_window_unless_told(&mut self, cx: &mut Context, now: Time, bytes: u32, flight: u64) {
        let una = self.space.una;
        if !cx.ecn().is_some_and(|memory| memory.is_shut(una)) {
            self.open_window(cx, now, bytes, flight);
        }
    }

    /// Congestion control hears of something.
    #[inline]
    pub(crate) fn note_reduction(&mut self, cx: &mut Context, signal: Signal) {
        let max = self.space.max;
        if let Some(memory) = cx.ecn() {
            memory.note_signal(signal, max);
        }
    }
}
