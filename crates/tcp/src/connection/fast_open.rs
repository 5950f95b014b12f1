//! Fast Open, data on a SYN: the calls of the application and the steps of the handshake (RFC 7413).

use crate::config::OldSegments;
use crate::connection::Connection;
use crate::opening::fast_open::{Client, Memory, Outcome, Server, Side, SynData};
use crate::opening::state::State;
use crate::time::Time;
use crate::wire::segment::{Flags, Segment};

impl Connection {
    /// Like [`open`](Self::open). The SYN may also carry data that is written before its transmission, up to one
    /// segment, if `client` permits it (RFC 7413, section 4.2.1).
    pub fn open_fast(&mut self, now: Time, client: Client) {
        self.open(now);
        if self.cx.state() == State::SynSent {
            self.cx.set_fast_open(Memory::new(Side::Client(client)));
        }
    }

    /// Like [`listen`](Self::listen), for a server with Fast Open. If the server accepts the SYN's data, the
    /// application can read and write in SYN-RECEIVED: [`is_open_early`](Self::is_open_early).
    #[must_use]
    pub fn listening_fast(mut self, server: Server) -> Self {
        if self.cx.state() == State::Listen {
            self.cx.set_fast_open(Memory::new(Side::Server(server)));
        }
        self
    }

    /// The result of Fast Open, if it is in use.
    pub fn fast_open(&self) -> Option<Outcome> {
        let Memory { side, data, accepted, peer_option, .. } = *self.cx.fast_open()?;
        let option_sent = matches!(side, Side::Client(Client { option: Some(_), .. }));
        Some(Outcome { data, accepted, option_sent, peer_option, mss: self.snd.peer_mss() })
    }

    /// Whether a SYN with a valid cookie has opened this connection before the end of its handshake.
    pub fn is_open_early(&self) -> bool {
        self.cx.is_open_early()
    }

    /// Whether the application can read and write now, or could before the connection was closed.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.cx.state().is_synchronized() || self.is_open_early()
    }

    /// How many of `len` bytes the SYN can carry, if they are written now.
    pub fn syn_room_for(&self, len: u64) -> u32 {
        self.snd.syn_room_for(&self.cx, len)
    }

    /// Stores the option of the SYN-ACK at a client.
    pub(super) fn store_fast_open_option(&mut self, segment: &Segment) {
        if let Some(memory) = self.cx.fast_open_mut() {
            memory.peer_option = segment.options.fast_open();
        }
    }

    /// Whether a client of Fast Open takes the data of a SYN-ACK, in Linux: if nothing of its SYN must be sent again
    /// (`tcp_rcv_fastopen_synack()`).
    pub(super) fn takes_syn_ack_data(&self) -> bool {
        let is_taken =
            |memory: &Memory| memory.data != SynData::Rejected && !self.snd.space().is_outstanding();
        self.cx.is_fast_open_client() && self.cx.fast_open().is_some_and(is_taken)
    }

    /// Decides whether a listener accepts the data of a SYN. Without Fast Open it keeps them for the application (RFC 9293,
    /// section 3.10.7.2), except in Linux (`tcp_conn_request()`).
    pub(super) fn accepts_syn_data(&mut self, segment: &Segment) -> bool {
        let without = self.cx.config.old_segments != OldSegments::Linux;
        let Some(memory) = self.cx.fast_open_mut() else { return without };
        let Side::Server(server) = memory.side else { return without };
        let verdict = server.evaluate(segment);
        memory.peer_option = segment.options.fast_open();
        (memory.answer, memory.open) = (verdict.answer, verdict.open);
        memory.data = match (segment.payload.len, verdict.open) {
            (0, _) => SynData::None,
            (_, true) => SynData::Accepted,
            (_, false) => SynData::Rejected,
        };
        verdict.open
    }

    /// Whether a reset during the handshake returns the connection to LISTEN. It does not after an active open, or if
    /// the application already uses the connection.
    pub(super) fn returns_to_listen(&self) -> bool {
        self.cx.passive && !self.is_open_early()
    }

    /// Whether the segment is a retransmission of the peer's SYN.
    pub(super) fn is_repeated_syn(&self, segment: &Segment, start: i64) -> bool {
        self.cx.state() == State::SynReceived && start == 0 && !segment.flags.any(Flags::RST | Flags::ACK)
    }
}
