//! What a socket is: a place among the descriptors, an address, and, once there is one, a connection.

use netspurt_tcp::Connection;
use netspurt_tcp::state::{CloseReason, State};
use netspurt_tcp::time::Span;
use nix::errno::Errno;
use std::collections::VecDeque;
use std::net::SocketAddrV4;

/// Names a socket as long as it or its connection lives, though its descriptor may be closed.
pub(crate) type Id = u32;

/// What a socket is for.
#[derive(Debug)]
pub(crate) enum Role {
    /// Nothing yet.
    Fresh,
    /// It listens; opened connections wait for `accept` in their order.
    Listening { backlog: usize, ready: VecDeque<Id> },
    /// It is one end of a connection.
    Stream(Box<Connection>),
}

/// What options say, where the connection does not keep it.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    pub(crate) nonblocking: bool,
    pub(crate) reuse_address: bool,
    pub(crate) nodelay: bool,
    pub(crate) cork: bool,
    /// The last write promised more (MSG_MORE).
    pub(crate) more: bool,
    /// SO_SNDBUF as it is read back, if it was set: Linux doubles what was asked for.
    pub(crate) send_buffer: Option<u32>,
    pub(crate) receive_buffer: Option<u32>,
    pub(crate) max_segment: Option<u16>,
    pub(crate) user_timeout: Option<Span>,
    pub(crate) syn_retries: Option<u8>,
    pub(crate) keep_alive: bool,
    pub(crate) linger: Option<Span>,
    pub(crate) not_sent_low: u32,
    /// TCP_NOTSENT_LOWAT as it was set.
    pub(crate) not_sent_set: u32,
    pub(crate) tell_queue: bool,
    pub(crate) type_of_service: u8,
    pub(crate) dont_fragment: bool,
}

impl Choices {
    pub(crate) fn new(not_sent_low: u32) -> Self {
        Self {
            nonblocking: false,
            reuse_address: false,
            nodelay: false,
            cork: false,
            more: false,
            send_buffer: None,
            receive_buffer: None,
            max_segment: None,
            user_timeout: None,
            syn_retries: None,
            keep_alive: false,
            linger: None,
            not_sent_low,
            not_sent_set: 0,
            tell_queue: false,
            type_of_service: 0,
            dont_fragment: true,
        }
    }
}

/// A socket.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) local: Option<SocketAddrV4>,
    pub(crate) remote: Option<SocketAddrV4>,
    pub(crate) role: Role,
    pub(crate) choices: Choices,
    /// Told once: SO_ERROR, or the next call.
    pub(crate) error: Option<Errno>,
    /// The end of the connection has been looked at.
    pub(crate) fate_known: bool,
    /// `connect` was called, and has not reported success yet.
    pub(crate) connecting: bool,
    pub(crate) read_shut: bool,
    pub(crate) write_shut: bool,
    /// No descriptor leads here any more.
    pub(crate) orphan: bool,
    /// The listener that has not handed it out yet.
    pub(crate) parent: Option<Id>,
    /// The listener that made it.
    pub(crate) came_by: Option<Id>,
    /// A listener made it.
    pub(crate) passive: bool,
    /// TCP_FASTOPEN of a listener: how many connections may be open early.
    pub(crate) early: usize,
    /// TCP_FASTOPEN_KEY of a listener.
    pub(crate) keys: Option<crate::fast_open::Keys>,
    /// TCP_FASTOPEN_CONNECT.
    pub(crate) connects_fast: bool,
    /// `connect` was called, and the first write will send the SYN.
    pub(crate) deferred: bool,
    /// What the server's SYN said of Fast Open has been remembered.
    pub(crate) fast_told: bool,
    /// Sequence numbers behind which a packet of Linux's ends, which may hold several segments.
    pub(crate) cuts: std::collections::BTreeSet<u32>,
    /// tcp_wmem[1] as it was when the socket was made.
    default_buffer: u64,
    /// IPv4's identification of the next packet.
    pub(crate) identification: u16,
    /// A writer found no room since the last time that there was some.
    pub(crate) no_space: bool,
    /// How often somebody who waits had reason to look again, and what was known then.
    pub(crate) wakes: u32,
    known: (u64, State, bool),
    /// When data was last received, for TCP_INFO.
    pub(crate) heard_data: netspurt_tcp::time::Time,
}

impl Socket {
    pub(crate) fn new(choices: Choices, default_buffer: u64) -> Self {
        Self {
            local: None,
            remote: None,
            role: Role::Fresh,
            choices,
            error: None,
            fate_known: false,
            connecting: false,
            read_shut: false,
            write_shut: false,
            orphan: false,
            parent: None,
            came_by: None,
            passive: false,
            early: 0,
            keys: None,
            connects_fast: false,
            deferred: false,
            fast_told: false,
            default_buffer,
            cuts: std::collections::BTreeSet::new(),
            identification: 0,
            no_space: false,
            wakes: 0,
            known: (0, State::Closed, false),
            heard_data: netspurt_tcp::time::Time::ZERO,
        }
    }

    /// The connection, if there is one.
    pub(crate) fn stream(&self) -> Option<&Connection> {
        match &self.role {
            Role::Stream(connection) => Some(connection),
            Role::Fresh | Role::Listening { .. } => None,
        }
    }

    /// The same, to be changed.
    pub(crate) fn stream_mut(&mut self) -> Option<&mut Connection> {
        match &mut self.role {
            Role::Stream(connection) => Some(connection),
            Role::Fresh | Role::Listening { .. } => None,
        }
    }

    /// The connection may have ended: what the application will be told.
    pub(crate) fn learn_fate(&mut self) {
        let Some(why) = self.stream().and_then(Connection::closed) else { return };
        if core::mem::replace(&mut self.fate_known, true) {
            return;
        }
        self.error = match why {
            CloseReason::Finished | CloseReason::Aborted => None,
            CloseReason::Reset => Some(Errno::ECONNRESET),
            CloseReason::Refused => Some(Errno::ECONNREFUSED),
            CloseReason::TimedOut | CloseReason::UserTimeout | CloseReason::KeepAliveTimeout => {
                Some(Errno::ETIMEDOUT)
            }
        };
    }

    /// Something has happened: whoever waits shall look again if there is anything new for him.
    pub(crate) fn wake(&mut self) {
        let Some(stream) = self.stream() else { return };
        let known = (stream.received(), stream.state(), stream.peer_finished());
        let room = self.no_space && self.is_writable();
        if room {
            self.no_space = false;
        }
        if known != self.known || room {
            self.known = known;
            self.wakes += 1;
        }
    }

    /// Whether nobody will ever need this socket again.
    pub(crate) fn is_over(&self) -> bool {
        self.orphan && self.stream().is_none_or(|connection| connection.state() == State::Closed)
    }

    /// Whether the connection has been open, be it early.
    pub(crate) fn is_open(&self) -> bool {
        self.stream().is_some_and(|stream| stream.state().is_synchronized() || stream.is_open_early())
    }

    /// Bytes of the send buffer: what was asked for, else `otherwise`.
    pub(crate) fn send_buffer(&self, otherwise: u64) -> u64 {
        self.choices.send_buffer.map_or(otherwise, u64::from)
    }

    /// Whether a writer finds room: a third of the buffer at least, and little enough unsent.
    pub(crate) fn is_writable(&self) -> bool {
        let Some(connection) = self.stream() else { return false };
        let (queued, buffer) =
            (connection.written() - connection.acknowledged(), self.send_buffer(self.default_buffer));
        let low = connection.unsent() < u64::from(self.choices.not_sent_low).div_ceil(2).max(1);
        self.is_open() && !self.write_shut && low && queued + queued / 2 <= buffer
    }
}
