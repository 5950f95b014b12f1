//! Our SYN: the data that it carries (RFC 7413), and its acknowledgment.

use crate::context::Context;
use crate::opening::fast_open::{FastOpen, Side, SynData};
use crate::opening::state::State;
use crate::recovery::rto::Rto;
use crate::send::Sender;
use crate::time::{Span, Time};

/// The space for options that a SYN with data reserves (Linux, MAX_TCP_OPTION_SPACE).
const OPTION_SPACE: u32 = 40;

impl Sender {
    /// How many of `len` bytes the SYN can carry, if they are written now.
    pub(crate) fn syn_room_for(&self, cx: &Context, len: u64) -> u32 {
        self.syn_room_of(cx, self.space.written + len)
    }

    /// How many bytes the next SYN may carry. Only the first SYN carries data, because a middlebox may drop such SYNs
    /// (RFC 7413, section 4.1.3.1).
    pub(crate) fn syn_room(&self, cx: &Context) -> u32 {
        self.syn_room_of(cx, self.space.written)
    }

    fn syn_room_of(&self, cx: &Context, written: u64) -> u32 {
        let Some(Side::Client(client)) = cx.fast_open().map(|memory| memory.side) else { return 0 };
        let asks = client.option.is_some_and(|option| option.cookie.is_none());
        if asks || self.space.max > 0 || cx.state() != State::SynSent {
            return 0;
        }
        let mss = u32::from(cx.agreed.mss.min(client.mss));
        mss.saturating_sub(OPTION_SPACE).min(written.min(u64::from(u32::MAX)) as u32)
    }

    /// The Fast Open option of the next SYN or SYN-ACK.
    pub(crate) fn fast_open_option(&self, cx: &Context) -> Option<FastOpen> {
        match cx.fast_open()?.side {
            Side::Client(client) if self.space.max == 0 => client.option,
            Side::Client(_) => None,
            Side::Server(_) => cx.fast_open()?.answer,
        }
    }

    /// Records that our SYN carries `len` bytes.
    pub(crate) fn note_syn_data(&mut self, cx: &mut Context, len: u32) {
        if let Some(memory) = cx.fast_open_mut() {
            memory.data = match (len, memory.data) {
                (1.., _) => SynData::Sent,
                (0, SynData::Sent) => SynData::Rejected,
                (0, data) => data,
            };
        }
    }

    /// The SYN was too long for the path: it is retransmitted immediately without data.
    pub(crate) fn retransmit_syn_without_data(&mut self, cx: &Context) {
        if cx.state() == State::SynSent && cx.fast_open().is_some_and(|memory| memory.data == SynData::Sent) {
            self.space.nxt = 0;
            self.recovery.forget_timed();
        }
    }

    /// Bytes of the SYN's data whose retransmission is in flight.
    pub(crate) fn syn_data_again(&self, cx: &Context) -> u64 {
        cx.syn_data_to_retransmit().min(self.space.max).saturating_sub(self.space.una)
    }

    /// Whether there is unsent data that the SYN did not carry.
    pub(crate) fn has_unsent_after_syn(&self, cx: &Context) -> bool {
        cx.fast_open()
            .is_some_and(|memory| self.space.data_end() > self.space.max.max(memory.retransmit_until))
    }

    /// Our SYN is acknowledged up to `ack`: the rest of its data counts as unsent.
    pub(crate) fn syn_data_acknowledged(&mut self, cx: &mut Context, ack: u64) {
        let sent = self.space.max;
        let Some(memory) = cx.fast_open_mut().filter(|memory| matches!(memory.side, Side::Client(_))) else {
            return;
        };
        if sent > 1 {
            memory.data = if ack == sent { SynData::Accepted } else { SynData::Rejected };
            memory.accepted = ack - 1;
            cx.set_syn_data_to_retransmit(if ack < sent { sent } else { 0 });
            self.space.max = ack;
            self.space.nxt = ack;
            self.space.una = self.space.una.max(ack);
            self.space.marks.forget(ack);
            if ack < sent && cx.config.counts_as_linux() {
                self.separate_syn_data(sent);
            }
        }
    }

    /// Whether data at this position was on our SYN and was not accepted.
    pub(crate) fn is_rejected_syn_data(&self, cx: &Context, start: u64) -> bool {
        start < cx.syn_data_to_retransmit()
    }

    /// Our SYN is acknowledged.
    pub(crate) fn syn_acknowledged(&mut self, cx: &mut Context, now: Time, ack: u64) {
        if let Some(sent) = self.recovery.timed().acknowledged_by(ack) {
            self.recovery.note_first_round_trip(now, now - sent);
        }
        self.take_sample(cx, now, ack, None);
        self.space.una = self.space.una.max(ack.min(1));
        self.space.nxt = self.space.nxt.max(self.space.una);
        let retransmitted = self.timers.unanswered > 0;
        self.timers.unanswered = 0;
        self.timers.stop_retransmit();
        if cx.state() == State::SynReceived && self.space.is_outstanding() {
            self.restart_retransmit(cx, now);
        }
        // The user timeout stops and restarts with the next segment.
        self.stop_user_timeout();
        if retransmitted {
            self.begin_after_lost_syn(cx);
        }
        self.recovery.release_handshake();
        self.begin_pace(cx);
    }

    /// Starts after a retransmitted SYN. The initial window is one segment (RFC 5681, section 3.1), and the RTO is at
    /// least 3 s (RFC 6298, section 5.7).
    fn begin_after_lost_syn(&mut self, cx: &Context) {
        self.begin_with(cx, u32::from(cx.agreed.payload));
        if matches!(self.rto, Rto::Rfc6298(_) | Rto::Linux(_)) {
            self.timers.reset_rto(Span::from_secs(3).max(self.rto.rto(&cx.config.rto)));
        }
    }
}
