//! Why there is no emulation: one sentence each.

use nix::errno::Errno;
use std::io;

/// Why an emulation cannot start, or breaks off.
#[derive(Debug, thiserror::Error)]
pub enum EmulateError {
    /// Nothing to run.
    #[error("no host has a command: give one after \"--\" or with --on HOST COMMAND")]
    NoCommand,
    /// The emulation ends with the command of one host.
    #[error("host \"{0}\" has two commands: give each host one")]
    TwoCommands(String),
    /// A host alone has nobody to speak to.
    #[error(
        "only host \"{0}\" has a command, but at least two hosts need one: give another one with --server or --on"
    )]
    Alone(String),
    /// Its name cannot stand in `/etc/hosts`.
    #[error(
        "\"{0}\" is not a valid host name: the name of a host with a command may contain letters, digits, \"-\", \".\" and \"_\""
    )]
    Name(String),
    /// A capture where no packet is seen.
    #[error(
        "no packet passes through \"{0}\": it has no command and is not on a path between hosts with commands"
    )]
    NoCapture(String),
    /// An MTU that IPv4 or TUN devices do not know.
    #[error("invalid MTU {0}: must be 68 to 65521 bytes")]
    Mtu(u32),
    /// Two hosts that the scenario does not join.
    #[error("no path of links from \"{from}\" to \"{to}\"")]
    NoRoute {
        /// From here.
        from: String,
        /// To there.
        to: String,
    },
    /// No TUN device.
    #[error(transparent)]
    Device(#[from] crate::tun::OpenError),
    /// No namespaces.
    #[error("cannot create a network namespace: {0}")]
    NoNamespace(String),
    /// An interface, an address, a route.
    #[error("cannot set up the network of a namespace: {0}")]
    Link(#[from] crate::tun::LinkError),
    /// The kernel does not have it.
    #[error(
        "the kernel has no congestion control \"{0}\": see the sysctl net.ipv4.tcp_available_congestion_control"
    )]
    Congestion(String),
    /// Something else in a namespace.
    #[error("cannot set up the namespace of host \"{host}\": {what} failed: {why}")]
    Setup {
        /// Whose.
        host: String,
        /// What was being done.
        what: &'static str,
        /// Why it failed.
        why: io::Error,
    },
    /// A setting that the kernel does not have, or does not take.
    #[error("the kernel rejects {name} = {value}: {why}")]
    Sysctl {
        /// Which.
        name: String,
        /// To what it was to be set.
        value: String,
        /// What the system said.
        why: io::Error,
    },
    /// A command that cannot be started.
    #[error("cannot start the command of host \"{host}\": {command}: {source}")]
    Command {
        /// Whose.
        host: String,
        /// Its first word.
        command: String,
        /// Why.
        source: io::Error,
    },
    /// A capture.
    #[error(transparent)]
    Capture(#[from] netspurt_trace::capture::CaptureError),
    /// The system has no more of something.
    #[error("the emulator failed: {0}")]
    System(#[from] io::Error),
}

impl EmulateError {
    pub(super) fn system(errno: Errno) -> Self {
        Self::System(errno.into())
    }

    pub(super) fn no_namespace(errno: Errno) -> Self {
        Self::NoNamespace(match errno {
            Errno::EPERM | Errno::EACCES => {
                "this needs root, or a system that allows user namespaces to everyone (sysctl \
                 user.max_user_namespaces, kernel.unprivileged_userns_clone, \
                 kernel.apparmor_restrict_unprivileged_userns)"
                    .to_owned()
            }
            Errno::EINVAL => {
                "a program with several threads cannot create a user namespace; run as root".to_owned()
            }
            Errno::ENOSPC => "the limit of namespaces is reached (sysctl user.max_net_namespaces)".to_owned(),
            _ => errno.desc().to_lowercase(),
        })
    }
}
