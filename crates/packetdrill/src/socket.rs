//! A socket: addresses, options and, if there is one, a connection.

use crate::error_queue::ErrorQueue;
use crate::fast_open::Keys;
use crate::queue::fair::Schedule;
use crate::queue::refusing::{Due, INTERVAL, Refusal};
use crate::queue::send_buffer::{FIRST_SEGMENTS, SendBuffer, wakes};
use crate::socket_options::{Family, SocketOptions};
use netspurt_tcp::segment::Ecn;
use netspurt_tcp::state::{CloseReason, State};
use netspurt_tcp::time::Time;
use netspurt_tcp::{Behind, Change, Connection, Info, Segments};
use nix::errno::Errno;
use std::collections::{BTreeSet, VecDeque};
use std::net::{SocketAddr, TcpListener};

/// Identifies a socket until its connection ends, even if its descriptor is closed before.
pub(crate) type Id = u32;

/// What a socket is used for.
#[derive(Debug)]
pub(crate) enum Role {
    /// Neither `listen` nor `connect` was called.
    Fresh,
    /// A listener. `ready` holds the open connections that `accept` has not returned yet, oldest first. `in_kernel` is a listener
    /// of the kernel on the same port, which commands of the script find in /proc/net/tcp.
    Listening {
        backlog: usize,
        ready: VecDeque<Id>,
        #[expect(dead_code, reason = "it lives as long as the listener")]
        in_kernel: Option<TcpListener>,
    },
    /// One end of a connection.
    Stream(Box<Connection>),
}

/// How a socket was created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// By `socket`.
    Application,
    /// By a SYN to this listener; the connection is not in its queue for `accept` yet.
    Opening(Id),
    /// By a SYN to this listener, which has queued the connection or is closed.
    Queued(Id),
}

impl Origin {
    /// The listener that created the socket.
    pub(crate) fn listener(self) -> Option<Id> {
        match self {
            Self::Application => None,
            Self::Opening(listener) | Self::Queued(listener) => Some(listener),
        }
    }
}

/// How far `connect` is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ConnectPhase {
    /// `connect` was not called, or has reported success.
    Idle,
    /// `connect` was called with TCP_FASTOPEN_CONNECT on; the first write sends the SYN.
    Deferred,
    /// The SYN was sent, and `connect` has not reported success yet.
    Opening,
}

/// The directions that `shutdown` has closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shutdown {
    None,
    Read,
    Write,
    Both,
}

impl Shutdown {
    /// The directions closed by either.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, one) | (one, Self::None) => one,
            (Self::Read, Self::Read) => Self::Read,
            (Self::Write, Self::Write) => Self::Write,
            _ => Self::Both,
        }
    }

    pub(crate) fn closes_read(self) -> bool {
        matches!(self, Self::Read | Self::Both)
    }

    pub(crate) fn closes_write(self) -> bool {
        matches!(self, Self::Write | Self::Both)
    }
}

/// Whether a descriptor refers to the socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Descriptor {
    /// One does, or `accept` can still return one.
    Open,
    /// It was closed.
    Closed,
}

/// The end of the connection, as calls report it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The connection has not ended.
    NotYet,
    /// It failed, and no call has returned the error yet.
    Failed(Errno),
    /// It ended without an error, or a call has returned the error.
    Reported,
}

/// Whether a writer waits for space in the send buffer (Linux: SOCK_NOSPACE).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WriteSpace {
    NotNeeded,
    Awaited,
}

/// Whether the server's answer to Fast Open is in the client's cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FastOpenResult {
    Pending,
    Recorded,
}

/// The progress of a connection at the last wake-up of waiting calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Progress {
    received: u64,
    state: State,
    peer: PeerStream,
}

/// Whether the application has read everything up to the peer's FIN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PeerStream {
    Open,
    Finished,
}

impl Progress {
    const START: Self = Self { received: 0, state: State::Closed, peer: PeerStream::Open };

    fn of(stream: &Connection) -> Self {
        let peer = if stream.peer_finished() { PeerStream::Finished } else { PeerStream::Open };
        Self { received: stream.received(), state: stream.state(), peer }
    }
}

/// A socket.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) family: Family,
    pub(crate) local: Option<SocketAddr>,
    pub(crate) remote: Option<SocketAddr>,
    pub(crate) role: Role,
    pub(crate) options: SocketOptions,
    pub(crate) origin: Origin,
    pub(crate) connect: ConnectPhase,
    pub(crate) shutdown: Shutdown,
    pub(crate) descriptor: Descriptor,
    pub(crate) end: End,
    pub(crate) write_space: WriteSpace,
    pub(crate) fast_open_result: FastOpenResult,
    /// TCP_FASTOPEN of a listener: the limit of connections that are open before the handshake is complete.
    pub(crate) fast_open_limit: usize,
    /// TCP_FASTOPEN_KEY of a listener.
    pub(crate) keys: Option<Keys>,
    /// Sequence numbers at which one of Linux's packets of several segments ends.
    pub(crate) packet_ends: BTreeSet<u32>,
    /// The departure times of packets, with the scheduler `fq`.
    pub(crate) schedule: Schedule,
    /// Attempts to send while the queue of the interface refuses all packets.
    pub(crate) refusal: Refusal,
    pub(crate) errors: ErrorQueue,
    /// Bytes written before the last end of a record (MSG_EOR).
    pub(crate) record: u64,
    /// Offset of the peer's urgent byte in its stream.
    pub(crate) urgent: Option<u64>,
    /// Bytes written before the last PSH (`pushed_seq`).
    pub(crate) pushed: u64,
    /// Payload bytes of a full segment when the present call began to write; `None` if it has written nothing yet.
    pub(crate) payload_of_write: Option<u32>,
    /// The codepoint of ECN of the last segment, which is a part of the socket's type of service (`INET_ECN_xmit()`).
    pub(crate) ecn: Ecn,
    send_buffer: SendBuffer,
    /// The cwnd in segments that the send buffer follows.
    send_buffer_for: u64,
    /// IPv4's identification of the next packet.
    pub(crate) identification: u16,
    /// Number of wake-ups of waiting calls, for EPOLLET.
    pub(crate) wakes: u32,
    last_progress: Progress,
    /// When data was last received, for TCP_INFO.
    pub(crate) last_data: Time,
    /// Whether new data arrived with an ECN-capable codepoint before either end closed. Linux notes that even if ECN was not
    /// agreed (`tcp_ecn_received_counters()` in `tcp_rcv_established()`).
    pub(crate) ecn_seen: bool,
    /// The connection before the peer's reset, for TCP_INFO.
    pub(crate) ended: Option<Box<Ended>>,
}

/// A connection before a reset ends it. Linux then frees the queue, but keeps what it knew of losses (`tcp_write_queue_purge()`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    state: State,
    is_closing: bool,
    pub(crate) info: Info,
    pub(crate) segments: Option<Segments>,
}

impl Ended {
    pub(crate) fn of(stream: &Connection) -> Self {
        let (info, segments) = (stream.info(), stream.segments());
        Self { state: stream.state(), is_closing: stream.is_closing(), info, segments }
    }
}

impl Socket {
    pub(crate) fn new(family: Family, options: SocketOptions, send_buffer: SendBuffer) -> Self {
        Self {
            family,
            local: None,
            remote: None,
            role: Role::Fresh,
            options,
            origin: Origin::Application,
            connect: ConnectPhase::Idle,
            shutdown: Shutdown::None,
            descriptor: Descriptor::Open,
            end: End::NotYet,
            write_space: WriteSpace::NotNeeded,
            fast_open_result: FastOpenResult::Pending,
            fast_open_limit: 0,
            keys: None,
            packet_ends: BTreeSet::new(),
            schedule: Schedule::new(),
            refusal: Refusal::NONE,
            errors: ErrorQueue::default(),
            record: 0,
            urgent: None,
            pushed: 0,
            payload_of_write: None,
            ecn: Ecn::NotEct,
            send_buffer,
            send_buffer_for: FIRST_SEGMENTS,
            identification: 0,
            wakes: 0,
            last_progress: Progress::START,
            last_data: Time::ZERO,
            ecn_seen: false,
            ended: None,
        }
    }

    /// The connection, if there is one.
    pub(crate) fn stream(&self) -> Option<&Connection> {
        match &self.role {
            Role::Stream(connection) => Some(connection),
            Role::Fresh | Role::Listening { .. } => None,
        }
    }

    /// The same, mutable.
    pub(crate) fn stream_mut(&mut self) -> Option<&mut Connection> {
        match &mut self.role {
            Role::Stream(connection) => Some(connection),
            Role::Fresh | Role::Listening { .. } => None,
        }
    }

    /// The peer's reset has ended the connection. In CLOSE-WAIT calls report a broken pipe (`tcp_reset()`).
    pub(crate) fn reset(&mut self, before: Ended) {
        if self.end == End::NotYet && before.state == State::CloseWait && !before.is_closing {
            self.end = End::Failed(Errno::EPIPE);
        }
        self.ended = Some(Box::new(before));
    }

    /// Stores the error that calls report if the connection has just ended.
    pub(crate) fn record_end(&mut self) {
        let Some(why) = self.stream().and_then(Connection::closed) else { return };
        if self.end != End::NotYet {
            return;
        }
        self.end = match why {
            CloseReason::Finished | CloseReason::Aborted => End::Reported,
            CloseReason::Reset => End::Failed(Errno::ECONNRESET),
            CloseReason::Refused => End::Failed(Errno::ECONNREFUSED),
            CloseReason::TimedOut | CloseReason::UserTimeout | CloseReason::KeepAliveTimeout => {
                End::Failed(Errno::ETIMEDOUT)
            }
        };
    }

    /// The error of the connection. Only the first call returns it (SO_ERROR).
    pub(crate) fn take_error(&mut self) -> Option<Errno> {
        let End::Failed(error) = self.end else { return None };
        self.end = End::Reported;
        Some(error)
    }

    /// Wakes waiting calls if the connection has made progress or there is space that a writer waits for.
    pub(crate) fn wake(&mut self, now: Time) {
        let awaited = self.write_space == WriteSpace::Awaited;
        if awaited {
            self.expand_send_buffer();
        }
        let space = awaited && self.is_writable();
        let Some(stream) = self.stream_mut() else { return };
        let progress = Progress::of(stream);
        if space {
            stream.note_room(now, true);
            self.write_space = WriteSpace::NotNeeded;
        }
        if progress != self.last_progress || space {
            self.last_progress = progress;
            self.wakes += 1;
        }
    }

    /// When the next timer expires.
    pub(crate) fn next_deadline(&self) -> Time {
        self.stream().map_or(Time::NEVER, Connection::next_deadline).min(self.refusal.deadline())
    }

    /// The queue of the interface refuses what the connection has to send.
    pub(crate) fn refuse(&mut self, now: Time) {
        let Some(stream) = self.stream() else { return };
        let is_outstanding = stream.info().unacknowledged > 0;
        let wait = if is_outstanding {
            // A timeout leaves no timer behind before its retransmission has been sent.
            stream.next_deadline().is_never().then_some(INTERVAL)
        } else {
            (stream.state().is_synchronized() && stream.unsent() > 0).then(|| stream.rto())
        };
        match wait {
            Some(wait) => self.refusal.refuse(now, wait),
            None => self.refusal.stop(),
        }
    }

    /// What was refused may be due again.
    pub(crate) fn try_again(&mut self, now: Time) {
        if self.refusal.deadline() > now {
            return;
        }
        if self.stream().is_some_and(|stream| stream.info().unacknowledged > 0) {
            self.refusal.stop();
        } else if self.refusal.expire(now, self.options.user_timeout) == Due::GivesUp
            && let Some(stream) = self.stream_mut()
        {
            stream.abort(now);
            self.end = End::Failed(Errno::ETIMEDOUT);
        }
    }

    /// Ends the cork of MSG_MORE.
    pub(crate) fn end_more(&mut self, now: Time, default: netspurt_tcp::transmit::Transmit) {
        self.options.after_write = Behind::Nothing;
        let transmit = self.options.transmit(default);
        if let Some(stream) = self.stream_mut() {
            stream.change(now, Change::Transmit(transmit));
        }
    }

    /// Whether the socket can be removed: no descriptor refers to it, and its connection is closed.
    pub(crate) fn is_unused(&self) -> bool {
        self.descriptor == Descriptor::Closed
            && self.stream().is_none_or(|connection| connection.state() == State::Closed)
    }

    /// Whether the connection accepts data: after the handshake, or before its end with Fast Open.
    pub(crate) fn is_open(&self) -> bool {
        self.stream().is_some_and(|stream| stream.state().is_synchronized() || stream.is_open_early())
    }

    /// The size of the send buffer in bytes: SO_SNDBUF if it was set, else its default.
    pub(crate) fn send_buffer_size(&self) -> u64 {
        let own = || self.send_buffer.size(self.stream(), self.send_buffer_for);
        self.options.send_buffer.map_or_else(own, u64::from)
    }

    /// The send buffer of a writer that waits grows if cwnd has room (`tcp_should_expand_sndbuf()`).
    fn expand_send_buffer(&mut self) {
        let Some(stream) = self.stream() else { return };
        let (flight, cwnd) = (stream.flight(), stream.cwnd());
        let payload = stream.segment_payload().max(1);
        if flight + payload <= cwnd {
            self.send_buffer_for = self.send_buffer_for.max(u64::from(cwnd / payload));
        }
    }

    /// How much of the send buffer is in use.
    pub(crate) fn send_buffer_used(&self) -> u64 {
        self.stream().map_or(0, |stream| self.send_buffer.used(stream, &self.packet_ends))
    }

    /// The size to which a packet of segments of `payload` bytes is filled.
    pub(crate) fn packet_goal(&self, payload: u32) -> u64 {
        self.stream().map_or(0, |stream| self.send_buffer.goal(stream, payload))
    }

    /// A write has found no room: its writer waits (SOCK_NOSPACE).
    pub(crate) fn await_space(&mut self, now: Time) {
        self.write_space = WriteSpace::Awaited;
        if let Some(stream) = self.stream_mut() {
            stream.note_room(now, false);
        }
    }

    /// Whether a write would find space: a third of the buffer is free, and at most half of TCP_NOTSENT_LOWAT is unsent
    /// (Linux, `sk_stream_is_writeable()`).
    pub(crate) fn is_writable(&self) -> bool {
        let Some(connection) = self.stream() else { return false };
        let low = connection.unsent() < u64::from(self.options.not_sent_low).div_ceil(2).max(1);
        self.is_open()
            && !self.shutdown.closes_write()
            && low
            && wakes(self.send_buffer_used(), self.send_buffer_size())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sysctl::Settings;

    #[test]
    fn two_shutdowns_close_both_their_directions() {
        assert_eq!(Shutdown::None.and(Shutdown::Read), Shutdown::Read);
        assert_eq!(Shutdown::Write.and(Shutdown::Write), Shutdown::Write);
        assert_eq!(Shutdown::Write.and(Shutdown::Read), Shutdown::Both);
        assert_eq!(Shutdown::Both.and(Shutdown::None), Shutdown::Both);
    }

    #[test]
    fn an_error_is_returned_once() {
        let settings = Settings::parse("sysctl=none").expect("valid flags");
        let mut socket = Socket::new(Family::V4, SocketOptions::new(u32::MAX), SendBuffer::of(&settings));
        socket.end = End::Failed(Errno::ECONNRESET);
        assert_eq!(socket.take_error(), Some(Errno::ECONNRESET));
        assert_eq!(socket.take_error(), None);
    }
}
