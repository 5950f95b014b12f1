//! A TUN device.

use super::error::OpenError;
use super::shape::{HEADER_LEN, Shape};
use super::sys;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use nix::sys::uio::writev;
use nix::unistd::read;
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Buffer size for the largest frame: its own header, an IPv6 header, and a payload of 65,535 bytes.
pub const FRAME_ROOM: usize = HEADER_LEN + 40 + 65_535;
/// Maximum length of an interface name.
const LONGEST_NAME: usize = 15;
/// Maximum number of parts of a packet.
const MOST_PARTS: usize = 4;

/// Which work kernel and program may leave to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offload {
    /// Checksums and TCP segmentation, in both directions.
    Segments,
    /// None: every packet is complete.
    Nothing,
}

/// A packet from the kernel.
#[derive(PartialEq, Eq, Debug)]
pub struct Frame<'b> {
    /// The packet, from its IP header on.
    pub packet: &'b mut [u8],
    /// The work that is left to do.
    pub shape: Shape,
}

/// An open TUN device. No method blocks; [`AsFd`] allows waiting.
#[derive(Debug)]
pub struct Device {
    fd: OwnedFd,
    name: String,
    offload: Offload,
}

impl Device {
    /// Creates a device in the network namespace of this thread. It is down and has no address; see
    /// [`Links`](super::Links). If the kernel does not support the offloads, there are [fewer](Self::offload).
    pub fn create(name: &str, wanted: Offload) -> Result<Self, OpenError> {
        Self::open(name, wanted, libc::IFF_TUN_EXCL).map_err(|why| OpenError::making(name, why))?
    }

    /// Opens a device that was created for this user (`ip tuntap add mode tun user NAME`), without privilege.
    pub fn attach(name: &str, wanted: Offload) -> Result<Self, OpenError> {
        Self::open(name, wanted, 0).map_err(|why| OpenError::attaching(name, why))?
    }

    /// The outer error is the device's.
    fn open(name: &str, wanted: Offload, how: libc::c_int) -> Result<Result<Self, OpenError>, Errno> {
        if !is_name(name) {
            return Ok(Err(OpenError::Name(name.to_owned())));
        }
        let flags = OFlag::O_RDWR | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let fd = match open("/dev/net/tun", flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(why) => return Ok(Err(OpenError::opening(name, why))),
        };
        let header = match wanted {
            Offload::Segments => libc::IFF_VNET_HDR,
            Offload::Nothing => 0,
        };
        sys::bind(fd.as_fd(), name, libc::IFF_TUN | libc::IFF_NO_PI | header | how)?;
        let work = match wanted {
            Offload::Segments => libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN,
            // A persistent device keeps the offloads of its last user.
            Offload::Nothing => 0,
        };
        if let Err(why) = sys::set_offload(fd.as_fd(), work) {
            match wanted {
                // Without offloads, which every kernel supports.
                Offload::Segments => return Self::open(name, Offload::Nothing, how),
                Offload::Nothing => return Err(why),
            }
        }
        Ok(Ok(Self { fd, name: name.to_owned(), offload: wanted }))
    }

    /// The name of the interface.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which work kernel and program leave to each other.
    pub const fn offload(&self) -> Offload {
        self.offload
    }

    /// The next packet from the kernel, if there is one. A frame longer than `buffer` is truncated; use [`FRAME_ROOM`].
    /// Invalid frames are skipped.
    pub fn receive<'b>(&self, buffer: &'b mut [u8]) -> Result<Option<Frame<'b>>, Errno> {
        loop {
            let len = match read(&self.fd, buffer) {
                Ok(len) => len,
                Err(Errno::EAGAIN) => return Ok(None),
                Err(Errno::EINTR) => continue,
                Err(why) => return Err(why),
            };
            let (start, shape) = match (self.offload, buffer.first_chunk()) {
                (Offload::Nothing, _) => (0, Some(Shape::default())),
                (Offload::Segments, Some(header)) => (HEADER_LEN, Shape::read(header)),
                (Offload::Segments, None) => (0, None),
            };
            if let Some(shape) = shape
                && start < len
            {
                return Ok(Some(Frame { packet: &mut buffer[start..len], shape }));
            }
        }
    }

    /// Passes a packet to the kernel, in at most four parts. A device without [`Offload::Segments`] needs complete
    /// packets: see [`Pieces`](super::Pieces).
    ///
    /// # Errors
    /// EIO while the interface is down; EINVAL for data that is not an IP packet, or for a shape that a device without
    /// offloads cannot
    /// carry.
    pub fn send(&self, shape: &Shape, parts: &[&[u8]]) -> Result<(), Errno> {
        let undone = shape.cut.is_some() || matches!(shape.checksum, super::Checksum::Partial { .. });
        let header = shape.header();
        let header = match self.offload {
            Offload::Segments => &header[..],
            Offload::Nothing if undone => return Err(Errno::EINVAL),
            Offload::Nothing => &[],
        };
        let mut slices = [IoSlice::new(&[]); MOST_PARTS + 1];
        slices[0] = IoSlice::new(header);
        let places = slices.get_mut(1..=parts.len()).ok_or(Errno::EINVAL)?;
        for (place, part) in places.iter_mut().zip(parts) {
            *place = IoSlice::new(part);
        }
        loop {
            match writev(&self.fd, &slices[..=parts.len()]) {
                Ok(_) => return Ok(()),
                Err(Errno::EINTR) => {}
                Err(why) => return Err(why),
            }
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Whether an interface name is valid (`dev_valid_name()`; the kernel replaces '%' by a number).
fn is_name(name: &str) -> bool {
    let bad = |byte: u8| matches!(byte, b'/' | b':' | b'%') || byte.is_ascii_whitespace() || byte == 0;
    (1..=LONGEST_NAME).contains(&name.len()) && !matches!(name, "." | "..") && !name.bytes().any(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_interface_names_are_rejected_before_the_device_is_opened() {
        for name in ["", ".", "..", "a/b", "a b", "tun%d", "sixteen-octets--", "a:1", "nul\0"] {
            assert!(
                matches!(Device::create(name, Offload::Segments), Err(OpenError::Name(said)) if said == name),
                "{name:?}"
            );
        }
        assert!(is_name("fifteen-octets-"));
    }
}
