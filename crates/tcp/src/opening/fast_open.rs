//! Fast Open: data on a SYN (RFC 7413).
//!
//! A client with a cookie from an earlier connection to the server sends it with its SYN, and the SYN may carry data.
//! The server delivers the data to the application, and may send data, before the end of the handshake. The driver
//! stores cookies and addresses. The connection handles the data on the SYN.

pub use crate::wire::fast_open::{Cookie, FastOpen, Form};

use crate::opening::isn::write_address;
use crate::wire::segment::Segment;
use core::hash::Hasher;
use core::net::IpAddr;
use siphasher::sip::SipHasher24;

/// The secret key for a server's cookies (RFC 7413, section 4.1.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key(pub [u8; 16]);

impl Key {
    /// The cookie of this client at this server: SipHash-2-4 over both addresses, as in Linux.
    pub fn cookie(&self, client: IpAddr, server: IpAddr) -> Cookie {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        for address in [client, server] {
            write_address(&mut hasher, address);
        }
        let mut octets = [0; 16];
        octets[..8].copy_from_slice(&hasher.finish().to_le_bytes());
        Cookie::of(8, octets)
    }
}

/// The input of a client's active open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Client {
    /// The option on the SYN: a cookie or a request for one. `None` sends data without the option, to a server that
    /// does not require cookies (RFC 7413, section 4.1.3).
    pub option: Option<FastOpen>,
    /// The MSS that the server last announced; 536 if unknown (RFC 7413, section 4.2.1).
    pub mss: u16,
}

/// When a server accepts data on a SYN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CookiePolicy {
    /// Never. The server ignores the option and the data; the client retransmits the data.
    Disabled,
    /// With a valid cookie. A client with another cookie, or with a request, gets the cookie (RFC 7413, section 4.2.2).
    Required,
    /// Always, without a cookie (RFC 7413, section 4.1.3: clients are authenticated in other ways).
    NotRequired,
}

/// The input of a server's passive open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Server {
    /// When it accepts data on a SYN.
    pub policy: CookiePolicy,
    /// This client's cookie.
    pub cookie: Cookie,
    /// The cookie of the previous key, which is still valid (RFC 7413, section 4.1.2).
    pub previous: Option<Cookie>,
}

/// A server's decision on a SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Verdict {
    /// The data is accepted, and the application may send before the end of the handshake.
    pub(crate) open: bool,
    /// The option on the SYN-ACK.
    pub(crate) answer: Option<FastOpen>,
}

impl Server {
    /// RFC 7413, section 4.2.2; where it leaves a choice, as in Linux (`tcp_try_fastopen()`). A SYN with a valid cookie
    /// and without data opens the connection too.
    pub(crate) fn evaluate(&self, segment: &Segment) -> Verdict {
        let rejected = Verdict { open: false, answer: None };
        let option = segment.options.fast_open();
        if self.policy == CookiePolicy::Disabled || (option.is_none() && segment.payload.len == 0) {
            return rejected;
        }
        let Some(FastOpen { form, cookie }) = option else {
            return Verdict { open: self.policy == CookiePolicy::NotRequired, ..rejected };
        };
        let with_cookie = Some(FastOpen { form, cookie: Some(self.cookie) });
        match cookie {
            _ if self.policy == CookiePolicy::NotRequired => Verdict { open: true, answer: None },
            Some(received) if received == self.cookie => Verdict { open: true, answer: None },
            Some(received) if Some(received) == self.previous => Verdict { open: true, answer: with_cookie },
            Some(_) | None => Verdict { open: false, answer: with_cookie },
        }
    }
}

/// The state of the data on a SYN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SynData {
    /// The SYN carried no data.
    None,
    /// The data is in flight.
    Sent,
    /// The receiver accepted all of it or the first part.
    Accepted,
    /// The receiver rejected it, or the SYN was lost. The sender retransmits it when the connection is open.
    Rejected,
}

/// The result of Fast Open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The state of the data on the SYN: on ours at the client, on the peer's at the server.
    pub data: SynData,
    /// Bytes of data on our SYN that the peer accepted.
    pub accepted: u64,
    /// Whether our SYN carried the option. An unsolicited cookie must not be cached.
    pub option_sent: bool,
    /// The option on the peer's SYN; at a client, the cookie for the next connection.
    pub peer_option: Option<FastOpen>,
    /// The MSS that the peer's SYN announced, for the next connection.
    pub mss: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Client(Client),
    Server(Server),
}

/// The Fast Open state of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) side: Side,
    pub(crate) data: SynData,
    pub(crate) accepted: u64,
    pub(crate) peer_option: Option<FastOpen>,
    pub(crate) answer: Option<FastOpen>,
    /// The server has accepted the SYN, so the application may read and write before the end of the handshake.
    pub(crate) open: bool,
    /// The end position of the data of our SYN that must be retransmitted; 0 if there is none.
    pub(crate) retransmit_until: u64,
}

impl Memory {
    /// The state of a listener before a SYN arrives; `None` at a client.
    pub(crate) fn for_listener(&self) -> Option<Box<Self>> {
        matches!(self.side, Side::Server(_)).then(|| Self::new(self.side))
    }

    pub(crate) fn new(side: Side) -> Box<Self> {
        Box::new(Self {
            side,
            data: SynData::None,
            accepted: 0,
            peer_option: None,
            answer: None,
            open: false,
            retransmit_until: 0,
        })
    }
}
