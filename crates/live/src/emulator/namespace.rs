//! The namespaces of one host: what the calling thread and the commands that it starts see of the world.
//!
//! They have no names and leave no files: they go when the last process in them is gone. The file that is seen as
//! `/etc/hosts` lies in a memory file system that is mounted for a moment where nobody else can see it.

use super::error::EmulateError;
use super::plan::KernelTcp;
use crate::tun::{Device, Links, Network, Offload, Route};
use netlink_packet_route::route::RouteMetric;
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// What a host's only interface beside `lo` is called.
const INTERFACE: &str = "netspurt0";
/// A directory that is always there, and whose content is replaced in any case.
const SYS: &str = "/sys";

/// Where programs look names up.
const HOSTS: &str = "/etc/hosts";
const RESOLVER: &str = "/etc/resolv.conf";
/// Where glibc reads which of a name's addresses it tries first (gai.conf(5)), where that file is there at all.
const CHOICE: &str = "/etc/gai.conf";
/// That of IPv4, as captures and simulated runs have it.
const ORDER: &str = "precedence ::ffff:0:0/96 100\n";
/// The shortest MTU that IPv6 knows (RFC 8200, section 5).
const LEAST_IPV6: u32 = 1280;

/// What a host is to see.
#[derive(Clone, Debug)]
pub(super) struct Lodging {
    pub(super) host: String,
    pub(super) addresses: Vec<IpAddr>,
    /// Where the others and their guests are. There is no way to anybody else.
    pub(super) others: Vec<IpAddr>,
    pub(super) mtu: u32,
    pub(super) tcp: KernelTcp,
    /// Lines of `/etc/hosts`.
    pub(super) hosts: String,
    /// Settings of the kernel, such as `net.ipv4.tcp_ecn`.
    pub(super) sysctls: Vec<(String, String)>,
}

/// What marks a namespace as long as it is there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Mark(pub(super) u64);

impl Lodging {
    /// Moves the calling thread, and what it will start, into new namespaces; the end of its device that is ours.
    pub(super) fn move_in(&self) -> Result<(Device, Mark), EmulateError> {
        unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS).map_err(EmulateError::no_namespace)?;
        let failed = |what| move |why| EmulateError::Setup { host: self.host.clone(), what, why };
        let has_ipv6 = self.addresses.iter().any(IpAddr::is_ipv6);
        self.settle_ipv6(has_ipv6).map_err(failed("configuring IPv6"))?;
        let device = Device::create(INTERFACE, Offload::Segments)?;
        self.configure()?;
        // A guest's packets come by way of this kernel.
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
        Ok((device, mark))
    }

    /// Interfaces to come have the addresses that they are given, and none that nobody knows of, so that nobody looks for
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
        for &other in &self.others {
            let route = Route { to: alone(other), via: None, metrics: metrics.clone() };
            links.set_route(index, &route).map_err(|error| match &self.tcp.congestion {
                Some(name) if error.errno == Errno::EINVAL => EmulateError::Congestion(name.clone()),
                _ => error.into(),
            })?;
        }
        Ok(())
    }

    /// Names resolve, and `/sys` shows the interfaces of this namespace if it may.
    fn furnish(&self) -> io::Result<()> {
        let none = None::<&str>;
        mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_SLAVE, none)?;
        mount(Some("tmpfs"), SYS, Some("tmpfs"), MsFlags::empty(), Some("size=1m,mode=0755"))?;
        // Without a name server nobody waits for the answer of one that cannot be reached.
        let files =
            [("hosts", &*self.hosts, HOSTS), ("resolv.conf", "", RESOLVER), ("gai.conf", ORDER, CHOICE)];
        for (name, content, target) in files {
            let file = format!("{SYS}/{name}");
            std::fs::write(&file, content)?;
            if Path::new(target).exists() {
                mount(Some(file.as_str()), target, none, MsFlags::MS_BIND, none)?;
            }
        }
        umount2(SYS, MntFlags::MNT_DETACH)?;
        // Where it may not, the old one shows other interfaces than there are, which few programs look at.
        let _ = mount(Some("sysfs"), SYS, Some("sysfs"), MsFlags::empty(), none);
        Ok(())
    }
}

const fn alone(address: IpAddr) -> Network {
    Network { address, bits: if address.is_ipv6() { 128 } else { 32 } }
}

/// How many addresses a host can have: one of IPv4, and one of IPv6 where the kernel has that and packets are long enough.
pub(super) fn families(mtu: u32) -> usize {
    1 + usize::from(mtu >= LEAST_IPV6 && Path::new("/proc/net/if_inet6").exists())
}

/// What is not there need not be switched off.
fn absent(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

fn write_sysctl(name: &str, value: &str) -> io::Result<()> {
    std::fs::write(Path::new("/proc/sys").join(name.replace('.', "/")), value)
}

/// The mark of the namespace that a file under `/proc` stands for.
pub(super) fn mark_of(file: &Path) -> io::Result<Mark> {
    std::fs::metadata(file).map(|namespace| Mark(namespace.ino()))
}
