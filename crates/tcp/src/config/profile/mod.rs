//! Named configurations of systems, simulators and standards.
//!
//! A scenario starts from a profile and overrides single keys. A value without a comment follows from the profile's
//! document or has no effect on it. The phase of a free-running tick is zero here; the driver sets it.

mod bsd;
mod linux;
mod macos;
mod simulator;
mod solaris;
mod standard;
mod windows;

use crate::config::Config;

/// A named configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    /// Lower-case, as in a scenario file.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where the choices come from.
    pub document: &'static str,
    /// The choices.
    pub config: Config,
}

/// The default profile.
pub const DEFAULT: &str = "rfc";

/// Every built-in profile, the oldest first.
pub fn profiles() -> &'static [Profile] {
    &PROFILES
}

/// The profile of that name.
pub fn by_name(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

static PROFILES: [Profile; 20] = [
    Profile {
        name: "bsd43-tahoe",
        summary: "4.3BSD-Tahoe of 1988: slow start, fast retransmit, 500 ms timer ticks, 64 KB windows",
        document: "Jacobson, \"Congestion avoidance and control\", SIGCOMM 1988; 4.3BSD-Tahoe, netinet/tcp_*.c",
        config: bsd::BSD43_TAHOE,
    },
    Profile {
        name: "bsd43-bigwindow",
        summary: "4.3BSD-Tahoe with the Big Window option and an ACK for every segment",
        document: "RFC 1106, section 3",
        config: bsd::BSD43_BIGWINDOW,
    },
    Profile {
        name: "bsd43-bigwindow-nak",
        summary: "4.3BSD-Tahoe with Big Window and NAK options, losses interpreted as noise",
        document: "RFC 1106, sections 2 to 4",
        config: bsd::BSD43_BIGWINDOW_NAK,
    },
    Profile {
        name: "freebsd3",
        summary: "FreeBSD 3.2 of 1999: Reno, strict Nagle, ACKs by bytes on a free-running 200 ms tick, whole-segment buffers",
        document: "draft-doupnik-tcpimpl-nagle-mode-00, section 3; FreeBSD 3.2, netinet/tcp_*.c",
        config: bsd::FREEBSD3,
    },
    Profile {
        name: "unixware7",
        summary: "UnixWare 7.0.1 of 1999, as far as known: freebsd3 with a window of 32 KB",
        document: "draft-doupnik-tcpimpl-nagle-mode-00, section 3",
        config: bsd::UNIXWARE7,
    },
    Profile {
        name: "solaris7",
        summary: "Solaris 7 of 1998: liberal Nagle, ACKs delayed by 50 ms, a window of 8 KB",
        document: "draft-doupnik-tcpimpl-nagle-mode-00, section 3; Solaris 7, ndd /dev/tcp",
        config: solaris::SOLARIS7,
    },
    Profile {
        name: "linux22",
        summary: "Linux 2.2 of 1999: half a segment passes Nagle's rule, segments cut when written, ACKs delayed by 10 ms",
        document: "draft-doupnik-tcpimpl-nagle-mode-00, section 3; Linux 2.2, net/ipv4/tcp*.c",
        config: linux::LINUX22,
    },
    Profile {
        name: "reno",
        summary: "fast retransmit and fast recovery, two segments at the start, delayed ACKs, no options but MSS",
        document: "RFC 2581, RFC 5681, RFC 6298",
        config: standard::RENO,
    },
    Profile {
        name: "newreno",
        summary: "reno that stays in recovery until the whole window is repaired, with limited transmit",
        document: "RFC 6582, RFC 3042",
        config: standard::NEWRENO,
    },
    Profile {
        name: "ssfnet",
        summary: "SSFNet's TCP as the terabit paper used it: 100 whole segments of 1500 bytes at most, scaled windows",
        document: "\"TCP sending rate control at Tera bits per second\", section III; SSFNet 2.0, SSF.OS.TCP",
        config: simulator::SSFNET,
    },
    Profile {
        name: "ns2",
        summary: "one-way TCP of ns-2 (Agent/TCP/Reno with TCPSink): 1000-byte packets, 20 of them at most",
        document: "ns-2.35, tcl/lib/ns-default.tcl",
        config: simulator::NS2,
    },
    Profile {
        name: "ns2-baytcp",
        summary: "two-way TCP of ns-2 as RFC 2415's authors used it: Reno, 11 packets of window, quick ACKs for 16 KB",
        document: "RFC 2415, section 2; ns-2.35, baytcp/tcp-full-bay.cc, tcl/lib/ns-default.tcl",
        config: simulator::NS2_BAYTCP,
    },
    Profile {
        name: "rfc",
        summary: "the present standards: SACK recovery, CUBIC, ten segments at the start, timestamps, scaling",
        document: "RFC 9293, RFC 5681, RFC 6675, RFC 6298, RFC 6928, RFC 7323, RFC 9438, RFC 3042",
        config: standard::RFC,
    },
    Profile {
        name: "freebsd",
        summary: "FreeBSD 14, its default stack: CUBIC, SACK, strict Nagle, ACKs delayed by 40 ms, buffers that grow to 2 MB",
        document: "FreeBSD 14, tcp(4), netinet/tcp_*.c",
        config: bsd::FREEBSD,
    },
    Profile {
        name: "macos",
        summary: "macOS, as far as its published sources tell: CUBIC, RACK, ECN, ACKs delayed by 100 ms, buffers that grow to 4 MB",
        document: "xnu, bsd/netinet/tcp_*.c",
        config: macos::MACOS,
    },
    Profile {
        name: "windows",
        summary: "Windows 11, as far as public sources tell: CUBIC, RACK, HyStart++, PRR, no timestamps, 300 ms least timeout",
        document: "Microsoft, Get-NetTCPSetting, \"Algorithmic improvements boost TCP performance on the Internet\"; RFC 9406, RFC 9438",
        config: windows::WINDOWS,
    },
    Profile {
        name: "linux",
        summary: "Linux 6, as close as the mechanisms here allow: CUBIC, SACK, 200 ms least timeout, adaptive ACKs",
        document: "Linux, Documentation/networking/ip-sysctl.rst, net/ipv4/tcp*.c",
        config: linux::LINUX,
    },
    Profile {
        name: "bbr",
        summary: "linux with BBR version 1 and pacing",
        document: "Cardwell et al., ACM Queue 14(5), 2016; Linux, net/ipv4/tcp_bbr.c, tcp_rate.c",
        config: linux::BBR,
    },
    Profile {
        name: "dctcp",
        summary: "linux with DCTCP and ECN, for networks whose queues mark above a threshold",
        document: "RFC 8257; Linux, Documentation/networking/dctcp.rst, net/ipv4/tcp_dctcp.c",
        config: linux::DCTCP,
    },
    Profile {
        name: "prague",
        summary: "linux with Prague, accurate ECN and pacing, for paths whose queues support L4S",
        document: "draft-briscoe-iccrg-prague-congestion-control; RFC 9330, RFC 9331",
        config: linux::PRAGUE,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_valid_and_found_by_its_name() {
        for profile in profiles() {
            assert_eq!(profile.config.validate(), Ok(()), "{}", profile.name);
            assert_eq!(by_name(profile.name), Some(profile));
        }
        assert!(by_name(DEFAULT).is_some());
        assert_eq!(by_name("westwood"), None);
    }

    #[test]
    fn names_are_distinct() {
        for (at, profile) in profiles().iter().enumerate() {
            assert!(profiles()[..at].iter().all(|earlier| earlier.name != profile.name));
        }
    }

    #[test]
    fn the_terabit_window_is_below_two_to_the_thirty() {
        let ssfnet = &by_name("ssfnet").expect("a built-in profile").config;
        assert_eq!(ssfnet.receive_window, (1 << 30) - (1 << 14));
        assert_eq!(ssfnet.send_window, Some(150_000));
    }
}
