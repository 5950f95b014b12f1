//! The namespaces of a host, in which the calling thread and its commands run.
//!
//! They have no names and no files, and end with their last process. The file that is mounted as `/etc/hosts` is in a
//! memory file system that is mounted for a moment and only visible there.

use crate::emulator::error::EmulateError;
use crate::emulator::hosts::kernel_tcp::KernelTcp;
use crate::sockets::Diag;
use crate::tun::{Device, Links, Network, Offload, Route};
use netlink_packet_route::route::RouteMetric;
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Name of a host's only interface beside `lo`.
const INTERFACE: &str = "netspurt0";
/// A directory that always exists and whose content is replaced anyway.
const SYS: &str = "/sys";

/// The congestion control of new connections, in the namespace of the thread that reads it.
const CONGESTION: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// Where programs resolve names.
const HOSTS: &str = "/etc/hosts";
const RESOLVER: &str = "/etc/resolv.conf";
/// The file in which glibc configures the preferred address family (gai.conf(5)), if it exists.
const CHOICE: &str = "/etc/gai.conf";
/// Prefers IPv4, as in captures and simulated runs.
const ORDER: &str = "precedence ::ffff:0:0/96 100\n";
/// The minimum MTU of IPv6 (RFC 8200, section 5).
const LEAST_IPV6: u32 = 1280;

/// The configuration of a host.
#[derive(Clone, Debug)]
pub(in crate::emulator) struct Namespaces {
    pub(in crate::emulator) host: String,
    pub(in crate::emulator) addresses: Vec<IpAddr>,
    /// Addresses of the other hosts and their guests. There are no routes to other addresses.
    pub(in crate::emulator) others: Vec<IpAddr>,
    pub(in crate::emulator) mtu: u32,
    pub(in crate::emulator) tcp: KernelTcp,
    /// Lines of `/etc/hosts`.
    pub(in crate::emulator) hosts: String,
    /// Sysctls, such as `net.ipv4.tcp_ecn`.
    pub(in crate::emulator) sysctls: Vec<(String, String)>,
    /// The content of `/etc/resolv.conf`, if all other addresses can be reached too.
    pub(in crate::emulator) resolver: Option<String>,
}

/// Identifies a namespace while it exists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::emulator) struct Mark(pub(in crate::emulator) u64);

/// The namespaces of a host, from the inside.
#[derive(Debug)]
pub(in crate::emulator) struct Entered {
    pub(in crate::emulator) device: Device,
    pub(in crate::emulator) mark: Mark,
    /// Lists the connections of its kernel.
    pub(in crate::emulator) connections: Option<Diag>,
    /// The congestion control that new connections get.
    pub(in crate::emulator) congestion: String,
}

impl Namespaces {
    /// Moves the calling thread and its future children to new namespaces.
    pub(in crate::emulator) fn enter(&self) -> Result<Entered, EmulateError> {
        unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS).map_err(EmulateError::no_namespace)?;
        let failed = |what| move |why| EmulateError::Setup { host: self.host.clone(), what, why };
        let has_ipv6 = self.addresses.iter().any(IpAddr::is_ipv6);
        self.settle_ipv6(has_ipv6).map_err(failed("configuring IPv6"))?;
        let device = Device::create(INTERFACE, Offload::Segments)?;
        self.configure()?;
        // The kernel forwards a guest's packets.
        write_sysctl("net.ipv4.ip_forward", "1").map_err(failed("enabling forwarding"))?;
        for (name, value) in &self.sysctls {
            write_sysctl(name, value).map_err(|why| EmulateError::Sysctl {
                name: name.clone(),
                value: value.clone(),
                why,
            })?;
        }
        self.furnish().map_err(failed("mounting its /etc/hosts"))?;
        let mark = mark_of(Path::new("/proc/thread-self/ns/net")).map_err(failed("reading its identity"))?;
        // Without them the emulation works, but reports less.
        let (connections, congestion) = (Diag::open().ok(), self.congestion().unwrap_or_default());
        Ok(Entered { device, mark, connections, congestion })
    }

    /// The congestion control that new connections get.
    fn congestion(&self) -> Option<String> {
        let system = || std::fs::read_to_string(CONGESTION).ok();
        self.tcp.congestion.clone().or_else(system).map(|name| name.trim().to_owned())
    }

    /// New interfaces only get the configured addresses; without link-local addresses, the kernel does not search for
    /// routers.
    fn settle_ipv6(&self, wanted: bool) -> io::Result<()> {
        if !wanted {
            return write_sysctl("net.ipv6.conf.all.disable_ipv6", "1").or_else(absent);
        }
        for (name, value) in
            [("all.disable_ipv6", "0"), ("default.disable_ipv6", "0"), ("default.addr_gen_mode", "1")]
        {
            write_sysctl(&format!("net.ipv6.conf.{name}"), value)?;
        }
        write_sysctl("net.ipv6.conf.all.forwarding", "1")
    }

    fn configure(&self) -> Result<(), EmulateError> {
        let links = Links::open()?;
        let index = Links::index(INTERFACE)?;
        links.set_up(Links::index("lo")?)?;
        links.set_mtu(index, self.mtu)?;
        links.set_up(index)?;
        for &address in &self.addresses {
            links.add_address(index, alone(address))?;
        }
        let congestion = self.tcp.congestion.clone().map(RouteMetric::CcAlgo);
        let window = self.tcp.initial_window.map(RouteMetric::InitCwnd);
        let metrics: Vec<RouteMetric> = congestion.into_iter().chain(window).collect();
        let any = self.resolver.as_ref().map(|_| Network::any(false));
        for to in self.others.iter().map(|&other| alone(other)).chain(any) {
            let route = Route { to, via: None, metrics: metrics.clone() };
            links.set_route(index, &route).map_err(|error| match &self.tcp.congestion {
                Some(name) if error.errno == Errno::EINVAL => EmulateError::Congestion(name.clone()),
                _ => error.into(),
            })?;
        }
        Ok(())
    }

    /// Configures name resolution, and mounts a `/sys` that shows the interfaces of this namespace, if permitted.
    fn furnish(&self) -> io::Result<()> {
        let none = None::<&str>;
        mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_SLAVE, none)?;
        mount(Some("tmpfs"), SYS, Some("tmpfs"), MsFlags::empty(), Some("size=1m,mode=0755"))?;
        // Without a name server, programs do not wait for one that cannot be reached.
        let resolver = self.resolver.as_deref().unwrap_or("");
        let known = self.resolver.as_ref().and_then(|_| std::fs::read_to_string(HOSTS).ok());
        let hosts = format!("{}{}", self.hosts, known.unwrap_or_default());
        let files =
            [("hosts", &*hosts, HOSTS), ("resolv.conf", resolver, RESOLVER), ("gai.conf", ORDER, CHOICE)];
        for (name, content, target) in files {
            let file = format!("{SYS}/{name}");
            std::fs::write(&file, content)?;
            if Path::new(target).exists() {
                mount(Some(file.as_str()), target, none, MsFlags::MS_BIND, none)?;
            }
        }
        umount2(SYS, MntFlags::MNT_DETACH)?;
        // If that is not permitted, the old `/sys` shows other interfaces, which few programs read.
        let _ = mount(Some("sysfs"), SYS, Some("sysfs"), MsFlags::empty(), none);
        Ok(())
    }
}

pub(in crate::emulator) const fn alone(address: IpAddr) -> Network {
    Network { address, bits: if address.is_ipv6() { 128 } else { 32 } }
}

/// Number of addresses of a host: IPv4, and IPv6 if the kernel supports it and the MTU is large enough.
pub(in crate::emulator) fn families(mtu: u32) -> usize {
    1 + usize::from(mtu >= LEAST_IPV6 && Path::new("/proc/net/if_inet6").exists())
}

/// A setting that does not exist need not be disabled.
fn absent(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

fn write_sysctl(name: &str, value: &str) -> io::Result<()> {
    std::fs::write(Path::new("/proc/sys").join(name.replace('.', "/")), value)
}

/// The identity of the namespace of a file under `/proc`.
pub(in crate::emulator) fn mark_of(file: &Path) -> io::Result<Mark> {
    std::fs::metadata(file).map(|namespace| Mark(namespace.ino()))
}
