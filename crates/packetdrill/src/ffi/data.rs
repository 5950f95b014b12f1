//! Functions that read and write data.
#![expect(unsafe_code, reason = "functions that C calls with its own pointers")]

use crate::calls::data::ReadMode;
use crate::ffi::memory::{address, bytes, clear, clear_all, get, length, put};
use crate::ffi::result::libc_result;
use crate::ffi::userdata::{Data, shared};
use crate::shared_stack::{SharedStack, WaitLimit, wall_clock};
use crate::socket_options::BlockingMode;
use libc::{c_int, c_void, iovec, msghdr, sockaddr, socklen_t, ssize_t};
use netspurt_tcp::Behind;
use nix::errno::Errno;
use std::net::SocketAddr;

// SAFETY, for each function below: packetdrill passes the `userdata` that it got, and pointers that meet the contract of the
// libc function of the same name.

/// Reads at most `len` bytes. All calls that read use this.
fn read_some(shared: &SharedStack, fd: c_int, len: u64, flags: c_int) -> Result<u64, Errno> {
    let mode = if flags & libc::MSG_PEEK == 0 { ReadMode::Remove } else { ReadMode::Peek };
    let limit = WaitLimit::of(shared.with(|stack| stack.blocking_mode(fd, flags)));
    shared.call(limit, |stack| stack.read(fd, len, mode))
}

/// The destination of a write, which only Fast Open uses. AF_UNSPEC is invalid (Linux, `tcp_sendmsg_fastopen()`).
///
/// # Safety
/// A pointer that is not null must point to `len` bytes.
unsafe fn destination(to: *const sockaddr, len: socklen_t) -> Result<Option<SocketAddr>, Errno> {
    if to.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller guarantees it.
    match unsafe { address(to, len) } {
        Ok(to) => Ok(Some(to)),
        Err(Errno::EAFNOSUPPORT) => Err(Errno::EOPNOTSUPP),
        Err(error) => Err(error),
    }
}

/// Writes `len` bytes; a blocking call returns when all are in the send buffer. All calls that write use this.
fn write_all(
    shared: &SharedStack,
    fd: c_int,
    to: Option<SocketAddr>,
    len: u64,
    flags: c_int,
) -> Result<u64, Errno> {
    let mode = shared.with(|stack| stack.blocking_mode(fd, flags));
    let on_syn = shared.with(|stack| stack.write_with_syn(fd, to, len, flags))?;
    if let (Some(on_syn), BlockingMode::Nonblocking) = (on_syn, mode) {
        return if on_syn > 0 { Ok(on_syn) } else { Err(Errno::EINPROGRESS) };
    }
    let more = flags & libc::MSG_MORE != 0;
    let behind = if more { Behind::More } else { Behind::Nothing };
    shared.with(|stack| stack.set_after_write(fd, behind))?;
    let mut written = 0;
    if let Some(on_syn) = on_syn {
        // A blocking call has written the rest when the connection opens.
        written = on_syn + shared.with(|stack| stack.write_after_syn(fd, len - on_syn))?;
        shared.call(WaitLimit::Unlimited, |stack| stack.wait_open(fd))?;
    }
    let result = shared.call(WaitLimit::of(mode), |stack| {
        loop {
            if written == len && written > 0 {
                return Ok(());
            }
            written += stack.write(fd, len - written, behind)?;
            if written == len {
                return Ok(());
            }
        }
    });
    if written == 0 {
        return result.map(|()| 0);
    }
    if written < len {
        shared.with(|stack| stack.end_write(fd));
    }
    Ok(written)
}

/// Writes parts that share no packet, and does what the flags ask for. Returns the sum of the accepted bytes.
pub(super) fn write_parts(
    shared: &SharedStack,
    fd: c_int,
    to: Option<SocketAddr>,
    parts: &[u64],
    flags: c_int,
) -> Result<u64, Errno> {
    let mut written = 0;
    for (n, &len) in parts.iter().enumerate() {
        match write_all(shared, fd, to, len, flags) {
            Ok(taken) => {
                written += taken;
                if taken < len {
                    break;
                }
            }
            Err(error) if written == 0 => return Err(error),
            Err(_) => break,
        }
        if n + 1 < parts.len() {
            shared.with(|stack| stack.end_record(fd));
        }
    }
    if written > 0 {
        shared.with(|stack| stack.wrote(fd, flags));
    }
    Ok(written)
}

/// The most buffers of a zero-copy write that one of Linux's packets refers to (MAX_SKB_FRAGS).
const MOST_FRAGMENTS: usize = 17;

pub(super) unsafe extern "C" fn read(data: Data, fd: c_int, to: *mut c_void, len: usize) -> ssize_t {
    // SAFETY: as above.
    unsafe { recvfrom(data, fd, to, len, 0, std::ptr::null_mut(), std::ptr::null_mut()) }
}

pub(super) unsafe extern "C" fn readv(data: Data, fd: c_int, to: *const iovec, count: c_int) -> ssize_t {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: as above.
    let (shared, len) = unsafe { (shared(data), length(to, count)) };
    libc_result(len.and_then(|len| {
        let read = read_some(shared, fd, len, 0)?;
        // SAFETY: as above.
        unsafe { clear_all(to, count, read as usize) }?;
        Ok(read)
    }))
}

pub(super) unsafe extern "C" fn recv(
    data: Data,
    fd: c_int,
    to: *mut c_void,
    len: usize,
    flags: c_int,
) -> ssize_t {
    // SAFETY: as above.
    unsafe { recvfrom(data, fd, to, len, flags, std::ptr::null_mut(), std::ptr::null_mut()) }
}

pub(super) unsafe extern "C" fn recvfrom(
    data: Data,
    fd: c_int,
    to: *mut c_void,
    len: usize,
    flags: c_int,
    _from: *mut sockaddr,
    _from_len: *mut socklen_t,
) -> ssize_t {
    // SAFETY: as above.
    let shared = unsafe { shared(data) };
    if to.is_null()
        && len > 0
        && flags & libc::MSG_TRUNC == 0
        && shared.with(|stack| stack.queued_in(fd).is_ok_and(|n| n > 0))
    {
        return libc_result::<i64>(Err(Errno::EFAULT));
    }
    libc_result(read_some(shared, fd, len as u64, flags).and_then(|read| {
        if flags & libc::MSG_TRUNC == 0 {
            // SAFETY: as above.
            unsafe { clear(to, read as usize) }?;
        }
        Ok(read)
    }))
}

pub(super) unsafe extern "C" fn recvmsg(
    data: Data,
    fd: c_int,
    message: *mut msghdr,
    flags: c_int,
) -> ssize_t {
    // SAFETY: as above.
    let (shared, head) = unsafe { (shared(data), get(message)) };
    if flags & libc::MSG_ERRQUEUE != 0 {
        // SAFETY: as above.
        return libc_result(head.and_then(|head| unsafe { put_notice(shared, fd, message, head) }));
    }
    let result = head.and_then(|head| {
        let count = head.msg_iovlen;
        // SAFETY: as above.
        let len = unsafe { length(head.msg_iov, count) }?;
        let read = read_some(shared, fd, len, flags)?;
        // SAFETY: as above.
        unsafe { clear_all(head.msg_iov, count, read as usize) }?;
        let queue = shared.with(|stack| stack.inq_hint(fd));
        // SAFETY: as above.
        unsafe { put_queue(message, head, queue) }?;
        Ok(read)
    });
    libc_result(result)
}

/// `recvmsg` with MSG_ERRQUEUE: writes the next notice. No payload is returned.
///
/// # Safety
/// As for recvmsg(2): `message` points to what `head` was read from.
unsafe fn put_notice(
    shared: &SharedStack,
    fd: c_int,
    message: *mut msghdr,
    mut head: msghdr,
) -> Result<u64, Errno> {
    let (notice, family) = shared.with(|stack| stack.take_notice(fd))?;
    let control = notice.control(family, wall_clock);
    let fits = head.msg_controllen >= control.len();
    head.msg_flags = notice.flags() | if fits { 0 } else { libc::MSG_CTRUNC };
    head.msg_controllen = if fits { control.len() as _ } else { 0 };
    // SAFETY: the caller has room for `msg_controllen` bytes there, and `head` was read from `message`.
    unsafe {
        put(head.msg_control, &control[..if fits { control.len() } else { 0 }])?;
        message.write(head);
    }
    Ok(0)
}

/// Writes the control message of TCP_INQ, if the option is on, and the header's remaining fields.
///
/// # Safety
/// As for recvmsg(2): `message` points to what `head` was read from.
unsafe fn put_queue(message: *mut msghdr, mut head: msghdr, queue: Option<u32>) -> Result<(), Errno> {
    const TCP_CM_INQ: c_int = 36;
    const PADDED: usize = size_of::<libc::cmsghdr>() + 8;
    head.msg_flags = 0;
    match queue {
        Some(queue) if head.msg_controllen >= PADDED && !head.msg_control.is_null() => {
            let len = size_of::<libc::cmsghdr>() + 4;
            let mut bytes = [0; PADDED];
            bytes[..size_of::<usize>()].copy_from_slice(&len.to_ne_bytes());
            bytes[8..12].copy_from_slice(&libc::IPPROTO_TCP.to_ne_bytes());
            bytes[12..16].copy_from_slice(&TCP_CM_INQ.to_ne_bytes());
            bytes[16..20].copy_from_slice(&queue.to_ne_bytes());
            // SAFETY: the caller has room for `msg_controllen` bytes there.
            unsafe { put(head.msg_control, &bytes) }?;
            head.msg_controllen = PADDED as _;
        }
        _ => head.msg_controllen = 0,
    }
    // SAFETY: it was read from there.
    unsafe { message.write(head) };
    Ok(())
}

pub(super) unsafe extern "C" fn write(data: Data, fd: c_int, from: *const c_void, len: usize) -> ssize_t {
    // SAFETY: as above.
    unsafe { sendto(data, fd, from, len, 0, std::ptr::null(), 0) }
}

pub(super) unsafe extern "C" fn writev(data: Data, fd: c_int, from: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: as above.
    let (shared, len) = unsafe { (shared(data), length(from, usize::try_from(count).unwrap_or(0))) };
    libc_result(len.and_then(|len| write_parts(shared, fd, None, &[len], 0)))
}

pub(super) unsafe extern "C" fn send(
    data: Data,
    fd: c_int,
    from: *const c_void,
    len: usize,
    flags: c_int,
) -> ssize_t {
    // SAFETY: as above.
    unsafe { sendto(data, fd, from, len, flags, std::ptr::null(), 0) }
}

pub(super) unsafe extern "C" fn sendto(
    data: Data,
    fd: c_int,
    from: *const c_void,
    len: usize,
    flags: c_int,
    to: *const sockaddr,
    to_len: socklen_t,
) -> ssize_t {
    // SAFETY: as above.
    let (shared, from, to) = unsafe { (shared(data), bytes(from, len), destination(to, to_len)) };
    // Linux checks for a connection before it checks the buffer.
    let fast = flags & libc::MSG_FASTOPEN != 0;
    let writable = shared.with(|stack| if fast { stack.check_fast_open() } else { stack.check_writable(fd) });
    let result =
        writable.and(from).and_then(|from| write_parts(shared, fd, to?, &[from.len() as u64], flags));
    libc_result(result)
}

pub(super) unsafe extern "C" fn sendmsg(
    data: Data,
    fd: c_int,
    message: *const msghdr,
    flags: c_int,
) -> ssize_t {
    // SAFETY: as above.
    let (shared, head) = unsafe { (shared(data), get(message)) };
    let result = head.and_then(|head| {
        // SAFETY: as above.
        let to = unsafe { destination(head.msg_name.cast(), head.msg_namelen) }?;
        let zero_copy = flags & libc::MSG_ZEROCOPY != 0;
        let together = if zero_copy { MOST_FRAGMENTS } else { head.msg_iovlen.max(1) };
        let starts = (0..head.msg_iovlen.max(1)).step_by(together);
        let parts = starts.map(|start| {
            let count = together.min(head.msg_iovlen - start.min(head.msg_iovlen));
            // SAFETY: as above.
            unsafe { length(head.msg_iov.wrapping_add(start), count) }
        });
        let parts = parts.collect::<Result<Vec<u64>, Errno>>()?;
        write_parts(shared, fd, to, &parts, flags)
    });
    libc_result(result)
}
