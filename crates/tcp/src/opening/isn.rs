//! Initial sequence numbers that an attacker cannot predict (RFC 6528; RFC 9293, section 3.4.1, MUST-8 and SHLD-1).

use crate::time::Time;
use crate::wire::codec::{Addresses, Ports};
use crate::wire::seq::Seq;
use core::hash::Hasher;
use core::net::IpAddr;
use siphasher::sip::SipHasher24;

/// ISN = M + F(local address, local port, remote address, remote port, secret key) (RFC 6528, section 3).
///
/// Local and remote are source and destination of the segments that we send. M is a clock with a period of 4 us and
/// follows from `now`. F is a keyed pseudorandom function, here SipHash-2-4, truncated to 32 bits. The RFC suggests MD5
/// over the same fields. SipHash is designed for short inputs with a secret key; Linux uses it for this purpose too.
///
/// The key is 16 random bytes that the driver draws once at its start and keeps secret. Key and clock are arguments, so
/// that a simulation is reproducible.
pub fn initial_sequence_number(key: &[u8; 16], addresses: Addresses, ports: Ports, now: Time) -> Seq {
    let hasher = SipHasher24::new_with_key(key);
    let hash = match addresses {
        Addresses::V4 { source, destination } => hasher.hash(&sockets::<12>([
            (&source.octets(), ports.source),
            (&destination.octets(), ports.destination),
        ])),
        Addresses::V6 { source, destination } => hasher.hash(&sockets::<36>([
            (&source.octets(), ports.source),
            (&destination.octets(), ports.destination),
        ])),
    };
    let clock = (now.as_ps() / 4_000_000) as u32;
    Seq(hash as u32).plus(clock)
}

/// Both addresses with their ports, one after the other: one step for the hash instead of four.
fn sockets<const LEN: usize>(both: [(&[u8], u16); 2]) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    for (place, (address, port)) in bytes.chunks_exact_mut(LEN / 2).zip(both) {
        let (front, back) = place.split_at_mut(address.len());
        front.copy_from_slice(address);
        back.copy_from_slice(&port.to_be_bytes());
    }
    bytes
}

/// Adds an address to a keyed hash. The length of the input distinguishes the two IP versions.
pub(crate) fn write_address(hasher: &mut SipHasher24, address: IpAddr) {
    match address {
        IpAddr::V4(address) => hasher.write(&address.octets()),
        IpAddr::V6(address) => hasher.write(&address.octets()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;
    use core::net::Ipv4Addr;

    const KEY: [u8; 16] = *b"0123456789abcdef";
    const ADDRESSES: Addresses =
        Addresses::V4 { source: Ipv4Addr::new(192, 0, 2, 1), destination: Ipv4Addr::new(198, 51, 100, 7) };
    const PORTS: Ports = Ports { source: 40_000, destination: 80 };

    #[test]
    fn the_clock_steps_every_four_microseconds_and_wraps() {
        let at = |now| initial_sequence_number(&KEY, ADDRESSES, PORTS, now);
        let start = at(Time::ZERO);
        assert_eq!(at(Time::ZERO + Span::from_ns(3999)), start);
        assert_eq!(at(Time::ZERO + Span::from_us(4)), start.plus(1));
        assert_eq!(at(Time::ZERO + Span::from_secs(1)), start.plus(250_000));
        assert_eq!(at(Time::ZERO + Span::from_us(4 << 32)), start, "the cycle is 4.77 hours");
    }

    #[test]
    fn the_hash_is_that_of_local_address_and_port_then_remote_address_and_port() {
        use core::net::Ipv6Addr;
        let wide = |last| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last);
        for addresses in [ADDRESSES, Addresses::V6 { source: wide(1), destination: wide(2) }] {
            let mut hasher = SipHasher24::new_with_key(&KEY);
            write_address(&mut hasher, addresses.source());
            hasher.write(&PORTS.source.to_be_bytes());
            write_address(&mut hasher, addresses.destination());
            hasher.write(&PORTS.destination.to_be_bytes());
            let number = initial_sequence_number(&KEY, addresses, PORTS, Time::ZERO);
            assert_eq!(number, Seq(hasher.finish() as u32));
        }
    }

    #[test]
    fn the_number_depends_on_addresses_ports_and_key() {
        let base = initial_sequence_number(&KEY, ADDRESSES, PORTS, Time::ZERO);
        let swapped = Addresses::V4 {
            source: Ipv4Addr::new(198, 51, 100, 7),
            destination: Ipv4Addr::new(192, 0, 2, 1),
        };
        let others = [
            initial_sequence_number(&KEY, swapped, PORTS, Time::ZERO),
            initial_sequence_number(&KEY, ADDRESSES, Ports { source: 40_001, ..PORTS }, Time::ZERO),
            initial_sequence_number(&KEY, ADDRESSES, Ports { destination: 81, ..PORTS }, Time::ZERO),
            initial_sequence_number(b"0123456789abcdeg", ADDRESSES, PORTS, Time::ZERO),
        ];
        assert!(others.iter().all(|other| *other != base), "{others:?}");
    }
}
