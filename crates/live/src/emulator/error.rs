//! Why there is no emulation: one sentence each.

use nix::errno::Errno;
use std::io;

/// Why an emulation cannot start, or breaks off.
#[derive(Debug, thiserror::Error)]
pub enum EmulateError {
    /// Nothing to run.
    #[error("no host has a command: name one behind \"--\", or with --on HOST COMMAND")]
    NoCommand,
    /// The emulation ends with the command of one host.
    #[error("host \"{0}\" has two commands: give each host one")]
    TwoCommands(String),
    /// A host alone has nobody to speak to.
    #[error(
        "only host \"{0}\" has a command, and a network joins at least two: give another one with --server or --on"
    )]
    Alone(String),
    /// Its name cannot stand in `/etc/hosts`.
    #[error(
        "\"{0}\" is no name that programs could look up: a host with a command is named by letters, digits, \"-\", \".\" and \"_\""
    )]
    Name(String),
    /// A capture where no packet is seen.
    #[error("no packet passes \"{0}\": it has no command, and lies on no way between hosts that have one")]
    NoCapture(String),
    /// An MTU that IPv4 or TUN devices do not know.
    #[error("an MTU of {0} cannot be: 68 to 65521 bytes")]
    Mtu(u32),
    /// Two hosts that the scenario does not join.
    #[error("no links lead from \"{from}\" to \"{to}\"")]
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
    #[error("no network namespace can be made: {0}")]
    NoNamespace(String),
    /// An interface, an address, a route.
    #[error("the network of a namespace cannot be set up: {0}")]
    Link(#[from] crate::tun::LinkError),
    /// The kernel does not have it.
    #[error(
        "the kernel has no congestion control \"{0}\": see the sysctl net.ipv4.tcp_available_congestion_control"
    )]
    Congestion(String),
    /// Something else in a namespace.
    #[error("the namespace of host \"{host}\" cannot be set up: {what} failed: {why}")]
    Setup {
        /// Whose.
        host: String,
        /// What was being done.
        what: &'static str,
        /// Why it failed.
        why: io::Error,
    },
    /// A setting that the kernel does not have, or does not take.
    #[error("the kernel does not take {name} = {value}: {why}")]
    Sysctl {
        /// Which.
        name: String,
        /// To what it was to be set.
        value: String,
        /// What the system said.
        why: io::Error,
    },
    /// A command that cannot be started.
    #[error("the command of host \"{host}\" cannot be started: {command}: {source}")]
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
    #[error("the system refuses what an emulator needs: {0}")]
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
                "a user namespace is for a program with one thread, and this one has more; run as root"
                    .to_owned()
            }
            Errno::ENOSPC => "there are too many already (sysctl user.max_net_namespaces)".to_owned(),
            _ => errno.desc().to_lowercase(),
        })
    }
}
