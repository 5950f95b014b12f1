//! Fast Open: data on a SYN, as the application and the handshake see it (RFC 7413).

use crate::connection::Connection;
use crate::opening::fast_open::{Client, Memory, Outcome, Server, Side, SynData};
use crate::opening::state::State;
use crate::time::Time;
use crate::wire::segment::{Flags, Segment};

impl Connection {
    /// Like [`open`](Self::open), and what is written before the SYN is transmitted may leave with it, as far as one segment
    /// takes it, if `client` has what that needs (RFC 7413, section 4.2.1).
    pub fn open_fast(&mut self, now: Time, client: Client) {
        self.open(now);
        if self.cx.state() == State::SynSent {
            self.cx.set_fast_open(Memory::new(Side::Client(client)));
        }
    }

    /// Like [`listen`](Self::listen), for a server that knows of Fast Open. If the SYN's data is taken, the connection can be
    /// read and written in SYN-RECEIVED already: [`is_open_early`](Self::is_open_early).
    #[must_use]
    pub fn listening_fast(mut self, server: Server) -> Self {
        if self.cx.state() == State::Listen {
            self.cx.set_fast_open(Memory::new(Side::Server(server)));
        }
        self
    }

    /// How Fast Open went, if it was tried.
    pub fn fast_open(&self) -> Option<Outcome> {
        let Memory { side, data, taken, heard, .. } = *self.cx.fast()?;
        let asked = matches!(side, Side::Client(Client { option: Some(_), .. }));
        Some(Outcome { data, taken, asked, heard, mss: self.snd.peer_mss() })
    }

    /// Whether a SYN with the right cookie has opened this connection before its handshake is over.
    pub fn is_open_early(&self) -> bool {
        self.cx.is_open_early()
    }

    /// Whether it is, or has been, open for the application, be it early.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.cx.state().is_synchronized() || self.is_open_early()
    }

    /// How many of `len` bytes the SYN could carry if they were written now.
    pub fn syn_room_for(&self, len: u64) -> u32 {
        self.snd.syn_room_for(&self.cx, len)
    }

    /// The peer's SYN-ACK, to a client.
    pub(super) fn hear_fast_open(&mut self, segment: &Segment) {
        if let Some(memory) = self.cx.fast_mut() {
            memory.heard = segment.options.fast_open();
        }
    }

    /// A SYN has come to a listener: whether the text that it carries is taken now.
    pub(super) fn takes_syn_text(&mut self, segment: &Segment) -> bool {
        let Some(memory) = self.cx.fast_mut() else { return true };
        let Side::Server(server) = memory.side else { return true };
        let verdict = server.judge(segment);
        memory.heard = segment.options.fast_open();
        (memory.answer, memory.open) = (verdict.answer, verdict.open);
        memory.data = match (segment.payload.len, verdict.open) {
            (0, _) => SynData::None,
            (_, true) => SynData::Taken,
            (_, false) => SynData::Refused,
        };
        verdict.open
    }

    /// Whether a reset before the handshake is over ends the connection, since somebody has it already, instead of leading back
    /// to LISTEN; or whether it never was one that listens.
    pub(super) fn returns_to_listen(&self) -> bool {
        self.cx.passive && !self.is_open_early()
    }

    /// Whether a SYN of the peer's comes again.
    pub(super) fn is_syn_again(&self, segment: &Segment, start: i64) -> bool {
        self.cx.state() == State::SynReceived && start == 0 && !segment.flags.any(Flags::RST | Flags::ACK)
    }
}
