//! Access to memory that C functions pass: addresses, buffers and vectors of buffers.
#![expect(unsafe_code, reason = "pointers from C")]

use nix::errno::Errno;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The `len` bytes at a pointer; EFAULT if it is null.
///
/// # Safety
/// A pointer that is not null must point to `len` bytes that are readable for `'a`.
pub(crate) unsafe fn bytes<'a>(at: *const libc::c_void, len: usize) -> Result<&'a [u8], Errno> {
    match (at.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Errno::EFAULT),
        // SAFETY: the caller guarantees the pointer.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(at.cast(), len) }),
    }
}

/// Writes `value` to a pointer; EFAULT if it is null.
///
/// # Safety
/// A pointer that is not null must point to as many writable bytes.
pub(crate) unsafe fn put(at: *mut libc::c_void, value: &[u8]) -> Result<(), Errno> {
    if value.is_empty() {
        return Ok(());
    }
    if at.is_null() {
        return Err(Errno::EFAULT);
    }
    // SAFETY: the caller guarantees the pointer; `value` is Rust's, so they do not overlap.
    unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), at.cast(), value.len()) };
    Ok(())
}

/// Writes `len` zeros to a pointer; EFAULT if it is null.
///
/// # Safety
/// As for [`put`].
pub(crate) unsafe fn clear(at: *mut libc::c_void, len: usize) -> Result<(), Errno> {
    if len > 0 && at.is_null() {
        return Err(Errno::EFAULT);
    }
    if len > 0 {
        // SAFETY: the caller guarantees the pointer.
        unsafe { std::ptr::write_bytes(at.cast::<u8>(), 0, len) };
    }
    Ok(())
}

/// Reads the value at a pointer; EFAULT if it is null.
///
/// # Safety
/// A pointer that is not null must point to a `T`, which may be unaligned.
pub(crate) unsafe fn get<T: Copy>(at: *const T) -> Result<T, Errno> {
    if at.is_null() {
        return Err(Errno::EFAULT);
    }
    // SAFETY: the caller guarantees the pointer.
    Ok(unsafe { at.read_unaligned() })
}

/// Reads a socket address of IPv4 or IPv6. A mapped address is returned as IPv4.
///
/// # Safety
/// A pointer that is not null must point to `len` bytes.
pub(crate) unsafe fn address(at: *const libc::sockaddr, len: libc::socklen_t) -> Result<SocketAddr, Errno> {
    // SAFETY: the caller guarantees it.
    let bytes = unsafe { bytes(at.cast(), len as usize) }?;
    let [f0, f1, p0, p1, ref rest @ ..] = *bytes else { return Err(Errno::EINVAL) };
    let ip = match i32::from(u16::from_ne_bytes([f0, f1])) {
        libc::AF_INET => IpAddr::V4(Ipv4Addr::from(*rest.first_chunk::<4>().ok_or(Errno::EINVAL)?)),
        libc::AF_INET6 => {
            let ip = rest.get(4..).and_then(|rest| rest.first_chunk::<16>()).ok_or(Errno::EINVAL)?;
            IpAddr::V6(Ipv6Addr::from(*ip)).to_canonical()
        }
        _ => return Err(Errno::EAFNOSUPPORT),
    };
    Ok(SocketAddr::new(ip, u16::from_be_bytes([p0, p1])))
}

/// Writes an address and its length, if the caller has passed pointers for them.
///
/// # Safety
/// Both pointers are null, or the second points to the number of writable bytes at the first.
pub(crate) unsafe fn put_address(
    to: *mut libc::sockaddr,
    len: *mut libc::socklen_t,
    address: Option<SocketAddr>,
) -> Result<(), Errno> {
    let Some(address) = address.filter(|_| !to.is_null() && !len.is_null()) else { return Ok(()) };
    let mut bytes = [0; size_of::<libc::sockaddr_in6>()];
    bytes[2..4].copy_from_slice(&address.port().to_be_bytes());
    let (family, size) = match address.ip() {
        IpAddr::V4(ip) => {
            bytes[4..8].copy_from_slice(&ip.octets());
            (libc::AF_INET, size_of::<libc::sockaddr_in>())
        }
        IpAddr::V6(ip) => {
            bytes[8..24].copy_from_slice(&ip.octets());
            (libc::AF_INET6, size_of::<libc::sockaddr_in6>())
        }
    };
    bytes[..2].copy_from_slice(&(family as u16).to_ne_bytes());
    let bytes = &bytes[..size];
    // SAFETY: the caller guarantees both.
    unsafe {
        let room = get(len)? as usize;
        put(to.cast(), &bytes[..room.min(bytes.len())])?;
        put(len.cast(), &(bytes.len() as libc::socklen_t).to_ne_bytes())
    }
}

/// The size of a vector of buffers in bytes; EFAULT if a buffer is null.
///
/// # Safety
/// A pointer that is not null must point to `count` vectors.
pub(crate) unsafe fn length(at: *const libc::iovec, count: usize) -> Result<u64, Errno> {
    let mut sum = 0;
    for n in 0..count {
        // SAFETY: the caller guarantees it.
        let one = unsafe { get(at.wrapping_add(n)) }?;
        if one.iov_base.is_null() && one.iov_len > 0 {
            return Err(Errno::EFAULT);
        }
        sum += one.iov_len as u64;
    }
    Ok(sum)
}

/// Writes zeros to the first `len` bytes of a vector of buffers.
///
/// # Safety
/// As for [`length`], and the buffers must be writable.
pub(crate) unsafe fn clear_all(at: *const libc::iovec, count: usize, mut len: usize) -> Result<(), Errno> {
    for n in 0..count {
        // SAFETY: the caller guarantees it.
        unsafe {
            let one = get(at.wrapping_add(n))?;
            let part = len.min(one.iov_len);
            clear(one.iov_base, part)?;
            len -= part;
        }
    }
    Ok(())
}
