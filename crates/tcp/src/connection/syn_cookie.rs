//! SYN cookies: a listener without space for another half-open connection stores no state for a SYN. The ACK of its
//! SYN-ACK returns the state, which is encoded in the initial sequence number. Only the owner of the key can compute
//! that number (Bernstein, "SYN cookies", 1996; RFC 4987, section 3.6; Linux, net/ipv4/syncookies.c).
//!
//! The 32 bits are added to the peer's initial sequence number. Five bits count periods of 64 s, three select an MSS,
//! and 24 are a keyed hash of both and of addresses and ports. The lowest bits of our timestamp, which the peer echoes,
//! encode window scale, SACK and ECN. Without timestamps these are not negotiated.

use crate::config::Config;
use crate::connection::Connection;
use crate::opening::fast_open::{Cookie, CookiePolicy, Server};
use crate::opening::isn::write_address;
use crate::time::Time;
use crate::wire::codec::{Addresses, Ports};
use crate::wire::options::{Options, Timestamps};
use crate::wire::segment::{Flags, Segment};
use crate::wire::seq::Seq;
use core::hash::Hasher;
use siphasher::sip::SipHasher24;
use std::sync::Arc;

/// The MSS values that a cookie can encode. It encodes the largest one that is not above the peer's MSS.
const SIZES: [u16; 8] = [64, 536, 1220, 1300, 1400, 1440, 1460, 8960];
/// Length of a period in seconds. A cookie is valid in its own period and in the next.
const PERIOD: u64 = 64;
/// Bits of a timestamp that carry options.
const OPTION_BITS: u32 = 6;
/// The shift value that means "no window scale".
const NO_SHIFT: u32 = 15;

/// Addresses and ports of a connection, and the key for its cookies: sixteen random bytes that the driver draws once
/// and keeps secret.
#[derive(Clone, Copy, Debug)]
pub struct Maker<'a> {
    /// The key.
    pub key: &'a [u8; 16],
    /// The addresses; ours is the source.
    pub addresses: Addresses,
    /// The ports; ours is the source.
    pub ports: Ports,
}

impl Maker<'_> {
    /// The SYN-ACK for a SYN, without stored state; `None` if the segment is not a SYN without ACK. The data of the SYN
    /// is not accepted; the peer retransmits it.
    pub fn answer(&self, config: &Arc<Config>, now: Time, syn: &Segment) -> Option<Segment> {
        let opens = syn.flags.has(Flags::SYN) && !syn.flags.any(Flags::ACK | Flags::RST);
        let size = SIZES.partition_point(|size| *size <= syn.options.mss.unwrap_or(536)).max(1) - 1;
        let iss = syn.seq.plus(self.cookie(syn.seq, period(now), size as u32));
        let mut listener = listener(config, iss);
        listener.handle_segment(now, syn);
        let mut answer = listener.poll_transmit(now).filter(|_| opens)?.segment;
        let options = &mut answer.options;
        if let Some(stamps) = &mut options.timestamps {
            let said = encode_options(&syn.options, answer.flags.has(Flags::ECE));
            // The timestamp must not be ahead of the clock, because the next one must not be older (RFC 7323, section
            // 5).
            let stamp = stamps.value & !((1 << OPTION_BITS) - 1) | said;
            stamps.value = if stamp > stamps.value { stamp.wrapping_sub(1 << OPTION_BITS) } else { stamp };
        } else {
            (options.window_scale, options.sack_permitted) = (None, false);
            answer.flags = answer.flags.without(Flags::ECE);
        }
        answer.header_len = 20 + answer.options.wire_len(config.layout);
        Some(answer)
    }

    /// The connection that an ACK with a valid cookie opens; pass the ACK to it next. `None` if the cookie is invalid
    /// or too old.
    pub fn restore(&self, config: &Arc<Config>, now: Time, ack: &Segment) -> Option<Connection> {
        if !ack.flags.has(Flags::ACK) || ack.flags.any(Flags::SYN | Flags::RST) {
            return None;
        }
        let (irs, iss) = (ack.seq.minus(1), ack.ack.minus(1));
        let shown = iss.distance_from(irs) as u32;
        let size = shown >> 24 & 7;
        let made = [period(now), period(now).wrapping_sub(1)];
        made.into_iter().find(|made| self.cookie(irs, *made, size) == shown)?;
        let options = Options { mss: Some(SIZES[size as usize]), ..decode_options(ack.options.timestamps) };
        let marks = ack.options.timestamps.is_some_and(|stamps| stamps.echo >> 5 & 1 == 1);
        let flags = if marks { Flags::SYN | Flags::ECE | Flags::CWR } else { Flags::SYN };
        let syn = Segment { seq: irs, flags, window: ack.window, options, ..Segment::default() };
        let mut connection = listener(config, iss);
        connection.handle_segment(now, &syn);
        // The departure time of the SYN-ACK is unknown.
        while connection.poll_transmit(now).is_some() {}
        connection.snd.forget_timing();
        Some(connection)
    }

    /// The cookie for a peer with the initial sequence number `irs`.
    fn cookie(&self, irs: Seq, period: u32, size: u32) -> u32 {
        let mut hasher = SipHasher24::new_with_key(self.key);
        for address in [self.addresses.source(), self.addresses.destination()] {
            write_address(&mut hasher, address);
        }
        for number in [u32::from(self.ports.source), u32::from(self.ports.destination), irs.0, period, size] {
            hasher.write(&number.to_be_bytes());
        }
        (period & 31) << 27 | size << 24 | (hasher.finish() as u32 & 0xFF_FFFF)
    }
}

fn period(now: Time) -> u32 {
    (now.as_ps() / 1_000_000_000_000 / PERIOD) as u32
}

/// A listener that does not accept data on a SYN.
fn listener(config: &Arc<Config>, iss: Seq) -> Connection {
    let listener = Connection::listen(Arc::clone(config), iss);
    match Cookie::new(&[0; 4]) {
        Some(cookie) => {
            listener.listening_fast(Server { policy: CookiePolicy::Disabled, cookie, previous: None })
        }
        None => listener,
    }
}

/// Encodes the options of a SYN in the low bits of a timestamp.
fn encode_options(peer: &Options, marks: bool) -> u32 {
    let shift = peer.window_scale.map_or(NO_SHIFT, |shift| u32::from(shift.min(14)));
    shift | u32::from(peer.sack_permitted) << 4 | u32::from(marks) << 5
}

/// Decodes the options from the echoed timestamp.
fn decode_options(stamps: Option<Timestamps>) -> Options {
    let Some(Timestamps { value, echo }) = stamps else { return Options::NONE };
    let shift = echo & 15;
    Options {
        window_scale: (shift != NO_SHIFT).then_some(shift as u8),
        sack_permitted: echo >> 4 & 1 == 1,
        timestamps: Some(Timestamps { value, echo: 0 }),
        ..Options::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::profile;
    use crate::opening::state::State;
    use crate::time::Span;
    use crate::wire::segment::Payload;
    use core::net::Ipv4Addr;

    const MAKER: Maker<'_> = Maker {
        key: b"0123456789abcdef",
        addresses: Addresses::V4 {
            source: Ipv4Addr::new(192, 0, 2, 1),
            destination: Ipv4Addr::new(198, 51, 100, 7),
        },
        ports: Ports { source: 80, destination: 40_000 },
    };

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    fn config(name: &str) -> Arc<Config> {
        Arc::new(profile::by_name(name).expect("a built-in profile").config.clone())
    }

    /// A client after the SYN-ACK of a server without state, and its ACK.
    fn opened(config: &Arc<Config>, now: Time) -> (Connection, Segment) {
        let mut client = Connection::new(Arc::clone(config), Seq(4_000_000_000));
        client.open(now);
        let syn = client.poll_transmit(now).expect("a SYN").segment;
        let answer = MAKER.answer(config, now, &syn).expect("an answer");
        client.handle_segment(now + Span::from_ms(80), &answer);
        let ack = client.poll_transmit(now + Span::from_ms(80)).expect("an ACK").segment;
        (client, ack)
    }

    #[test]
    fn the_ack_restores_the_negotiated_options() {
        let config = config("linux");
        let (client, ack) = opened(&config, at(1000));
        let later = at(1000) + Span::from_ms(120);
        let mut server = MAKER.restore(&config, later, &ack).expect("it is ours");
        server.handle_segment(later, &ack);
        assert_eq!(server.state(), State::Established);
        let (here, there) = (server.info(), client.info());
        assert_eq!((here.sack, here.timestamps), (true, true));
        assert_eq!((here.peer_shift, here.own_shift), (there.own_shift, there.peer_shift));
        assert_eq!(server.segment_payload(), client.segment_payload());
        assert_eq!(server.srtt(), None, "the departure time of the SYN-ACK is unknown");
        let data = Segment { payload: Payload { offset: 0, len: 700 }, ..ack };
        server.handle_segment(later, &data);
        assert_eq!(server.readable(), 700);
    }

    #[test]
    fn without_timestamps_only_the_mss_is_restored() {
        let config = Arc::new(Config { timestamps: false, ..Config::clone(&config("linux")) });
        let (client, ack) = opened(&config, at(1000));
        assert_eq!((client.info().sack, client.info().own_shift), (false, 0), "the SYN-ACK offers neither");
        let mut server = MAKER.restore(&config, at(1001), &ack).expect("it is ours");
        server.handle_segment(at(1001), &ack);
        assert_eq!((server.info().sack, server.segment_payload()), (false, 1460));
    }

    #[test]
    fn a_cookie_is_valid_in_its_own_period_and_the_next() {
        let config = config("linux");
        let (_, ack) = opened(&config, at(10 * PERIOD));
        assert!(MAKER.restore(&config, at(12 * PERIOD - 1), &ack).is_some());
        assert!(MAKER.restore(&config, at(12 * PERIOD), &ack).is_none());
    }

    #[test]
    fn only_an_ack_with_a_valid_cookie_opens() {
        let config = config("linux");
        let (_, ack) = opened(&config, at(1000));
        let opens = |maker: Maker<'_>, ack: &Segment| maker.restore(&config, at(1000), ack).is_some();
        assert!(opens(MAKER, &ack));
        assert!(!opens(Maker { key: b"0123456789abcdeg", ..MAKER }, &ack), "another key");
        assert!(!opens(Maker { ports: Ports { source: 81, ..MAKER.ports }, ..MAKER }, &ack));
        for bit in 0..32 {
            assert!(!opens(MAKER, &Segment { ack: Seq(ack.ack.0 ^ 1 << bit), ..ack }), "bit {bit}");
        }
        assert!(!opens(MAKER, &Segment { seq: ack.seq.plus(1), ..ack }), "another initial sequence number");
        assert!(!opens(MAKER, &Segment { flags: Flags::SYN | Flags::ACK, ..ack }));
    }

    #[test]
    fn the_restored_mss_is_the_largest_table_value_not_above_the_peers() {
        let config = config("linux");
        for (said, kept) in
            [(None, 536), (Some(1460), 1460), (Some(1459), 1440), (Some(100), 64), (Some(9000), 1460)]
        {
            let options = Options { mss: said, ..Options::NONE };
            let syn =
                Segment { seq: Seq(5), flags: Flags::SYN, window: 60_000, options, ..Segment::default() };
            let answer = MAKER.answer(&config, at(0), &syn).expect("an answer");
            let ack =
                Segment { seq: Seq(6), ack: answer.seq.plus(1), flags: Flags::ACK, window: 60_000, ..syn };
            let ack = Segment { options: Options::NONE, ..ack };
            let server = MAKER.restore(&config, at(0), &ack).expect("it is ours");
            assert_eq!(server.segment_payload(), kept, "{said:?}");
        }
    }
}
