//! The request for a prober, and its checks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const SECOND: u64 = 1_000_000_000;

/// The shortest interval unless a faster one is permitted: 10 packets per second per host.
pub(super) const GENTLE_NS: u64 = SECOND / 10;
/// The shortest interval in any case: 1000 packets per second per host.
pub(super) const FASTEST_NS: u64 = SECOND / 1000;
/// Maximum of outstanding packets, because a sequence number has 16 bits.
pub(super) const MOST_WAITING: u64 = 1 << 16;

/// The lengths of packets, IP header included. Lengths below [`super::Family::floor`] are raised to it, as in RFC 889.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lengths {
    /// These, repeatedly in this order; one length is possible too.
    Listed(Vec<u16>),
    /// Uniformly distributed from the first to the last.
    Uniform(u16, u16),
}

/// When volleys are sent, with one packet to each host; in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// At this interval.
    Every(u64),
    /// At random intervals, uniformly distributed between the two.
    Between(u64, u64),
    /// When all packets of the last volley have results, but not sooner after it than this.
    AfterReplies(u64),
}

impl Pace {
    /// The shortest interval between two volleys.
    pub const fn shortest_ns(self) -> u64 {
        match self {
            Self::Every(ns) | Self::Between(ns, _) | Self::AfterReplies(ns) => ns,
        }
    }
}

/// The request for a prober.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The hosts; ports are ignored.
    pub hosts: Vec<SocketAddr>,
    /// The lengths of packets.
    pub lengths: Lengths,
    /// The intervals of volleys.
    pub pace: Pace,
    /// Whether more than 10 packets per second per host are permitted.
    pub fast: Speed,
    /// Number of volleys; `None` for no limit.
    pub count: Option<u64>,
    /// A packet without a reply for this number of nanoseconds is lost.
    pub lost_after_ns: u64,
    /// Whether packets are lost sooner after the last volley: after two of the longest RTT.
    pub hasty_end: bool,
    /// The seed of random lengths, intervals and the token.
    pub seed: u64,
}

/// The permitted rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Speed {
    /// At most 10 packets per second per host.
    Gentle,
    /// At most 1000 packets per second per host.
    Fast,
}

/// Why a plan is invalid.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum PlanError {
    /// There is no host.
    #[error("there is no host to probe")]
    NoHost,
    /// A host is given twice, which would double its rate.
    #[error("{0} is given twice")]
    Twice(IpAddr),
    /// A broadcast or multicast address.
    #[error("{0} is a broadcast or multicast address, which must not be probed")]
    Many(IpAddr),
    /// There is no length.
    #[error("no packet length given")]
    NoLength,
    /// The first length is larger than the last.
    #[error("packet lengths from {0} to {1} bytes: the first must not be larger")]
    Lengths(u16, u16),
    /// The first interval is larger than the last.
    #[error("intervals from {0} to {1} s: the first must not be larger")]
    Intervals(f64, f64),
    /// More than 10 packets per second without permission.
    #[error("{0:.0} packets per second per host: at most 10 unless --fast is given")]
    TooFast(f64),
    /// More than 1000 packets per second.
    #[error("{0:.0} packets per second per host: at most 1000")]
    Flood(f64),
    /// The timeout is zero.
    #[error("the timeout must be greater than zero")]
    NoTimeout,
    /// More outstanding packets than sequence numbers.
    #[error(
        "{0} packets could be outstanding at once, at most 65536: probe more slowly, probe fewer hosts, or use a shorter timeout"
    )]
    TooMany(u64),
}

impl Plan {
    /// Checks the plan, and replaces unspecified addresses.
    pub(super) fn checked(mut self) -> Result<Self, PlanError> {
        for host in &mut self.hosts {
            // An unspecified address means this host, whose replies come from the loopback address.
            match host.ip() {
                IpAddr::V4(Ipv4Addr::UNSPECIFIED) => host.set_ip(Ipv4Addr::LOCALHOST.into()),
                IpAddr::V6(Ipv6Addr::UNSPECIFIED) => host.set_ip(Ipv6Addr::LOCALHOST.into()),
                ip if ip.is_multicast() || ip == IpAddr::V4(Ipv4Addr::BROADCAST) => {
                    return Err(PlanError::Many(ip));
                }
                _ => {}
            }
        }
        if self.hosts.is_empty() {
            return Err(PlanError::NoHost);
        }
        let mut sorted = self.hosts.clone();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(PlanError::Twice(pair[0].ip()));
        }
        match &self.lengths {
            Lengths::Listed(lengths) if lengths.is_empty() => return Err(PlanError::NoLength),
            &Lengths::Uniform(low, high) if low > high => return Err(PlanError::Lengths(low, high)),
            Lengths::Listed(_) | Lengths::Uniform(..) => {}
        }
        self.check_pace()?;
        Ok(self)
    }

    fn check_pace(&self) -> Result<(), PlanError> {
        let seconds = |ns: u64| ns as f64 / SECOND as f64;
        if let Pace::Between(low, high) = self.pace
            && low > high
        {
            return Err(PlanError::Intervals(seconds(low), seconds(high)));
        }
        let shortest = self.pace.shortest_ns();
        let rate = 1.0 / seconds(shortest);
        if shortest < FASTEST_NS {
            return Err(PlanError::Flood(rate));
        }
        if shortest < GENTLE_NS && self.fast == Speed::Gentle {
            return Err(PlanError::TooFast(rate));
        }
        if self.lost_after_ns == 0 {
            return Err(PlanError::NoTimeout);
        }
        let volleys = match self.pace {
            Pace::AfterReplies(_) => 1,
            Pace::Every(_) | Pace::Between(..) => self.lost_after_ns / shortest + 1,
        };
        let waiting = volleys.min(self.count.unwrap_or(u64::MAX)).saturating_mul(self.hosts.len() as u64);
        if waiting > MOST_WAITING { Err(PlanError::TooMany(waiting)) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan {
            hosts: vec!["192.0.2.1:0".parse().unwrap(), "[2001:db8::1]:0".parse().unwrap()],
            lengths: Lengths::Uniform(0, 256),
            pace: Pace::Every(SECOND),
            fast: Speed::Gentle,
            count: None,
            hasty_end: false,
            lost_after_ns: 30 * SECOND,
            seed: 1,
        }
    }

    #[test]
    fn more_than_ten_per_second_need_permission_and_floods_are_rejected() {
        assert_eq!(Plan { pace: Pace::Every(GENTLE_NS), ..plan() }.checked().map(|_| ()), Ok(()));
        let faster = Plan { pace: Pace::Between(GENTLE_NS - 1, SECOND), ..plan() };
        assert!(matches!(faster.clone().checked(), Err(PlanError::TooFast(_))));
        assert_eq!(Plan { fast: Speed::Fast, ..faster }.checked().map(|_| ()), Ok(()));
        for pace in [Pace::Every(0), Pace::Every(FASTEST_NS - 1), Pace::AfterReplies(0)] {
            let flood = Plan { pace, fast: Speed::Fast, ..plan() };
            assert!(matches!(flood.checked(), Err(PlanError::Flood(_))), "{pace:?}");
        }
    }

    #[test]
    fn hosts_are_unicast_addresses_and_given_once() {
        let with = |host: &str| Plan { hosts: vec![host.parse().unwrap(); 2], ..plan() }.checked();
        assert!(matches!(with("192.0.2.1:0"), Err(PlanError::Twice(_))));
        for many in ["224.0.0.1:0", "255.255.255.255:0", "[ff02::1]:0"] {
            assert!(matches!(with(many), Err(PlanError::Many(_))), "{many}");
        }
        let here = Plan { hosts: vec!["0.0.0.0:0".parse().unwrap()], ..plan() }.checked().unwrap();
        assert_eq!(here.hosts[0].ip(), IpAddr::V4(Ipv4Addr::LOCALHOST));
        assert_eq!(Plan { hosts: vec![], ..plan() }.checked(), Err(PlanError::NoHost));
    }

    #[test]
    fn outstanding_packets_are_limited_by_the_sequence_numbers() {
        let fast = Plan { pace: Pace::Every(FASTEST_NS), fast: Speed::Fast, ..plan() };
        assert_eq!(fast.clone().checked().map(|_| ()), Ok(()));
        let patient = Plan { lost_after_ns: 60 * SECOND, ..fast };
        assert!(matches!(patient.clone().checked(), Err(PlanError::TooMany(120_002))));
        assert_eq!(Plan { count: Some(30_000), ..patient }.checked().map(|_| ()), Ok(()));
    }

    #[test]
    fn descending_ranges_are_rejected() {
        let lengths = Plan { lengths: Lengths::Uniform(2, 1), ..plan() };
        assert_eq!(lengths.checked(), Err(PlanError::Lengths(2, 1)));
        let pace = Plan { pace: Pace::Between(2 * SECOND, SECOND), ..plan() };
        assert_eq!(pace.checked(), Err(PlanError::Intervals(2.0, 1.0)));
        assert_eq!(Plan { lost_after_ns: 0, ..plan() }.checked(), Err(PlanError::NoTimeout));
    }
}
