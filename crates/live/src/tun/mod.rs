//! TUN devices: IP packets between the kernel and a program, as super-segments of up to 64 KiB if both support them.
//!
//! One system call per packet costs more than all of TCP. With `IFF_VNET_HDR`, each packet has a [`Shape`], which
//! describes the work that its sender has left undone: the checksum and segmentation. Packets are not changed, so a
//! forwarder need not parse them.
//!
//! A device is opened in the network namespace of the calling thread and stays there. It is removed when its [`Device`]
//! is dropped.
//!
//! * `device.rs`: opens a device, receives and sends packets
//! * `shape.rs`: the virtio header of each packet
//! * `pieces.rs`: completes checksums and divides super-segments
//! * `link.rs`: interfaces, addresses and routes, by netlink
//! * `error.rs`: errors of opening a device
//! * `sys.rs`: the two system calls that no crate offers; contains the only unsafe code

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
