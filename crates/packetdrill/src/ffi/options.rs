//! Functions that set and return socket options.
#![expect(unsafe_code, reason = "functions that C calls with its own pointers")]

use crate::ffi::memory::{bytes, get, put};
use crate::ffi::result::{done, libc_result};
use crate::ffi::userdata::{Data, shared};
use crate::shared_stack::SharedStack;
use libc::{c_int, c_void, socklen_t};
use nix::errno::Errno;

// SAFETY, for each function below: packetdrill passes the `userdata` that it got, and pointers that meet the contract of the
// libc function of the same name.

/// `getsockopt(2)`.
///
/// # Safety
/// As for libc's.
pub(crate) unsafe fn get_option(
    shared: &SharedStack,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> Result<i64, Errno> {
    let bytes = shared.with(|stack| stack.option(fd, level, name))?;
    // SAFETY: the caller guarantees it.
    unsafe {
        let room = usize::try_from(get(len.cast::<c_int>())?).map_err(|_| Errno::EINVAL)?;
        let part = &bytes[..room.min(bytes.len())];
        put(value, part)?;
        put(len.cast(), &(part.len() as socklen_t).to_ne_bytes())?;
    }
    Ok(0)
}

pub(super) unsafe extern "C" fn getsockopt(
    data: Data,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> c_int {
    // SAFETY: as above.
    libc_result(unsafe { get_option(shared(data), fd, level, name, value, len) }) as c_int
}

pub(super) unsafe extern "C" fn setsockopt(
    data: Data,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    len: socklen_t,
) -> c_int {
    // SAFETY: as above.
    let (shared, value) = unsafe { (shared(data), bytes(value, len as usize)) };
    done(value.and_then(|value| shared.with(|stack| stack.set_option(fd, level, name, value))))
}
