//! The `ioctl` calls of a TUN device.
#![expect(unsafe_code, reason = "nix has no wrapper for the ioctls of a TUN device")]

use nix::errno::Errno;
use std::os::fd::{AsRawFd as _, BorrowedFd};

nix::ioctl_write_ptr_bad!(
    /// TUNSETIFF.
    tun_set_iff,
    libc::TUNSETIFF,
    libc::ifreq
);
nix::ioctl_write_int_bad!(
    /// TUNSETOFFLOAD.
    tun_set_offload,
    libc::TUNSETOFFLOAD
);

/// Attaches a descriptor of `/dev/net/tun` to the device `name`, with these flags. A longer name is truncated.
pub(super) fn bind(fd: BorrowedFd<'_>, name: &str, flags: libc::c_int) -> Result<(), Errno> {
    // SAFETY: a structure of integers, for which zeros are a value.
    let mut request: libc::ifreq = unsafe { core::mem::zeroed() };
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name[..room].iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    // SAFETY: the kernel reads one `ifreq`, which lives until the call returns.
    unsafe { tun_set_iff(fd.as_raw_fd(), &raw const request) }.map(|_| ())
}

/// Sets which work the kernel may leave undone in its packets.
pub(super) fn set_offload(fd: BorrowedFd<'_>, flags: libc::c_uint) -> Result<(), Errno> {
    // SAFETY: the argument is a number, and no memory is touched.
    unsafe { tun_set_offload(fd.as_raw_fd(), flags as libc::c_int) }.map(|_| ())
}
