//! Why there is no device, in one sentence.

use nix::errno::Errno;

/// Why a TUN device cannot be opened.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OpenError {
    /// No interface can be called so.
    #[error("invalid interface name \"{0}\": must be 1 to 15 characters without '/', ':', '%' or spaces")]
    Name(String),
    /// The kernel has no TUN driver, or its file was not made.
    #[error(
        "/dev/net/tun does not exist: load the driver (modprobe tun), or add the device to the container (--device /dev/net/tun)"
    )]
    NoDriver,
    /// Neither root nor CAP_NET_ADMIN.
    #[error(
        "this user may not open the TUN device {0}: run this as root or with the capability cap_net_admin, in a user \
         namespace of your own (unshare --user --map-root-user --net), or let an administrator give it to you (ip tuntap add \
         mode tun user NAME name {0})"
    )]
    Denied(String),
    /// An interface has the name.
    #[error(
        "the network interface {0} already exists: choose another name, or remove it (ip link delete {0})"
    )]
    Taken(String),
    /// Another program has it, or it is no TUN device.
    #[error("cannot use the network interface {0}: another program has it open, or it is not a TUN device")]
    Busy(String),
    /// Anything else.
    #[error("cannot open the TUN device {name}: {what}")]
    System {
        /// Its name.
        name: String,
        /// What the system said.
        what: String,
    },
}

impl OpenError {
    /// What an error number of `/dev/net/tun` itself means.
    pub(super) fn opening(name: &str, errno: Errno) -> Self {
        match errno {
            Errno::ENOENT | Errno::ENODEV | Errno::ENXIO => Self::NoDriver,
            _ => Self::making(name, errno),
        }
    }

    /// What an error number means when a device is made.
    pub(super) fn making(name: &str, errno: Errno) -> Self {
        match errno {
            Errno::EACCES | Errno::EPERM => Self::Denied(name.to_owned()),
            Errno::EBUSY | Errno::EEXIST => Self::Taken(name.to_owned()),
            _ => Self::System { name: name.to_owned(), what: errno.desc().to_lowercase() },
        }
    }

    /// What it means when one that exists is taken.
    pub(super) fn attaching(name: &str, errno: Errno) -> Self {
        match errno {
            Errno::EBUSY | Errno::EINVAL => Self::Busy(name.to_owned()),
            _ => Self::making(name, errno),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_says_what_would_help() {
        let said = |error: OpenError| error.to_string();
        assert!(said(OpenError::opening("tun0", Errno::ENOENT)).contains("modprobe tun"));
        assert!(said(OpenError::opening("tun0", Errno::EACCES)).contains("cap_net_admin"));
        assert!(said(OpenError::making("tun0", Errno::EPERM)).contains("unshare"));
        assert!(said(OpenError::making("tun0", Errno::EBUSY)).contains("ip link delete tun0"));
        assert!(said(OpenError::attaching("tun0", Errno::EBUSY)).contains("another program"));
        assert!(said(OpenError::making("tun0", Errno::ENOMEM)).contains("memory"));
    }
}
