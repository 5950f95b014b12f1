//! Limits the responses to segments without a connection, which take several times as long as segments that are dropped.
//!
//! With a response to each segment of a flood, the packets of all connections would wait in the queue of the device, or find
//! it full. So once the limit of half-open connections is reached, few SYNs are answered while packets arrive faster than the
//! host processes them, and few echo requests. Whenever no packet waits, as many are answered as the processor can. Addresses
//! that had a connection before have a limit of their own (history-based filtering: Peng, Leckie and Ramamohanarao, "Protection
//! from distributed denial of service attacks using history-based IP filtering", 2003). Resets, which no transfer needs, are
//! always limited, as in FreeBSD (`net.inet.icmp.icmplim`).

use netspurt_tcp::time::{Span, Time};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Responses until no packet waits, to strangers and to known peers each; resets in a period.
const MOST: u32 = 32;
/// After this time as many responses are sent again, even if packets have waited all the time.
const PERIOD: Span = Span::from_ms(10);
/// Maximum of addresses that are remembered.
const PEERS: usize = 4096;

/// The limits, and the peers that had a connection.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    sent: Sent,
    /// Known peers, by address and by age.
    known: BTreeMap<IpAddr, u64>,
    oldest: BTreeMap<u64, IpAddr>,
    serial: u64,
}

/// The numbers of responses in a period.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    /// SYN cookies and echo replies since no packet waited.
    strangers: u32,
    /// Further SYN cookies to known peers.
    known: u32,
    resets: u32,
    period_ends: Time,
}

impl Strangers {
    /// No packet waits.
    pub(super) const fn note_empty_queue(&mut self) {
        (self.sent.strangers, self.sent.known) = (0, 0);
    }

    /// A connection with this peer has opened.
    pub(super) fn know(&mut self, peer: IpAddr) {
        self.serial += 1;
        if let Some(before) = self.known.insert(peer, self.serial) {
            self.oldest.remove(&before);
        }
        self.oldest.insert(self.serial, peer);
        if self.known.len() > PEERS
            && let Some((_, longest_ago)) = self.oldest.pop_first()
        {
            self.known.remove(&longest_ago);
        }
    }

    /// Whether a SYN of this peer is answered with a cookie. If so, it counts.
    pub(super) fn may_have_cookie(&mut self, now: Time, peer: IpAddr) -> bool {
        self.begin_period(now);
        count(&mut self.sent.strangers) || self.known.contains_key(&peer) && count(&mut self.sent.known)
    }

    /// Whether an echo request is answered. If so, it counts.
    pub(super) fn may_echo(&mut self, now: Time) -> bool {
        self.begin_period(now);
        count(&mut self.sent.strangers)
    }

    /// Whether a segment is answered with a reset. If so, it counts.
    pub(super) fn may_reset(&mut self, now: Time) -> bool {
        self.begin_period(now);
        count(&mut self.sent.resets)
    }

    fn begin_period(&mut self, now: Time) {
        if now >= self.sent.period_ends {
            self.sent = Sent { period_ends: now + PERIOD, ..Sent::default() };
        }
    }
}

/// Counts one more, unless there were as many as permitted.
const fn count(sent: &mut u32) -> bool {
    let may = *sent < MOST;
    *sent += may as u32;
    may
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn peer(number: u32) -> IpAddr {
        Ipv4Addr::from_bits(0x0a00_0000 + number).into()
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// How many of a thousand SYNs at this time are answered.
    fn answered(strangers: &mut Strangers, now: Time, from: IpAddr) -> u32 {
        (0..1000).map(|_| u32::from(strangers.may_have_cookie(now, from))).sum()
    }

    #[test]
    fn few_cookies_are_sent_until_no_packet_waits_or_ten_milliseconds_pass() {
        let mut strangers = Strangers::default();
        assert_eq!(answered(&mut strangers, at(1), peer(1)), MOST);
        assert_eq!(answered(&mut strangers, at(9), peer(1)), 0);
        strangers.note_empty_queue();
        assert_eq!(answered(&mut strangers, at(9), peer(1)), MOST);
        assert_eq!(answered(&mut strangers, at(11), peer(1)), MOST, "a period of ten milliseconds has ended");
        assert_eq!(answered(&mut strangers, at(20), peer(1)), 0);
    }

    #[test]
    fn peers_that_had_a_connection_have_a_limit_of_their_own() {
        let mut strangers = Strangers::default();
        strangers.know(peer(7));
        assert_eq!(answered(&mut strangers, at(0), peer(1)), MOST);
        assert_eq!(answered(&mut strangers, at(0), peer(7)), MOST);
        assert_eq!(answered(&mut strangers, at(0), peer(1)), 0);
    }

    #[test]
    fn resets_are_limited_even_if_no_packet_waits_and_echo_replies_are_not() {
        let mut strangers = Strangers::default();
        let sent = |strangers: &mut Strangers, now| {
            let each = |_| [u32::from(strangers.may_reset(now)), u32::from(strangers.may_echo(now))];
            (0..1000).map(each).fold([0, 0], |sum, [resets, echoes]| [sum[0] + resets, sum[1] + echoes])
        };
        assert_eq!(sent(&mut strangers, at(0)), [MOST, MOST]);
        strangers.note_empty_queue();
        assert_eq!(sent(&mut strangers, at(9)), [0, MOST]);
        assert_eq!(sent(&mut strangers, at(10)), [MOST, MOST]);
    }

    #[test]
    fn the_peers_of_the_last_connections_are_remembered() {
        let mut strangers = Strangers::default();
        let most = PEERS as u32;
        (0..most).for_each(|number| strangers.know(peer(number)));
        strangers.know(peer(0));
        strangers.know(peer(most));
        assert_eq!((strangers.known.len(), strangers.oldest.len()), (PEERS, PEERS));
        assert_eq!(answered(&mut strangers, at(0), peer(1)), MOST, "forgotten, so a stranger");
        assert_eq!(answered(&mut strangers, at(0), peer(1)), 0);
        assert_eq!(answered(&mut strangers, at(0), peer(0)), MOST, "used again");
    }
}
