//! Functions that move data between sockets, pipes and files.
#![expect(unsafe_code, reason = "functions that C calls with its own pointers")]

use crate::ffi::data::write_parts;
use crate::ffi::memory::put;
use crate::ffi::result::{done, libc_result};
use crate::ffi::userdata::{Data, shared};
use crate::shared_stack::{SharedStack, WaitLimit};
use libc::{c_int, c_uint, off_t};
use nix::errno::Errno;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd as _, IntoRawFd as _, RawFd};

/// The most bytes that one call moves: what a pipe holds.
const PIPE: usize = 65_536;

// SAFETY, for each function below: packetdrill passes the `userdata` that it got, and pointers that meet the contract of the
// libc function of the same name.

/// A file of the kernel, which stays open.
fn borrowed(fd: RawFd) -> ManuallyDrop<File> {
    // SAFETY: the file is not closed, because it is never dropped; a number without a file gives EBADF.
    ManuallyDrop::new(unsafe { File::from_raw_fd(fd) })
}

fn errno(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_raw)
}

/// `pipe(2)`: a pipe of the kernel.
pub(super) unsafe extern "C" fn pipe(_data: Data, ends: *mut c_int) -> c_int {
    done(nix::unistd::pipe().and_then(|(read, write)| {
        let [read, write] = [read.into_raw_fd(), write.into_raw_fd()].map(c_int::to_ne_bytes);
        // SAFETY: as above: two numbers.
        unsafe { put(ends.cast(), &[read, write].concat()) }
    }))
}

/// `splice(2)` between a socket and a pipe. Offsets are only for files, which are not supported.
pub(super) unsafe extern "C" fn splice(
    data: Data,
    from: c_int,
    from_at: *mut i64,
    to: c_int,
    to_at: *mut i64,
    len: usize,
    flags: c_uint,
) -> c_int {
    // SAFETY: as above.
    let shared = unsafe { shared(data) };
    // packetdrill passes pointers to zeros where a script has NULL.
    // SAFETY: null, or a number that may be read.
    let is_set = |at: *mut i64| !at.is_null() && unsafe { at.read() } != 0;
    if is_set(from_at) || is_set(to_at) {
        return done(Err(Errno::ESPIPE));
    }
    let len = len.min(PIPE);
    libc_result(if shared.with(|stack| stack.id(from).is_ok()) {
        splice_from(shared, from, to, len, flags)
    } else {
        let mut bytes = vec![0; len];
        let read = borrowed(from).read(&mut bytes).map_err(|error| errno(&error));
        read.and_then(|read| write_parts(shared, to, None, &[read as u64], 0))
    }) as c_int
}

fn splice_from(
    shared: &SharedStack,
    from: c_int,
    to: c_int,
    len: usize,
    flags: c_uint,
) -> Result<u64, Errno> {
    let flags = if flags & libc::SPLICE_F_NONBLOCK != 0 { libc::MSG_DONTWAIT } else { 0 };
    let limit = WaitLimit::of(shared.with(|stack| stack.blocking_mode(from, flags)));
    let moved = shared.call(limit, |stack| stack.splice(from, len as u64))?;
    let written = borrowed(to).write(&vec![0; moved as usize]).map_err(|error| errno(&error))?;
    Ok(written as u64)
}

/// `sendfile(2)` to a socket of the stack: writes as many bytes as the file has from the offset on.
///
/// # Errors
/// Those of reading the file and of writing to the socket.
pub(super) fn send_file(
    shared: &SharedStack,
    to: c_int,
    from: c_int,
    offset: Option<off_t>,
    count: usize,
) -> Result<u64, Errno> {
    let mut file = borrowed(from);
    let before = file.stream_position().map_err(|error| errno(&error))?;
    let start = offset.map_or(before, |offset| u64::try_from(offset).unwrap_or(0));
    let size = file.metadata().map_err(|error| errno(&error))?.len();
    let len = size.saturating_sub(start).min(count as u64);
    let sent = write_parts(shared, to, None, &[len], 0)?;
    if offset.is_none() {
        file.seek(SeekFrom::Start(before + sent)).map_err(|error| errno(&error))?;
    }
    Ok(sent)
}
