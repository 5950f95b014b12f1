//! The calls of the application: RFC 9293, sections 3.10.1 to 3.10.5.

use crate::connection::Connection;
use crate::opening::state::{CloseReason, State};
use crate::ranges::Range;
use crate::time::Time;
use crate::wire::segment::{Payload, Segment};
use crate::wire::seq::Seq;

/// Why [`Connection::write`] accepted no data (RFC 9293, section 3.10.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WriteError {
    /// There is no connection.
    NotConnected,
    /// This side has closed.
    Closing,
}

impl core::fmt::Display for WriteError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::NotConnected => "connection does not exist",
            Self::Closing => "connection closing",
        })
    }
}

impl core::error::Error for WriteError {}

/// What follows a part of a write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Behind {
    /// More of the same application data.
    More,
    /// Nothing: the application data ends here (PSH, RFC 9293, section 3.9.1.2).
    Nothing,
}

impl Connection {
    /// Active open from CLOSED or LISTEN (RFC 9293, section 3.10.1): the next segment is the SYN. In any other state
    /// nothing happens.
    pub fn open(&mut self, now: Time) {
        if matches!(self.cx.state(), State::Closed | State::Listen) && self.closed().is_none() {
            self.cx.passive = false;
            self.cx.enter(now, State::SynSent);
        }
    }

    /// Writes `len` bytes that end application data. Returns the number of bytes that the send buffer accepted. Before
    /// the connection is open they stay in the buffer.
    ///
    /// # Errors
    /// [`WriteError::NotConnected`] in CLOSED and LISTEN, [`WriteError::Closing`] after [`close`](Self::close).
    pub fn write(&mut self, now: Time, len: u64) -> Result<u64, WriteError> {
        self.write_part(now, len, Behind::Nothing)
    }

    /// The same for a host that passes a write in parts, such as clusters of 2048 bytes. Only the last part ends
    /// application data. Returns the number of bytes that the send buffer accepted. If the buffer accepts only a
    /// portion of the last part, application data ends after that portion. To avoid this, pass the portion as
    /// [`Behind::More`] and the rest as [`Behind::Nothing`].
    ///
    /// # Errors
    /// As for [`write`](Self::write).
    pub fn write_part(&mut self, now: Time, len: u64, behind: Behind) -> Result<u64, WriteError> {
        self.may_write()?;
        let packet = self.payload_of_burst();
        Ok(self.snd.write(&mut self.cx, now, len, (behind == Behind::Nothing, packet)))
    }

    /// The same for another part of a write, whose earlier parts may have been sent meanwhile. Only the beginning of a write
    /// shows that the application has limited the sender (Linux, `tcp_rate_check_app_limited()`). `payload` is what
    /// [`next_payload`](Self::next_payload) was at the beginning: in Linux segments that leave while this part is written are not
    /// longer (`tcp_send_mss()` in `tcp_sendmsg_locked()`).
    ///
    /// # Errors
    /// As for [`write`](Self::write).
    pub fn write_rest(
        &mut self,
        now: Time,
        len: u64,
        behind: Behind,
        payload: u32,
    ) -> Result<u64, WriteError> {
        self.may_write()?;
        if payload < u32::from(self.cx.agreed.payload) && self.cx.config.counts_as_linux() {
            self.cx.begin_short_burst(payload);
        }
        let packet = self.payload_of_burst();
        Ok(self.snd.write_on(&mut self.cx, now, len, (behind == Behind::Nothing, packet)))
    }

    fn may_write(&self) -> Result<(), WriteError> {
        if matches!(self.cx.state(), State::Closed | State::Listen) {
            return Err(WriteError::NotConnected);
        }
        if self.snd.is_closing() || matches!(self.cx.state(), State::LastAck | State::TimeWait) {
            return Err(WriteError::Closing);
        }
        Ok(())
    }

    /// The number of bytes that [`write`](Self::write) accepts now.
    #[inline]
    pub fn room(&self) -> u64 {
        self.snd.room(&self.cx)
    }

    /// The size of the send buffer in bytes.
    #[inline]
    pub fn send_buffer(&self) -> u64 {
        self.snd.send_buffer(&self.cx)
    }

    /// The size of the receive buffer in bytes.
    pub fn receive_buffer(&self) -> u32 {
        self.rcv.buffer()
    }

    /// Like [`write`](Self::write), and the last of these bytes are urgent (RFC 9293, section 3.8.5).
    ///
    /// # Errors
    /// As for [`write`](Self::write).
    pub fn write_urgent(&mut self, now: Time, len: u64) -> Result<u64, WriteError> {
        let accepted = self.write(now, len)?;
        self.snd.mark_urgent();
        Ok(accepted)
    }

    /// Ends a record after all written bytes: no segment will carry bytes from both sides of it, not even when they are
    /// sent again (Linux, MSG_EOR). The end of a record behind which more data waits is sent like the end of all data
    /// with TCP_NODELAY.
    pub fn end_record(&mut self) {
        self.snd.end_record();
    }

    /// Ends application data after all written bytes, so that they may be sent. An application does this when it clears
    /// TCP_CORK or flushes its buffer. A policy that waits for ACKs still waits for them (RFC 1122, section 4.2.3.4:
    /// "regardless of the PSH bit").
    pub fn uncork(&mut self) {
        self.snd.uncork(&self.cx);
    }

    /// The same without an end of application data. Linux does this with data held by MSG_MORE when TCP_NODELAY is set.
    pub fn release(&mut self) {
        self.snd.release(&self.cx);
    }

    /// Bytes received in order and not yet read. Nothing can be read before the connection is open.
    #[inline]
    pub fn readable(&self) -> u64 {
        if self.cx.state() == State::SynReceived && !self.cx.is_open_early() {
            0
        } else {
            self.rcv.readable()
        }
    }

    /// Reads at most `max` bytes and returns their range in the peer's stream. The length is at most `u32::MAX`. A call after the
    /// last byte reads the end of the stream, which takes memory until then where the receive buffer counts it.
    #[inline(always)]
    pub fn read(&mut self, now: Time, max: u64) -> Payload {
        let max = max.min(self.readable()).min(u64::from(u32::MAX));
        let (position, len) = self.rcv.read(max);
        if self.cx.config.initial_receive_window.is_some() {
            self.tune_to_read(now, len);
        } else {
            self.rcv.on_read(&self.cx, len);
        }
        Payload { offset: position.saturating_sub(1), len: len as u32 }
    }

    /// The application has read `len` bytes: adapts the receive window to its pace, and schedules ACKs.
    #[cold]
    #[inline(never)]
    fn tune_to_read(&mut self, now: Time, len: u64) {
        if len == 0 && self.rcv.is_finished() {
            self.rcv.read_end(&self.cx);
        }
        self.tune_to_read_inline(now, len);
    }

    /// The same for a caller that is not on the path of other connections.
    #[inline(always)]
    pub(super) fn tune_to_read_inline(&mut self, now: Time, len: u64) {
        self.rcv.tune_to_reader(&self.cx, now, len);
        if self.cx.config.acking.counts_segments() {
            self.rcv.on_read(&self.cx, len);
        } else {
            self.rcv.on_read_with_state(&self.cx, len);
        }
    }

    /// Since when an ACK is delayed, with a resolution of one microsecond; `None` if no ACK is delayed.
    pub fn ack_delayed_since(&self, now: Time) -> Option<Time> {
        self.rcv.waits_since(now)
    }

    /// Answers to invalid segments count anew: a driver replaces the socket by a smaller one that has answered none.
    pub fn forget_invalid_answers(&mut self) {
        self.cx.set_answered_invalid(None);
    }

    /// When an invalid segment was last answered, as far as the limit of such answers counts it.
    pub fn answered_invalid(&self) -> Option<Time> {
        self.cx.answered_invalid()
    }

    /// The limit of answers to invalid segments counts from `last`: a driver has the same small socket as before.
    pub fn set_answered_invalid(&mut self, last: Option<Time>) {
        self.cx.set_answered_invalid(last);
    }

    /// Whether a segment carries an older timestamp than the last one that was stored (RFC 7323, section 5).
    pub fn is_stamped_before(&self, segment: &Segment) -> bool {
        let stamps = segment.options.timestamps.filter(|_| self.cx.agreed.timestamps);
        stamps.is_some_and(|stamps| self.rcv.is_older(stamps.value))
    }

    /// Whether data or a FIN is stored behind a gap.
    pub fn has_gap(&self) -> bool {
        !self.rcv.waits_for_nothing()
    }

    /// Whether more than this acknowledgment number is acknowledged already.
    pub fn is_acknowledged_beyond(&self, ack: Seq) -> bool {
        self.snd.space().is_old_ack(ack)
    }

    /// Whether a segment behind the handshake announces the present window of the peer.
    pub fn announces_same_window(&self, segment: &Segment) -> bool {
        self.cx.agreed.read_window(segment.window, &segment.options) == self.snd.space().wnd()
    }

    /// The stream offset of the byte with this sequence number, as the offset nearest to the next expected byte. It
    /// serves drivers with real bytes and is undefined before the peer's SYN.
    #[inline]
    pub fn place(&self, seq: Seq) -> i64 {
        self.rcv.position(seq) - 1
    }

    /// The stream range that the last segment delivered out of order, if any. A driver with real bytes must store these
    /// bytes. The increase of [`received`](Self::received) gives the bytes of the segment that were in order.
    #[inline]
    pub fn take_held(&mut self) -> Option<Range> {
        self.rcv.take_held().map(|held| Range::new(held.start - 1, held.end - 1))
    }

    /// Whether the peer has closed and the application has read everything.
    #[inline]
    pub fn peer_finished(&self) -> bool {
        self.rcv.is_finished() && self.rcv.readable() == 0
    }

    /// Closes the sending direction: a FIN follows the written data (RFC 9293, section 3.10.4).
    pub fn close(&mut self, now: Time) {
        match self.cx.state() {
            State::Closed | State::Listen | State::SynSent => self.finish(now, CloseReason::Aborted),
            State::Established => {
                self.snd.close();
                self.cx.enter(now, State::FinWait1);
            }
            // The FIN is sent after the connection is open and all data is sent.
            State::SynReceived | State::CloseWait => self.snd.close(),
            State::FinWait1 | State::FinWait2 | State::Closing | State::LastAck | State::TimeWait => {}
        }
    }

    /// Whether [`close`](Self::close) was called, or the connection is over.
    pub fn is_closing(&self) -> bool {
        self.snd.is_closing() || self.cx.state() == State::Closed
    }

    /// Aborts the connection, with a RST if the peer has state for it (RFC 9293, section 3.10.5).
    pub fn abort(&mut self, now: Time) {
        self.give_up(now, CloseReason::Aborted);
    }
}
