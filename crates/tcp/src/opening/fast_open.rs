//! Fast Open: data on a SYN (RFC 7413).
//!
//! A client that has been at a server before shows the cookie that it got there, and its SYN may carry data, which the server
//! hands to the application, and may answer, before the handshake is over. The driver keeps cookies and knows addresses; the
//! connection knows what a SYN may carry and what becomes of it.

use crate::connection::Connection;
use crate::opening::isn::write_address;
use crate::opening::state::State;
use crate::time::Time;
use crate::wire::options::{Options, SackBlocks};
use crate::wire::segment::{Flags, Segment};
use core::hash::Hasher;
use core::net::IpAddr;
use siphasher::sip::SipHasher24;

/// Octets of options that a SYN leaves room for, whichever it has (Linux, MAX_TCP_OPTION_SPACE).
const OPTION_SPACE: u32 = 40;

/// How the option stands on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// Kind 34 (RFC 7413, section 4.1.1).
    Numbered,
    /// Kind 254 with ExID 0xF989: as it was tried out before it had a number (RFC 7413, section 4.1.1; RFC 6994).
    Experimental,
}

/// A cookie: 4 to 16 octets, an even number (RFC 7413, section 4.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cookie {
    len: u8,
    octets: [u8; 16],
}

impl Cookie {
    /// A cookie of these octets; `None` if they cannot be one.
    pub fn new(from: &[u8]) -> Option<Self> {
        let mut octets = [0; 16];
        octets.get_mut(..from.len())?.copy_from_slice(from);
        (from.len() >= 4 && from.len().is_multiple_of(2)).then_some(Self { len: from.len() as u8, octets })
    }

    /// Its octets.
    pub fn as_slice(&self) -> &[u8] {
        &self.octets[..usize::from(self.len)]
    }
}

/// What a Fast Open option says: without a cookie it asks for one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FastOpen {
    /// How it stands on the wire.
    pub form: Form,
    /// The cookie; `None` asks for one.
    pub cookie: Option<Cookie>,
}

/// The head of the option as [`Options`] keep it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    form: Form,
    len: u8,
}

impl Head {
    /// Octets on the wire without padding.
    pub(crate) fn wire_len(self) -> u8 {
        self.len + if self.form == Form::Numbered { 2 } else { 4 }
    }
}

impl Options {
    /// The same with this Fast Open option. SACK blocks give way to it.
    #[must_use]
    pub fn with_fast_open(self, FastOpen { form, cookie }: FastOpen) -> Self {
        let octets = cookie.map_or([0; 16], |cookie| cookie.octets);
        let words = core::array::from_fn(|n| {
            u32::from_be_bytes([octets[4 * n], octets[4 * n + 1], octets[4 * n + 2], octets[4 * n + 3]])
        });
        let head = Head { form, len: cookie.map_or(0, |cookie| cookie.len) };
        Self { fast_open: Some(head), sack: SackBlocks::from_words(words), ..self }
    }

    /// The Fast Open option, if there is one.
    pub fn fast_open(&self) -> Option<FastOpen> {
        let Head { form, len } = self.fast_open?;
        let mut octets = [0; 16];
        for (place, word) in octets.as_chunks_mut::<4>().0.iter_mut().zip(self.sack.words()) {
            *place = word.to_be_bytes();
        }
        Some(FastOpen { form, cookie: (len > 0).then_some(Cookie { len, octets }) })
    }
}

/// A server's secret, which its cookies are made with (RFC 7413, section 4.1.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key(pub [u8; 16]);

impl Key {
    /// The cookie of this client at this server: SipHash-2-4 over both addresses, as Linux makes it.
    pub fn cookie(&self, client: IpAddr, server: IpAddr) -> Cookie {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        for address in [client, server] {
            write_address(&mut hasher, address);
        }
        let mut octets = [0; 16];
        octets[..8].copy_from_slice(&hasher.finish().to_le_bytes());
        Cookie { len: 8, octets }
    }
}

/// What a client knows when it opens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Client {
    /// What the SYN says of Fast Open: a cookie, or the wish for one; `None` sends data with neither, to a server that is known
    /// to ask for no cookies (RFC 7413, section 4.1.3).
    pub option: Option<FastOpen>,
    /// The MSS that the server announced last; 536 if unknown (RFC 7413, section 4.2.1).
    pub mss: u16,
}

/// What a server demands of data on a SYN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Demand {
    /// There is no Fast Open here: the data is left for the client to repeat, the option is not answered.
    Never,
    /// The right cookie; who shows another one, or asks, is given it (RFC 7413, section 4.2.2).
    Cookie,
    /// Nothing: every SYN's data is taken (RFC 7413, section 4.1.3: whoever may send here is known otherwise).
    Nothing,
}

/// What a server knows when a SYN comes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Server {
    /// What it demands.
    pub demand: Demand,
    /// This client's cookie.
    pub cookie: Cookie,
    /// The cookie of the key before, which is still taken (RFC 7413, section 4.1.2).
    pub before: Option<Cookie>,
}

/// What a server makes of a SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Verdict {
    /// Its data is taken, and the application may answer before the handshake is over.
    open: bool,
    /// What the SYN-ACK says.
    answer: Option<FastOpen>,
}

impl Server {
    /// RFC 7413, section 4.2.2; where it leaves a choice, as Linux (`tcp_try_fastopen()`): a SYN with the right cookie and no
    /// data opens at once too.
    fn judge(&self, segment: &Segment) -> Verdict {
        let shut = Verdict { open: false, answer: None };
        let heard = segment.options.fast_open();
        if self.demand == Demand::Never || (heard.is_none() && segment.payload.len == 0) {
            return shut;
        }
        let Some(FastOpen { form, cookie }) = heard else {
            return Verdict { open: self.demand == Demand::Nothing, ..shut };
        };
        let given = Some(FastOpen { form, cookie: Some(self.cookie) });
        match cookie {
            _ if self.demand == Demand::Nothing => Verdict { open: true, answer: None },
            Some(shown) if shown == self.cookie => Verdict { open: true, answer: None },
            Some(shown) if Some(shown) == self.before => Verdict { open: true, answer: given },
            Some(_) | None => Verdict { open: false, answer: given },
        }
    }
}

/// What became of the data on a SYN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SynData {
    /// There was none.
    None,
    /// It is on its way.
    Sent,
    /// The receiver took it: all of it, or the first part.
    Taken,
    /// The receiver did not, or the SYN was lost: it is sent again when the connection is open.
    Refused,
}

/// How Fast Open went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// What became of the data on the SYN: on ours, or on the peer's.
    pub data: SynData,
    /// Bytes of our SYN that the peer took with it.
    pub taken: u64,
    /// Our SYN said something of Fast Open: what the peer's says unasked is not to be remembered.
    pub asked: bool,
    /// What the peer's SYN said: to a client, the cookie to be shown next time.
    pub heard: Option<FastOpen>,
    /// The MSS that the peer's SYN announced, for the next time.
    pub mss: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Client(Client),
    Server(Server),
}

/// What an end remembers of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    side: Side,
    data: SynData,
    taken: u64,
    heard: Option<FastOpen>,
    answer: Option<FastOpen>,
    /// A server's connection that is as good as open, though the handshake is not over.
    open: bool,
    /// Position behind the data of our SYN that must be sent again; 0 if there is none.
    pub(crate) again: u64,
}

impl Memory {
    fn new(side: Side) -> Box<Self> {
        Box::new(Self {
            side,
            data: SynData::None,
            taken: 0,
            heard: None,
            answer: None,
            open: false,
            again: 0,
        })
    }
}

impl Memory {
    /// What a listener knows, and nothing has come yet.
    pub(crate) fn as_listener(&self) -> Option<Box<Self>> {
        matches!(self.side, Side::Server(_)).then(|| Self::new(self.side))
    }
}

impl Connection {
    /// Like [`open`](Self::open), and what is written before the SYN is transmitted may leave with it, as far as one segment
    /// takes it, if `client` has what that needs (RFC 7413, section 4.2.1).
    pub fn open_fast(&mut self, now: Time, client: Client) {
        self.open(now);
        if self.state == State::SynSent {
            self.rare().fast_open = Some(Memory::new(Side::Client(client)));
        }
    }

    /// Like [`listen`](Self::listen), for a server that knows of Fast Open. If the SYN's data is taken, the connection can be
    /// read and written in SYN-RECEIVED already: [`is_open_early`](Self::is_open_early).
    #[must_use]
    pub fn listening_fast(mut self, server: Server) -> Self {
        if self.state == State::Listen {
            self.rare().fast_open = Some(Memory::new(Side::Server(server)));
        }
        self
    }

    /// How Fast Open went, if it was tried.
    pub fn fast_open(&self) -> Option<Outcome> {
        let Memory { side, data, taken, heard, .. } = *self.fast()?;
        let asked = matches!(side, Side::Client(Client { option: Some(_), .. }));
        Some(Outcome { data, taken, asked, heard, mss: self.peer_mss() })
    }

    /// Whether a SYN with the right cookie has opened this connection before its handshake is over.
    pub fn is_open_early(&self) -> bool {
        self.state == State::SynReceived && self.fast().is_some_and(|memory| memory.open)
    }

    /// Whether it is, or has been, open for the application, be it early.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.state.is_synchronized() || self.is_open_early()
    }

    fn fast(&self) -> Option<&Memory> {
        self.rare.as_ref()?.fast_open.as_deref()
    }

    fn fast_mut(&mut self) -> Option<&mut Memory> {
        self.rare.as_mut()?.fast_open.as_deref_mut()
    }

    /// How many of `len` bytes the SYN could carry if they were written now.
    pub fn syn_room_for(&self, len: u64) -> u32 {
        self.syn_room_of(self.snd.written + len)
    }

    /// How many bytes the SYN that leaves now may carry: the first one only, for whoever does not answer it may be in the way of
    /// such SYNs (RFC 7413, section 4.1.3.1).
    pub(crate) fn syn_room(&self) -> u32 {
        self.syn_room_of(self.snd.written)
    }

    fn syn_room_of(&self, written: u64) -> u32 {
        let Some(Side::Client(client)) = self.fast().map(|memory| memory.side) else { return 0 };
        let asks = client.option.is_some_and(|option| option.cookie.is_none());
        if asks || self.snd.max > 0 || self.state != State::SynSent {
            return 0;
        }
        let mss = u32::from(self.agreed.mss.min(client.mss));
        mss.saturating_sub(OPTION_SPACE).min(written.min(u64::from(u32::MAX)) as u32)
    }

    /// What the SYN, or SYN-ACK, that leaves now says of Fast Open.
    pub(crate) fn fast_open_option(&self) -> Option<FastOpen> {
        match self.fast()?.side {
            Side::Client(client) if self.snd.max == 0 => client.option,
            Side::Client(_) => None,
            Side::Server(_) => self.fast()?.answer,
        }
    }

    /// Our SYN leaves with so many bytes.
    pub(crate) fn note_syn_data(&mut self, len: u32) {
        if let Some(memory) = self.fast_mut() {
            memory.data = match (len, memory.data) {
                (1.., _) => SynData::Sent,
                (0, SynData::Sent) => SynData::Refused,
                (0, data) => data,
            };
        }
    }

    /// The SYN was too large for the path: it goes again at once, without data.
    pub(crate) fn forgo_syn_data(&mut self) {
        if self.state == State::SynSent && self.fast().is_some_and(|memory| memory.data == SynData::Sent) {
            self.snd.nxt = 0;
            self.snd.timed_end = 0;
        }
    }

    /// What of the SYN's data is on its way a second time.
    pub(crate) fn syn_data_again(&self) -> u64 {
        self.fast().map_or(0, |memory| memory.again.min(self.snd.max).saturating_sub(self.snd.una))
    }

    /// Whether data waits to be sent that no SYN carried.
    pub(crate) fn waits_behind_syn(&self) -> bool {
        self.fast().is_some_and(|memory| self.snd.data_end() > self.snd.max.max(memory.again))
    }

    /// Whether this end tried to open with data: text on the SYN of a peer that did so too is left for it to repeat.
    pub(crate) fn opens_fast(&self) -> bool {
        self.fast().is_some_and(|memory| matches!(memory.side, Side::Client(_)))
    }

    /// Our SYN is acknowledged up to `ack`: what else it carried counts as never sent.
    pub(crate) fn settle_syn_data(&mut self, ack: u64) {
        let sent = self.snd.max;
        let Some(memory) = self.fast_mut().filter(|memory| matches!(memory.side, Side::Client(_))) else {
            return;
        };
        if sent > 1 {
            memory.data = if ack == sent { SynData::Taken } else { SynData::Refused };
            memory.taken = ack - 1;
            memory.again = if ack < sent { sent } else { 0 };
            self.snd.max = ack;
            self.snd.nxt = ack;
            self.snd.una = self.snd.una.max(ack);
            self.snd.marks.forget(ack);
        }
    }

    /// The peer's SYN-ACK, to a client.
    pub(crate) fn hear_fast_open(&mut self, segment: &Segment) {
        if let Some(memory) = self.fast_mut() {
            memory.heard = segment.options.fast_open();
        }
    }

    /// A SYN has come to a listener: whether the text that it carries is taken now.
    pub(crate) fn takes_syn_text(&mut self, segment: &Segment) -> bool {
        let Some(memory) = self.fast_mut() else { return true };
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
    pub(crate) fn returns_to_listen(&self) -> bool {
        self.passive && !self.is_open_early()
    }

    /// Whether a SYN of the peer's comes again.
    pub(crate) fn is_syn_again(&self, segment: &Segment, start: i64) -> bool {
        self.state == State::SynReceived && start == 0 && !segment.flags.any(Flags::RST | Flags::ACK)
    }

    /// Whether data at this position was on a SYN that did not bring it.
    pub(crate) fn repeats_syn_data(&self, start: u64) -> bool {
        self.fast().is_some_and(|memory| start < memory.again)
    }
}
