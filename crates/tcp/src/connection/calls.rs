//! What the application asks of a connection: RFC 9293, sections 3.10.1 to 3.10.5.

use crate::connection::Connection;
use crate::opening::state::{CloseReason, State};
use crate::ranges::Range;
use crate::time::Time;
use crate::wire::segment::Payload;
use crate::wire::seq::Seq;

/// Why [`Connection::write`] took nothing (RFC 9293, section 3.10.2).
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

/// What follows behind a piece of data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Behind {
    /// More of the same application data: the piece is a part of a larger write.
    More,
    /// Nothing: application data ends here (PSH, RFC 9293, section 3.9.1.2).
    Nothing,
}

impl Connection {
    /// Active open from CLOSED or LISTEN (RFC 9293, section 3.10.1): the SYN is the next thing to transmit. In any
    /// other state nothing happens.
    pub fn open(&mut self, now: Time) {
        if matches!(self.cx.state(), State::Closed | State::Listen) && self.closed().is_none() {
            self.cx.passive = false;
            self.cx.enter(now, State::SynSent);
        }
    }

    /// The application hands over `len` bytes and so marks an end of application data; returns how many found room in
    /// the send buffer. Before the connection is open they wait.
    ///
    /// # Errors
    /// [`WriteError::NotConnected`] in CLOSED and LISTEN, [`WriteError::Closing`] after [`close`](Self::close).
    pub fn write(&mut self, now: Time, len: u64) -> Result<u64, WriteError> {
        self.write_part(now, len, Behind::Nothing)
    }

    /// The same for a host that hands over a write in parts, such as clusters of 2048 bytes: only the last of them ends
    /// application data, the others promise more. Returns how many bytes found room in the send buffer; if the last part
    /// does not find room whole, application data ends where it was cut, unless it is handed over as
    /// [`Behind::More`] and its rest as [`Behind::Nothing`].
    ///
    /// # Errors
    /// As for [`write`](Self::write).
    pub fn write_part(&mut self, now: Time, len: u64, behind: Behind) -> Result<u64, WriteError> {
        if matches!(self.cx.state(), State::Closed | State::Listen) {
            return Err(WriteError::NotConnected);
        }
        if self.snd.is_closing() || matches!(self.cx.state(), State::LastAck | State::TimeWait) {
            return Err(WriteError::Closing);
        }
        Ok(self.snd.write(&mut self.cx, now, len, behind == Behind::Nothing))
    }

    /// How many bytes a [`write`](Self::write) would accept now.
    #[inline]
    pub fn room(&self) -> u64 {
        self.snd.room(&self.cx)
    }

    /// Bytes that the send buffer holds.
    #[inline]
    pub fn send_buffer(&self) -> u64 {
        self.snd.send_buffer(&self.cx)
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

    /// All that is written may leave, and application data ends there: what an application does that takes TCP_CORK out, or
    /// flushes its buffer. A policy that waits for acknowledgments still waits for them (RFC 1122, section 4.2.3.4:
    /// "regardless of the PSH bit").
    pub fn uncork(&mut self) {
        self.snd.uncork(&self.cx);
    }

    /// The same, but application data does not end there: what Linux does with what MSG_MORE held, once TCP_NODELAY is set.
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

    /// The application takes at most `max` bytes: which part of the peer's stream it gets. `len` is capped at
    /// `u32::MAX`.
    #[inline(always)]
    pub fn read(&mut self, now: Time, max: u64) -> Payload {
        let max = max.min(self.readable()).min(u64::from(u32::MAX));
        let (position, len) = self.rcv.read(max);
        if self.cx.config.initial_receive_window.is_some() {
            self.rcv.tune_to_reader(&self.cx, now);
        }
        self.rcv.was_read(&self.cx, len);
        Payload { offset: position.saturating_sub(1), len: len as u32 }
    }

    /// Since when the acknowledgment of received data is being delayed, to a microsecond; `None` if none is.
    pub fn ack_delayed_since(&self, now: Time) -> Option<Time> {
        self.rcv.waits_since(now)
    }

    /// Where in the peer's stream the byte of this sequence number stands: the place nearest to what is expected next. For a
    /// driver with real bytes; without meaning before the peer's SYN.
    #[inline]
    pub fn place(&self, seq: Seq) -> i64 {
        self.rcv.position(seq) - 1
    }

    /// The bytes of the peer's stream that the segment handled last brought beyond a gap, if it did: a driver with real bytes
    /// keeps them. What it brought in order is what [`received`](Self::received) grew by, as far as the segment reaches.
    #[inline]
    pub fn take_held(&mut self) -> Option<Range> {
        self.rcv.take_held().map(|held| Range::new(held.start - 1, held.end - 1))
    }

    /// Whether the peer has closed and everything that it sent was read.
    #[inline]
    pub fn peer_finished(&self) -> bool {
        self.rcv.is_finished() && self.rcv.readable() == 0
    }

    /// No more writes: FIN goes out behind what is written (RFC 9293, section 3.10.4).
    pub fn close(&mut self, now: Time) {
        match self.cx.state() {
            State::Closed | State::Listen | State::SynSent => self.finish(now, CloseReason::Aborted),
            State::Established => {
                self.snd.close();
                self.cx.enter(now, State::FinWait1);
            }
            // Queued: the FIN leaves once the connection is open, or behind what is still to be sent.
            State::SynReceived | State::CloseWait => self.snd.close(),
            State::FinWait1 | State::FinWait2 | State::Closing | State::LastAck | State::TimeWait => {}
        }
    }

    /// Gives the connection up, with a RST where the peer knows of it (RFC 9293, section 3.10.5).
    pub fn abort(&mut self, now: Time) {
        self.give_up(now, CloseReason::Aborted);
    }
}
