//! TUN devices: whole IP packets between the kernel and a program, in super-segments of up to 64 KiB where both can.
//!
//! One system call a packet costs more than all of TCP. With `IFF_VNET_HDR` a packet carries a [`Shape`], which says what its
//! sender left undone: the checksum, and cutting into segments. Packets are taken and given as they are, so that what
//! forwards them need not look inside.
//!
//! A device is opened in the network namespace of the calling thread and stays there, whoever reads it. It is gone when its
//! [`Device`] is.
//!
//! * `device.rs`: open, receive, send
//! * `shape.rs`: the header in front of each packet, virtio's
//! * `pieces.rs`: checksums completed and super-segments cut, for those who need what really is on a wire
//! * `link.rs`: interfaces up and down, addresses, routes, by netlink
//! * `error.rs`: why there is no device
//! * `sys.rs`: the two system calls that no crate makes; the only unsafe code

mod device;
mod error;
mod link;
mod pieces;
mod shape;
mod sys;

pub use device::{Device, FRAME_ROOM, Frame, Offload};
pub use error::OpenError;
pub use link::{LinkError, Links, Network, NetworkError, Route};
pub use pieces::{Pieces, complete_checksum};
pub(crate) use pieces::{TCP_CHECKSUM, measure};
pub use shape::{Checksum, Cut, HEADER_LEN, Protocol, Shape};
