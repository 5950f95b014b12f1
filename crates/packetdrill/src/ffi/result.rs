//! Results as C functions return them.

use libc::{c_int, ssize_t};
use nix::errno::Errno;

/// The value, or −1 with `errno` set.
pub(crate) fn libc_result<T: TryInto<i64>>(result: Result<T, Errno>) -> ssize_t {
    match result {
        Ok(value) => value.try_into().unwrap_or(i64::MAX) as ssize_t,
        Err(error) => {
            error.set();
            -1
        }
    }
}

/// Zero, or −1 with `errno` set.
pub(crate) fn done(result: Result<(), Errno>) -> c_int {
    libc_result(result.map(|()| 0_i64)) as c_int
}
