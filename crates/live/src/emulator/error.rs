//! Errors of an emulation. Each message is one sentence.

use nix::errno::Errno;
use std::io;

/// Why an emulation cannot start, or was aborted.
#[derive(Debug, thiserror::Error)]
pub enum EmulateError {
    /// No host has a command.
    #[error("no host has a command: give one after \"--\" or with --on HOST COMMAND")]
    NoCommand,
    /// A host has two commands.
    #[error("host \"{0}\" has two commands: give each host one")]
    TwoCommands(String),
    /// Only one host has a command.
    #[error(
        "only host \"{0}\" has a command, but at least two hosts need one: give another one with --server or --on"
    )]
    Alone(String),
    /// The name of a host is not valid in `/etc/hosts`.
    #[error(
        "\"{0}\" is not a valid host name: the name of a host with a command may contain letters, digits, \"-\", \".\" and \"_\""
    )]
    Name(String),
    /// No packet passes the capture point.
    #[error(
        "no packet passes through \"{0}\": it has no command and is not on a path between hosts with commands"
    )]
    NoCapture(String),
    /// The MTU is invalid for IPv4 or TUN devices.
    #[error("invalid MTU {0}: must be 68 to 65521 bytes")]
    Mtu(u32),
    /// There is no route between two hosts.
    #[error("no path of links from \"{from}\" to \"{to}\"")]
    NoRoute {
        /// The source.
        from: String,
        /// The destination.
        to: String,
    },
    /// A TUN device cannot be opened.
    #[error(transparent)]
    Device(#[from] crate::tun::OpenError),
    /// A namespace cannot be created.
    #[error("cannot create a network namespace: {0}")]
    NoNamespace(String),
    /// An interface, an address or a route cannot be set.
    #[error("cannot set up the network of a namespace: {0}")]
    Link(#[from] crate::tun::LinkError),
    /// The kernel does not have this congestion control.
    #[error(
        "the kernel has no congestion control \"{0}\": see the sysctl net.ipv4.tcp_available_congestion_control"
    )]
    Congestion(String),
    /// Another error in a namespace.
    #[error("cannot set up the namespace of host \"{host}\": {what} failed: {why}")]
    Setup {
        /// The host.
        host: String,
        /// The operation.
        what: &'static str,
        /// The system's error.
        why: io::Error,
    },
    /// The kernel does not have this sysctl, or rejects the value.
    #[error("the kernel rejects {name} = {value}: {why}")]
    Sysctl {
        /// The sysctl.
        name: String,
        /// The value.
        value: String,
        /// The system's error.
        why: io::Error,
    },
    /// A command cannot be started.
    #[error("cannot start the command of host \"{host}\": {command}: {source}")]
    Command {
        /// The host.
        host: String,
        /// The program.
        command: String,
        /// The system's error.
        source: io::Error,
    },
    /// A capture cannot be written.
    #[error(transparent)]
    Capture(#[from] netspurt_trace::capture::CaptureError),
    /// Another error of the system.
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
