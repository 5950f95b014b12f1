//! Fast Open: data on a SYN (RFC 7413).
//!
//! A client that has been at a server before shows the cookie that it got there, and its SYN may carry data, which the server
//! hands to the application, and may answer, before the handshake is over. The driver keeps cookies and knows addresses; the
//! connection knows what a SYN may carry and what becomes of it.

use crate::opening::isn::write_address;
use crate::wire::options::{Options, SackBlocks};
use crate::wire::segment::Segment;
use core::hash::Hasher;
use core::net::IpAddr;
use siphasher::sip::SipHasher24;

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
pub(crate) struct Verdict {
    /// Its data is taken, and the application may answer before the handshake is over.
    pub(crate) open: bool,
    /// What the SYN-ACK says.
    pub(crate) answer: Option<FastOpen>,
}

impl Server {
    /// RFC 7413, section 4.2.2; where it leaves a choice, as Linux (`tcp_try_fastopen()`): a SYN with the right cookie and no
    /// data opens at once too.
    pub(crate) fn judge(&self, segment: &Segment) -> Verdict {
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
pub(crate) enum Side {
    Client(Client),
    Server(Server),
}

/// What an end remembers of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) side: Side,
    pub(crate) data: SynData,
    pub(crate) taken: u64,
    pub(crate) heard: Option<FastOpen>,
    pub(crate) answer: Option<FastOpen>,
    /// A server's connection that is as good as open, though the handshake is not over.
    pub(crate) open: bool,
    /// Position behind the data of our SYN that must be sent again; 0 if there is none.
    pub(crate) again: u64,
}

impl Memory {
    /// What a listener knows before a SYN arrives.
    pub(crate) fn of_a_listener(&self) -> Option<Box<Self>> {
        matches!(self.side, Side::Server(_)).then(|| Self::new(self.side))
    }

    pub(crate) fn new(side: Side) -> Box<Self> {
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
