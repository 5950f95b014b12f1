//! Encodes and parses echo messages of ICMP (RFC 792) and ICMPv6 (RFC 4443, section 4).
//!
//! A request contains 12 bytes of data: a token that identifies the prober, and the time of sending. With an IPv4
//! header this makes 40 bytes, the shortest packet in RFC 889.

use netspurt_tcp::codec::internet_checksum;
use netspurt_trace::Stamp;
use std::net::IpAddr;

/// Type, code, checksum, identifier, sequence number.
const HEADER: usize = 8;
/// Token and time.
const MARK: usize = 12;

/// IPv4 or IPv6.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Family {
    /// RFC 791 and 792.
    V4,
    /// RFC 8200 and 4443.
    V6,
}

impl Family {
    /// The family of an address.
    pub const fn of(address: IpAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }

    /// Length of the IP header without options.
    const fn ip_header(self) -> u16 {
        match self {
            Self::V4 => 20,
            Self::V6 => 40,
        }
    }

    /// The shortest packet with token and time, IP header included: 40 bytes in IPv4, 60 in IPv6.
    pub const fn floor(self) -> u16 {
        self.ip_header() + (HEADER + MARK) as u16
    }

    const fn request_type(self) -> u8 {
        match self {
            Self::V4 => 8,
            Self::V6 => 128,
        }
    }

    const fn reply_type(self) -> u8 {
        match self {
            Self::V4 => 0,
            Self::V6 => 129,
        }
    }
}

/// The fields of a request, which its reply returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Echo {
    /// ICMP identifier. The kernel sets it on a ping socket.
    pub(super) identifier: u16,
    pub(super) sequence: u16,
    pub(super) token: u32,
    pub(super) sent: Stamp,
}

/// Why a message is not a reply to this prober.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NotOurs {
    /// It is no echo reply.
    Other,
    /// It is too short for token and time.
    Short,
    /// Its checksum is wrong.
    Damaged,
}

/// Encodes a request as a packet of `length` bytes, IP header included; at least the floor. The kernel sets the IPv6
/// checksum, because it knows the addresses.
pub(super) fn request(family: Family, echo: &Echo, length: u16, into: &mut Vec<u8>) {
    into.clear();
    into.extend([family.request_type(), 0, 0, 0]);
    into.extend(echo.identifier.to_be_bytes());
    into.extend(echo.sequence.to_be_bytes());
    into.extend(echo.token.to_be_bytes());
    into.extend(echo.sent.0.to_be_bytes());
    let len = usize::from(length.max(family.floor()) - family.ip_header());
    // Consecutive numbers, as in ping, make compression or damage of data visible.
    into.extend((into.len()..len).map(|place| place as u8));
    if family == Family::V4 {
        let sum = internet_checksum(into).to_be_bytes();
        into[2..4].copy_from_slice(&sum);
    }
}

/// Parses a reply without its IP header. Returns its fields, and the length of its packet.
pub(super) fn reply(family: Family, message: &[u8]) -> Result<(Echo, u32), NotOurs> {
    if message.first() != Some(&family.reply_type()) || message.get(1) != Some(&0) {
        return Err(NotOurs::Other);
    }
    if family == Family::V4 && internet_checksum(message) != 0 {
        return Err(NotOurs::Damaged);
    }
    let (header, rest) = message.split_first_chunk::<HEADER>().ok_or(NotOurs::Short)?;
    let mark = rest.first_chunk::<MARK>().ok_or(NotOurs::Short)?;
    let length = u32::from(family.ip_header()) + u32::try_from(message.len()).unwrap_or(u32::MAX);
    Ok((echo(header, mark), length))
}

fn echo(header: &[u8; HEADER], mark: &[u8; MARK]) -> Echo {
    let [_, _, _, _, i0, i1, s0, s1] = *header;
    let [t0, t1, t2, t3, time @ ..] = *mark;
    Echo {
        identifier: u16::from_be_bytes([i0, i1]),
        sequence: u16::from_be_bytes([s0, s1]),
        token: u32::from_be_bytes([t0, t1, t2, t3]),
        sent: Stamp(u64::from_be_bytes(time)),
    }
}

/// The part of a request that an ICMP error quotes: at least eight bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Quoted {
    pub(super) identifier: u16,
    pub(super) sequence: u16,
    /// Token and time, if they were quoted.
    pub(super) mark: Option<(u32, Stamp)>,
}

/// Parses the quoted part, without its IP header; `None` if it is no echo request.
pub(super) fn quoted(family: Family, message: &[u8]) -> Option<Quoted> {
    let (header, rest) = message.split_first_chunk::<HEADER>()?;
    if header[0] != family.request_type() || header[1] != 0 {
        return None;
    }
    let Echo { identifier, sequence, .. } = echo(header, &[0; MARK]);
    let mark = rest.first_chunk::<MARK>().map(|mark| echo(header, mark)).map(|echo| (echo.token, echo.sent));
    Some(Quoted { identifier, sequence, mark })
}

/// The message after the IPv4 header, which a raw socket returns too; `None` if the header is incomplete.
pub(super) fn behind_ipv4(packet: &[u8]) -> Option<&[u8]> {
    let first = *packet.first()?;
    let len = usize::from(first & 0x0F) * 4;
    if first >> 4 != 4 || len < 20 {
        return None;
    }
    packet.get(len..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_sim::random::Stream;

    const ECHO: Echo = Echo { identifier: 0x1234, sequence: 7, token: 0xDEAD_BEEF, sent: Stamp(1 << 60) };

    /// The reply of a host to a request.
    fn answered(family: Family, length: u16) -> Vec<u8> {
        let mut message = Vec::new();
        request(family, &ECHO, length, &mut message);
        message[0] = family.reply_type();
        message[2..4].fill(0);
        let sum = internet_checksum(&message);
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        message
    }

    #[test]
    fn a_request_has_the_requested_length_but_at_least_the_floor() {
        let mut message = Vec::new();
        for (family, asked, octets) in
            [(Family::V4, 0, 20), (Family::V4, 1500, 1480), (Family::V6, 40, 20), (Family::V6, 1500, 1460)]
        {
            request(family, &ECHO, asked, &mut message);
            assert_eq!(message.len(), octets, "{family:?} {asked}");
        }
        assert_eq!((Family::V4.floor(), Family::V6.floor()), (40, 60));
    }

    #[test]
    fn a_reply_returns_the_fields_of_the_request() {
        for (family, length) in [(Family::V4, 40), (Family::V4, 65535), (Family::V6, 60), (Family::V6, 1280)]
        {
            assert_eq!(reply(family, &answered(family, length)), Ok((ECHO, u32::from(length))));
        }
    }

    #[test]
    fn a_damaged_reply_is_none() {
        let whole = answered(Family::V4, 100);
        for place in 2..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 0x40;
            assert_eq!(reply(Family::V4, &damaged), Err(NotOurs::Damaged), "octet {place}");
        }
    }

    #[test]
    fn an_error_that_quotes_eight_bytes_has_the_sequence_number() {
        let mut message = Vec::new();
        request(Family::V4, &ECHO, 100, &mut message);
        let short = Quoted { identifier: 0x1234, sequence: 7, mark: None };
        assert_eq!(quoted(Family::V4, &message[..8]), Some(short));
        let long = Quoted { mark: Some((ECHO.token, ECHO.sent)), ..short };
        assert_eq!(quoted(Family::V4, &message), Some(long));
        assert_eq!(quoted(Family::V4, &message[..7]), None);
        assert_eq!(quoted(Family::V6, &message), None, "an IPv4 request in an IPv6 error");
    }

    #[test]
    fn an_ipv4_header_with_options_is_skipped() {
        let packet = [&[0x46][..], &[0; 23], b"icmp"].concat();
        assert_eq!(behind_ipv4(&packet), Some(&b"icmp"[..]));
        for wrong in [&[][..], &[0x45; 19], &[0x65; 40], &[0x44; 40]] {
            assert_eq!(behind_ipv4(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn arbitrary_messages_do_not_panic() {
        for seed in 0..20_000 {
            let mut random = Stream::new(seed, "echo");
            let len = random.below(80) as usize;
            let mut octets: Vec<u8> = (0..len).map(|_| random.bits() as u8).collect();
            if let Some(first) = octets.first_mut().filter(|_| seed % 2 == 0) {
                *first = [0, 8, 128, 129, 0x45][random.below(5) as usize];
            }
            for family in [Family::V4, Family::V6] {
                let _ = (reply(family, &octets), quoted(family, &octets), behind_ipv4(&octets));
            }
        }
    }
}
