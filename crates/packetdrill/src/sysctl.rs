//! Settings of new sockets: the profile, and the sysctls of the network namespace in which the script runs.

pub(crate) mod freebsd;

use netspurt_tcp::config::{Config, EcnUse, PathMtuDiscovery, SendMemory};
use netspurt_tcp::congestion;
use netspurt_tcp::profile;
use netspurt_tcp::time::Span;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

/// Bits of net.ipv4.tcp_fastopen (Documentation/networking/ip-sysctl.rst).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FastOpenBits(u64);

impl FastOpenBits {
    pub(crate) const CLIENT: Self = Self(0x1);
    pub(crate) const SERVER: Self = Self(0x2);
    pub(crate) const CLIENT_WITHOUT_COOKIE: Self = Self(0x4);
    pub(crate) const SERVER_WITHOUT_COOKIE: Self = Self(0x200);
    pub(crate) const EVERY_LISTENER: Self = Self(0x400);
}

/// The queueing discipline of the interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Qdisc {
    /// One that does not pace.
    Default,
    /// `fq`, which paces.
    Fq,
    /// One that refuses all packets (`pfifo limit 0`).
    Refusing,
}

/// How many segments the interface takes as one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Packets {
    /// Several, with segmentation offload.
    Offloaded,
    /// One (gso_max_segs 1).
    Single,
}

/// Whether the adapter does what belongs to the kernel and not to TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StandIns {
    Used,
    /// No Fast Open, no rules for filling packets and for PSH of offloaded packets, no pacing by `fq`, no error queue, no
    /// `sendfile` and `splice`. What still passes rests on the connection.
    None,
}

/// Settings of new sockets.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The profile without sysctls.
    profile: Config,
    /// The folder of the sysctls; `None` if they are not read.
    root: Option<PathBuf>,
    /// Configuration of new connections: the profile with the sysctls.
    pub(crate) config: Config,
    /// Local addresses of connections whose socket is not bound.
    pub(crate) local: Ipv4Addr,
    pub(crate) local_v6: Ipv6Addr,
    /// The MTU of the interface, if it is known: the MSS follows from it.
    pub(crate) mtu: Option<u16>,
    /// tcp_notsent_lowat.
    pub(crate) not_sent_low: u32,
    /// tcp_min_tso_segs.
    pub(crate) least_together: u64,
    /// tcp_wmem[1], tcp_wmem[2], and what the send buffer counts. The adapter limits it as Linux does; the buffer of the
    /// connection has no limit.
    pub(crate) send_buffer: u64,
    pub(crate) largest_send_buffer: u64,
    pub(crate) send_memory: SendMemory,
    /// The queueing discipline that the script has installed.
    pub(crate) qdisc: Qdisc,
    /// What the interface takes.
    pub(crate) packets: Packets,
    pub(crate) stand_ins: StandIns,
    /// How long the host takes to send a segment.
    pub(crate) time_per_segment: Span,
}

impl Settings {
    /// Parses packetdrill's `--so_flags`: `profile=linux,local=192.168.0.1,mtu=1500,sysctl=/proc/sys/net/ipv4`, all optional.
    /// With `sysctl=none`, sysctls are not read. A flag may also be a sysctl of FreeBSD (`freebsd`).
    ///
    /// # Errors
    /// A sentence that says what is wrong and what is valid.
    pub(crate) fn parse(flags: &str) -> Result<Self, String> {
        let mut settings = Self {
            profile: Config::clone(&profile::by_name("linux").ok_or("no profile linux")?.config),
            root: Some(PathBuf::from("/proc/sys/net/ipv4")),
            config: Config::clone(&profile::by_name("linux").ok_or("no profile linux")?.config),
            local: Ipv4Addr::new(192, 168, 0, 1),
            local_v6: Ipv6Addr::new(0xFD3D, 0xA0B, 0x17D6, 0, 0, 0, 0, 1),
            mtu: None,
            not_sent_low: u32::MAX,
            least_together: 2,
            send_buffer: 16_384,
            largest_send_buffer: 4 << 20,
            send_memory: SendMemory::Bytes,
            qdisc: Qdisc::Default,
            packets: Packets::Offloaded,
            stand_ins: StandIns::Used,
            time_per_segment: Span::ZERO,
        };
        for flag in flags.split(',').filter(|flag| !flag.is_empty()) {
            let (key, value) = flag.split_once('=').ok_or(format!("`{flag}`: expected key=value"))?;
            match key {
                "profile" => {
                    let known = profile::profiles().iter().map(|p| p.name).collect::<Vec<_>>().join(", ");
                    let found = profile::by_name(value)
                        .ok_or(format!("unknown profile `{value}`; known: {known}"))?;
                    settings.profile = found.config.clone();
                }
                "local" => match value.parse() {
                    Ok(IpAddr::V4(ip)) => settings.local = ip,
                    Ok(IpAddr::V6(ip)) => settings.local_v6 = ip,
                    Err(_) => {
                        return Err(format!("`{value}` is no IP address such as 192.168.0.1 or fd00::1"));
                    }
                },
                "mtu" => match value.parse() {
                    Ok(mtu @ 68..) => settings.mtu = Some(mtu),
                    _ => return Err(format!("`{value}`: expected an MTU of 68 to 65535 bytes")),
                },
                "stand-ins" => {
                    settings.stand_ins = match value {
                        "used" => StandIns::Used,
                        "none" => StandIns::None,
                        _ => return Err(format!("`{value}`: expected used or none")),
                    }
                }
                _ if key.starts_with("net.inet.tcp.") => freebsd::set(&mut settings.profile, key, value)?,
                "sysctl" => settings.root = (value != "none").then(|| PathBuf::from(value)),
                _ => {
                    return Err(format!(
                        "unknown flag `{key}`; known: profile, local, mtu, sysctl, stand-ins, {}",
                        freebsd::NAMES.join(", ")
                    ));
                }
            }
        }
        // `offload` sets PSH: it knows which interface takes the segments.
        settings.profile.push_bursts = settings.stand_ins == StandIns::None && settings.profile.push_bursts;
        if settings.stand_ins == StandIns::Used {
            settings.send_memory = settings.profile.send_memory;
        }
        settings.config = settings.profile.clone();
        Ok(settings)
    }

    /// Settings without sysctls for an interface that takes single segments; with Reno's congestion control if that is wanted,
    /// and the largest receive buffer, if it is not the profile's. The RTO counts in ticks of `jiffy`.
    ///
    /// # Errors
    /// The profile is unknown.
    pub(crate) fn for_replay(
        profile: &str,
        reno: bool,
        jiffy: Span,
        buffer: Option<u32>,
    ) -> Result<Self, String> {
        let mut settings = Self::parse(&format!("profile={profile},local=10.9.0.1,sysctl=none"))?;
        settings.packets = Packets::Single;
        // Loss detection by time sees the order of a burst.
        settings.time_per_segment = Span::from_us(2);
        settings.profile.rto_tick = jiffy;
        if reno {
            settings.profile.congestion = congestion::Kind::RenoLinux;
        }
        if let Some(bytes) = buffer {
            settings.profile.receive_window = bytes;
        }
        Ok(settings)
    }

    /// Whether a bit of net.ipv4.tcp_fastopen is set. Without sysctls, only clients may use Fast Open.
    pub(crate) fn fast_open(&self, bit: FastOpenBits) -> bool {
        if self.stand_ins == StandIns::None {
            return false;
        }
        let bits = self.root.as_ref().and_then(|root| number(root, "tcp_fastopen", 0));
        bits.unwrap_or(FastOpenBits::CLIENT.0) & bit.0 > 0
    }

    /// Whether the script's namespace, whose sysctls are read, gets the listeners too.
    pub(crate) fn shows_listeners(&self) -> bool {
        self.root.is_some() && self.stand_ins == StandIns::Used
    }

    /// The text of a sysctl.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        text(self.root.as_ref()?, name)
    }

    /// These settings with the present values of the sysctls. For a sysctl that cannot be read, the profile applies.
    pub(crate) fn read(&self) -> Self {
        let mut new = self.clone();
        let config = &mut new.config;
        *config = self.profile.clone();
        // The socket has a buffer of its own.
        (config.send_buffer, config.initial_send_buffer) = (u64::from(u32::MAX), None);
        config.send_memory = SendMemory::Bytes;
        let Some(root) = &self.root else { return new };
        config.timestamps = flag(root, "tcp_timestamps").unwrap_or(config.timestamps);
        config.sack = flag(root, "tcp_sack").unwrap_or(config.sack);
        config.ecn = number(root, "tcp_ecn", 0).map_or(config.ecn, |n| match n {
            0 => EcnUse::Off,
            1 => EcnUse::Rfc3168,
            3 => EcnUse::Rfc9768,
            // 4 requests RFC 3168 and accepts accurate ECN; `EcnUse` has no such choice.
            4 => EcnUse::Rfc3168,
            5 => EcnUse::AcceptRfc9768,
            _ => EcnUse::Accept,
        });
        config.path_mtu_discovery =
            number(root, "tcp_mtu_probing", 0).map_or(config.path_mtu_discovery, |n| match n {
                0 => PathMtuDiscovery::Icmp,
                1 => PathMtuDiscovery::ProbeAfterBlackHole,
                _ => PathMtuDiscovery::Probe,
            });
        if let Some(base) = number(root, "tcp_base_mss", 0).and_then(|n| u16::try_from(n).ok()) {
            config.base_mss = base.max(64);
        }
        config.idle_restart = flag(root, "tcp_slow_start_after_idle").unwrap_or(config.idle_restart);
        // 3 and 4: probes; 0: none (Documentation/networking/ip-sysctl.rst).
        config.tail_loss_probe =
            number(root, "tcp_early_retrans", 0).map_or(config.tail_loss_probe, |n| n >= 3);
        if let (Some(first), Some(most)) = (number(root, "tcp_rmem", 1), number(root, "tcp_rmem", 2)) {
            let window = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX).min(1 << 30);
            config.receive_window = window(most);
            // The other half is for the overhead of packets (tcp_adv_win_scale).
            config.initial_receive_window = Some(window(first) / 2);
        }
        if let Some(first) = number(root, "tcp_wmem", 1) {
            new.send_buffer = first;
        }
        new.largest_send_buffer = number(root, "tcp_wmem", 2).unwrap_or(new.largest_send_buffer);
        if let Some(retries) = number(root, "tcp_syn_retries", 0) {
            config.syn_retries = retries as u8;
        }
        if let Some(retries) = number(root, "tcp_synack_retries", 0) {
            config.syn_ack_retries = retries as u8;
        }
        if let Some(timeouts) = number(root, "tcp_syn_linear_timeouts", 0) {
            config.syn_linear_timeouts = timeouts as u8;
        }
        if let Some(interval) = number(root, "tcp_invalid_ratelimit", 0) {
            config.invalid_ratelimit = Span::from_ms(interval);
        }
        if let Some(retries) = number(root, "tcp_retries2", 0) {
            config.retries = retries as u8;
        }
        if text(root, "tcp_congestion_control").is_some_and(|name| name.trim() == "reno") {
            config.congestion = congestion::Kind::RenoLinux;
        }
        new.not_sent_low =
            number(root, "tcp_notsent_lowat", 0).map_or(u32::MAX, |n| u32::try_from(n).unwrap_or(u32::MAX));
        new.least_together = number(root, "tcp_min_tso_segs", 0).unwrap_or(new.least_together);
        new
    }
}

fn text(root: &Path, name: &str) -> Option<String> {
    std::fs::read_to_string(root.join(name)).ok()
}

/// The number at position `index` of a sysctl.
fn number(root: &Path, name: &str, index: usize) -> Option<u64> {
    text(root, name)?.split_whitespace().nth(index)?.parse().ok()
}

fn flag(root: &Path, name: &str) -> Option<bool> {
    number(root, name, 0).map(|n| n != 0)
}
