//! Which packets of a capture are wanted: the part of tcpdump's language (pcap-filter(7)) that names hosts, networks,
//! ports and protocols, with `and`, `or`, `not` and parentheses.
//!
//! Names of hosts are not looked up: an address has to be written.

use crate::capture::headers::link::LinkType;
use std::net::IpAddr;

/// Parentheses and negations may be nested so deep.
const DEEPEST: usize = 64;

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMP6: u8 = 58;

/// A filter expression, such as `port 443 and host 192.0.2.1`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filter(Test);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Test {
    And(Box<Test>, Box<Test>),
    Or(Box<Test>, Box<Test>),
    Not(Box<Test>),
    /// IP version 4 or 6.
    Version(u8),
    Protocol(u8),
    /// An address of a network.
    Network(Side, IpAddr, u8),
    /// A port of a range.
    Ports(Side, u16, u16),
}

/// Which end of a packet is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Source,
    Destination,
    Either,
}

/// What a filter sees of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seen {
    addresses: [IpAddr; 2],
    protocol: u8,
    /// Source and destination, unless it is a later fragment or has none.
    ports: Option<[u16; 2]>,
}

impl Filter {
    /// Reads an expression. The error is one sentence without a full stop.
    pub fn parse(text: &str) -> Result<Self, String> {
        let spaced =
            text.replace('(', " ( ").replace(')', " ) ").replace("&&", " and ").replace("||", " or ");
        let spaced = spaced.replace('!', " not ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut parser = Parser { words: &words, depth: 0 };
        let test = parser.either()?;
        match parser.words.first() {
            None => Ok(Self(test)),
            Some(word) => Err(format!("{word:?} is not expected there: write \"and\" or \"or\" before it")),
        }
    }

    /// Whether a packet is wanted. Packets without an IP header are not.
    pub fn matches(&self, link: LinkType, bytes: &[u8]) -> bool {
        link.network(bytes).ok().and_then(Seen::read).is_some_and(|seen| self.0.holds(&seen))
    }
}

struct Parser<'a> {
    words: &'a [&'a str],
    depth: usize,
}

impl Parser<'_> {
    fn either(&mut self) -> Result<Test, String> {
        let mut test = self.both()?;
        while self.take("or") {
            test = Test::Or(Box::new(test), Box::new(self.both()?));
        }
        Ok(test)
    }

    fn both(&mut self) -> Result<Test, String> {
        let mut test = self.single()?;
        while self.take("and") {
            test = Test::And(Box::new(test), Box::new(self.single()?));
        }
        Ok(test)
    }

    fn single(&mut self) -> Result<Test, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("the filter is nested deeper than {DEEPEST} times"));
        }
        let test = if self.take("not") {
            Test::Not(Box::new(self.single()?))
        } else if self.take("(") {
            let test = self.either()?;
            if !self.take(")") {
                return Err("a parenthesis is not closed".to_owned());
            }
            test
        } else {
            self.primitive()?
        };
        self.depth -= 1;
        Ok(test)
    }

    fn primitive(&mut self) -> Result<Test, String> {
        let side = match self.words.first() {
            Some(&"src") => Side::Source,
            Some(&"dst") => Side::Destination,
            _ => Side::Either,
        };
        if side != Side::Either {
            self.words = &self.words[1..];
        }
        let word = self.next("a filter such as \"port 443\" or \"host 192.0.2.1\"")?;
        match word {
            "host" | "net" => {
                let (address, bits) = network(self.next("an address")?)?;
                Ok(Test::Network(side, address, bits))
            }
            "port" => {
                let port = port(self.next("a port")?)?;
                Ok(Test::Ports(side, port, port))
            }
            "portrange" => {
                let range = self.next("a range of ports such as 8000-8080")?;
                let (first, last) =
                    range.split_once('-').ok_or_else(|| format!("{range:?} is not a range"))?;
                // As in tcpdump, the larger one may come first.
                let (first, last) = (port(first)?, port(last)?);
                Ok(Test::Ports(side, first.min(last), first.max(last)))
            }
            _ if side != Side::Either => {
                let (address, bits) = network(word)?;
                Ok(Test::Network(side, address, bits))
            }
            "ip" => Ok(Test::Version(4)),
            "ip6" => Ok(Test::Version(6)),
            "tcp" => self.protocol(TCP),
            "udp" => self.protocol(UDP),
            "icmp" => Ok(Test::Protocol(ICMP)),
            "icmp6" => Ok(Test::Protocol(ICMP6)),
            word => Err(format!(
                "unknown word {word:?}: known are host, net, port, portrange, src, dst, ip, ip6, tcp, udp, icmp, icmp6, and, \
                 or, not"
            )),
        }
    }

    /// `tcp port 80` is `tcp and port 80`.
    fn protocol(&mut self, number: u8) -> Result<Test, String> {
        let test = Test::Protocol(number);
        if matches!(self.words.first(), Some(&("port" | "portrange" | "src" | "dst"))) {
            return Ok(Test::And(Box::new(test), Box::new(self.primitive()?)));
        }
        Ok(test)
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        if found {
            self.words = &self.words[1..];
        }
        found
    }

    fn next(&mut self, wanted: &str) -> Result<&str, String> {
        let (first, rest) =
            self.words.split_first().ok_or_else(|| format!("the filter ends where {wanted} is expected"))?;
        self.words = rest;
        Ok(first)
    }
}

fn network(text: &str) -> Result<(IpAddr, u8), String> {
    let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
    let wrong = || {
        format!("{text:?} is not an address: names are not looked up, so write an address such as 192.0.2.1")
    };
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let all = if address.is_ipv6() { 128 } else { 32 };
    let bits = bits.map_or(Ok(all), |bits| bits.parse().map_err(|_| wrong()))?;
    if bits > all { Err(wrong()) } else { Ok((address, bits)) }
}

fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("{text:?} is not a port from 0 to 65535: names are not looked up"))
}

impl Test {
    fn holds(&self, seen: &Seen) -> bool {
        match self {
            Self::And(left, right) => left.holds(seen) && right.holds(seen),
            Self::Or(left, right) => left.holds(seen) || right.holds(seen),
            Self::Not(test) => !test.holds(seen),
            Self::Version(version) => (*version == 6) == seen.addresses[0].is_ipv6(),
            Self::Protocol(number) => seen.protocol == *number,
            Self::Network(side, address, bits) => {
                side.any(seen.addresses, |own| inside(own, *address, *bits))
            }
            Self::Ports(side, first, last) => {
                seen.ports.is_some_and(|ports| side.any(ports, |port| (*first..=*last).contains(&port)))
            }
        }
    }
}

impl Side {
    fn any<T: Copy>(self, ends: [T; 2], holds: impl Fn(T) -> bool) -> bool {
        match self {
            Self::Source => holds(ends[0]),
            Self::Destination => holds(ends[1]),
            Self::Either => ends.into_iter().any(holds),
        }
    }
}

fn inside(own: IpAddr, network: IpAddr, bits: u8) -> bool {
    let bits_of = |of: IpAddr| match of {
        IpAddr::V4(v4) => u128::from(v4.to_bits()) << 96,
        IpAddr::V6(v6) => v6.to_bits(),
    };
    let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
    own.is_ipv6() == network.is_ipv6() && (bits_of(own) ^ bits_of(network)) & mask == 0
}

impl Seen {
    fn read(packet: &[u8]) -> Option<Self> {
        match packet.first()? >> 4 {
            4 => {
                let addresses = [packet.get(12..16)?, packet.get(16..20)?];
                let addresses = addresses.map(|of| <[u8; 4]>::try_from(of).map(IpAddr::from));
                let later = u16::from_be_bytes([*packet.get(6)?, *packet.get(7)?]) & 0x1fff != 0;
                let start = usize::from(packet[0] & 15) * 4;
                let protocol = *packet.get(9)?;
                let ports = if later { None } else { ports(protocol, packet.get(start..)) };
                Some(Self { addresses: [addresses[0].ok()?, addresses[1].ok()?], protocol, ports })
            }
            6 => {
                let addresses = [packet.get(8..24)?, packet.get(24..40)?];
                let addresses = addresses.map(|of| <[u8; 16]>::try_from(of).map(IpAddr::from));
                let (protocol, start) = extended(packet);
                let ports = start.and_then(|start| ports(protocol, packet.get(start..)));
                Some(Self { addresses: [addresses[0].ok()?, addresses[1].ok()?], protocol, ports })
            }
            _ => None,
        }
    }
}

/// The protocol after the extension headers of IPv6, and where it begins if this is the first fragment.
fn extended(packet: &[u8]) -> (u8, Option<usize>) {
    let (mut next, mut at) = (packet[6], 40);
    loop {
        let length = match (next, packet.get(at + 1)) {
            (0 | 43 | 60, Some(&length)) => 8 * (usize::from(length) + 1),
            (44, Some(_)) => {
                let offset =
                    packet.get(at + 2..at + 4).map_or(0, |of| u16::from_be_bytes([of[0], of[1]]) >> 3);
                if offset != 0 {
                    return (packet[at], None);
                }
                8
            }
            _ => return (next, Some(at)),
        };
        next = packet[at];
        at += length;
    }
}

fn ports(protocol: u8, rest: Option<&[u8]>) -> Option<[u16; 2]> {
    let rest = rest.filter(|_| matches!(protocol, TCP | UDP))?;
    let at = |place: usize| Some(u16::from_be_bytes([*rest.get(place)?, *rest.get(place + 1)?]));
    Some([at(0)?, at(2)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: LinkType = LinkType(101);

    /// A packet from 192.0.2.1 port 1024 to 198.51.100.2 port 443.
    fn v4(protocol: u8) -> Vec<u8> {
        let mut packet = vec![0; 24];
        packet[0] = 0x45;
        packet[9] = protocol;
        packet[12..16].copy_from_slice(&[192, 0, 2, 1]);
        packet[16..20].copy_from_slice(&[198, 51, 100, 2]);
        packet[20..24].copy_from_slice(&[4, 0, 1, 187]);
        packet
    }

    /// A packet from fd00::1 port 1024 to fd00::2 port 443, after a header of options.
    fn v6() -> Vec<u8> {
        let mut packet = vec![0; 52];
        packet[0] = 0x60;
        packet[8] = 0xfd;
        packet[23] = 1;
        packet[24] = 0xfd;
        packet[39] = 2;
        packet[40] = TCP;
        packet[48..52].copy_from_slice(&[4, 0, 1, 187]);
        packet
    }

    #[track_caller]
    fn check(packet: &[u8], cases: &[(&str, bool)]) {
        for (text, wanted) in cases {
            let filter = Filter::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(filter.matches(RAW, packet), *wanted, "{text}");
        }
    }

    #[test]
    fn the_filter_distinguishes_hosts_ports_and_protocols() {
        check(
            &v4(TCP),
            &[
                ("port 443", true),
                ("src port 443", false),
                ("dst port 443", true),
                ("tcp port 443", true),
                ("udp port 443", false),
                ("tcp src port 443", false),
                ("portrange 400-500", true),
                ("portrange 500-400", true),
                ("dst portrange 1000-2000", false),
                ("host 192.0.2.1", true),
                ("dst host 192.0.2.1", false),
                ("dst 198.51.100.2", true),
                ("net 198.51.100.0/24", true),
                ("net 198.51.101.0/24", false),
                ("net 0.0.0.0/0", true),
                ("host fd00::1", false),
                ("ip", true),
                ("ip6", false),
                ("icmp", false),
            ],
        );
        check(&v4(ICMP), &[("icmp", true), ("port 443", false), ("tcp", false)]);
        check(
            &v6(),
            &[
                ("ip6", true),
                ("port 443", true),
                ("tcp", true),
                ("src host fd00::1", true),
                ("net fd00::/8", true),
            ],
        );
    }

    #[test]
    fn and_binds_closer_than_or() {
        check(
            &v4(TCP),
            &[
                ("port 1 and port 2 or port 443", true),
                ("port 443 or port 1 and port 2", true),
                ("(port 443 or port 1) and port 2", false),
                ("not port 1", true),
                ("!port 443", false),
                ("not (port 443 and icmp)", true),
                ("tcp && (port 80 || port 443)", true),
            ],
        );
    }

    #[test]
    fn a_later_fragment_has_no_ports() {
        let mut packet = v4(TCP);
        packet[7] = 5;
        check(&packet, &[("port 443", false), ("host 192.0.2.1", true), ("tcp", true)]);
    }

    #[test]
    fn what_is_no_ip_packet_matches_nothing() {
        for length in 0..24 {
            let cut = &v4(TCP)[..length];
            let _ = Filter::parse("not port 1").is_ok_and(|filter| filter.matches(RAW, cut));
            assert!(!Filter::parse("port 443").is_ok_and(|filter| filter.matches(RAW, cut)));
        }
        check(&[], &[("not port 1", false)]);
        for length in 0..52 {
            assert!(!Filter::parse("port 443").is_ok_and(|filter| filter.matches(RAW, &v6()[..length])));
        }
    }

    #[test]
    fn an_error_says_what_is_wrong() {
        for (text, words) in [
            ("", "the filter ends where"),
            ("port", "where a port is expected"),
            ("port https", "\"https\" is not a port"),
            ("tcp port https", "\"https\" is not a port"),
            ("host example.org", "names are not looked up"),
            ("net 10.0.0.0/33", "is not an address"),
            ("prt 443", "unknown word \"prt\""),
            ("port 443 port 80", "write \"and\" or \"or\" before it"),
            ("(port 443", "not closed"),
            ("port 443 and", "the filter ends"),
        ] {
            let error = Filter::parse(text).expect_err(text);
            assert!(error.contains(words), "{text}: {error}");
        }
        assert!(Filter::parse(&"(".repeat(1000)).is_err_and(|error| error.contains("deeper")));
    }
}
