//! The configuration of a host.

use crate::tun::Network;
use netspurt_tcp::config::{Config, MssCounts, WindowOption};
use netspurt_tcp::validate::{ConfigError, SMALLEST_MSS};
use std::net::IpAddr;
use std::sync::Arc;

/// Length of the IP and TCP headers without options.
const HEADERS_V4: u32 = 40;
const HEADERS_V6: u32 = 60;

/// Limits of resources that peers can use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Open connections, and those that this host opens. At the limit a peer's new connection replaces the one that has
    /// been idle for the longest time, if that is at least a second; otherwise it is reset.
    pub connections: usize,
    /// Half-open connections from peers. At the limit a SYN is answered with a SYN cookie, without memory (RFC 4987,
    /// section 3.6).
    pub half_open: usize,
    /// Connections in TIME-WAIT. A new one replaces the oldest.
    pub time_wait: usize,
    /// The memory of the buffers of all connections, and of the lists of what has arrived out of order, in bytes. At the limit a
    /// buffer does not grow beyond 64 KiB, and out-of-order data has at most 1024 parts: data for which there is no room is dropped
    /// like a lost packet, and an application can write less.
    pub memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 16_384, half_open: 4096, time_wait: 16_384, memory: 1 << 30 }
    }
}

/// What determines the segment size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mss {
    /// The MTU of the device.
    OfDevice,
    /// The configuration, limited by the MTU of the device.
    Configured,
}

/// The configuration of a host.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its addresses with prefix lengths.
    pub networks: Vec<Network>,
    /// MTU of its device.
    pub mtu: u32,
    /// The configuration of its TCP.
    pub config: Config,
    /// Whether `config` determines the segment size.
    pub mss: Mss,
    /// Limits of resources that peers can use.
    pub limits: Limits,
    /// A secret key of 16 bytes (RFC 6528, section 3).
    pub key: [u8; 16],
}

impl Settings {
    /// Whether an address is the host's own.
    pub(super) fn is_own(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.address == address)
    }

    /// Whether a peer may have this address. Multicast, broadcast, unspecified, loopback and own addresses are excluded
    /// (RFC 9293, section 3.9.2.3, MUST-57; RFC 1122, section 3.2.1.3).
    pub(super) fn may_be_peer(&self, address: IpAddr) -> bool {
        let is_host = match address {
            IpAddr::V4(v4) => !v4.is_multicast() && !v4.is_broadcast() && v4.octets()[0] != 0,
            IpAddr::V6(v6) => !v6.is_multicast() && !v6.is_unspecified(),
        };
        is_host
            && !address.is_loopback()
            && !self.networks.iter().any(|network| network.is_broadcast(address))
    }

    /// The configuration of connections over IPv4 and over IPv6.
    pub(super) fn configs(&self) -> Result<[Arc<Config>; 2], ConfigError> {
        let of = |headers| {
            let config = Config { mss: self.mss_behind(headers), ..self.config.clone() };
            config.validate().map(|()| Arc::new(config))
        };
        Ok([of(HEADERS_V4)?, of(HEADERS_V6)?])
    }

    fn mss_behind(&self, headers: u32) -> u16 {
        // Systems that do not count options in the MSS add them to every segment.
        let options = match self.config.mss_counts {
            MssCounts::DataAndOptions => 0,
            MssCounts::Data => {
                let scale = self.config.window_option == WindowOption::ScaleEverySegment;
                let big = self.config.window_option == WindowOption::BigWindow;
                12 * u32::from(self.config.timestamps) + 8 * u32::from(scale || big)
            }
        };
        let room = u16::try_from(self.mtu.saturating_sub(headers + options)).unwrap_or(u16::MAX);
        let carried = room.clamp(SMALLEST_MSS, netspurt_tcp::validate::LARGEST_MSS);
        match self.mss {
            Mss::OfDevice => carried,
            Mss::Configured => carried.min(self.config.mss),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netspurt_tcp::profile;

    fn settings(name: &str, mtu: u32, mss: Mss) -> Settings {
        let config = profile::by_name(name).expect("a profile").config.clone();
        let (networks, limits) = (Vec::new(), Limits::default());
        Settings { networks, mtu, config, mss, limits, key: [0; 16] }
    }

    #[test]
    fn segments_fill_the_packets_of_the_device_and_no_more() {
        let sizes = |settings: Settings| settings.configs().expect("valid").map(|config| config.mss);
        assert_eq!(sizes(settings("linux", 1500, Mss::OfDevice)), [1460, 1440]);
        assert_eq!(sizes(settings("linux", 9000, Mss::Configured)), [1460, 1460]);
        assert_eq!(sizes(settings("linux", 576, Mss::Configured)), [536, 516]);
        let mut counting_data = settings("linux", 1500, Mss::OfDevice);
        counting_data.config.mss_counts = MssCounts::Data;
        assert_eq!(sizes(counting_data), [1448, 1428]);
    }
}
