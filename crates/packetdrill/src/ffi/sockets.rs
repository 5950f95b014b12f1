//! Functions that create, open, control and close sockets.
#![expect(unsafe_code, reason = "functions that C calls with its own pointers")]

use crate::ffi::memory::{address, put, put_address};
use crate::ffi::result::{done, libc_result};
use crate::ffi::userdata::{Data, shared};
use crate::shared_stack::WaitLimit;
use libc::{c_int, c_long, c_ulong, c_void, sockaddr, socklen_t};

// SAFETY, for each function below: packetdrill passes the `userdata` that it got, and pointers that meet the contract of the
// libc function of the same name.

pub(super) unsafe extern "C" fn socket(data: Data, domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: as above.
    let shared = unsafe { shared(data) };
    libc_result(shared.with(|stack| stack.open(domain, kind, protocol))) as c_int
}

pub(super) unsafe extern "C" fn bind(data: Data, fd: c_int, to: *const sockaddr, len: socklen_t) -> c_int {
    // SAFETY: as above.
    let (shared, to) = unsafe { (shared(data), address(to, len)) };
    done(shared.with(|stack| stack.bind(fd, to?)))
}

pub(super) unsafe extern "C" fn listen(data: Data, fd: c_int, backlog: c_int) -> c_int {
    // SAFETY: as above.
    let shared = unsafe { shared(data) };
    done(shared.with(|stack| stack.listen(fd, backlog)))
}

pub(super) unsafe extern "C" fn accept(
    data: Data,
    fd: c_int,
    from: *mut sockaddr,
    len: *mut socklen_t,
) -> c_int {
    // SAFETY: as above.
    let shared = unsafe { shared(data) };
    let limit = WaitLimit::of(shared.with(|stack| stack.blocking_mode(fd, 0)));
    let accepted = shared.call(limit, |stack| stack.accept(fd));
    let result = accepted.and_then(|(new, peer)| {
        // SAFETY: as above.
        unsafe { put_address(from, len, peer) }?;
        Ok(i64::from(new))
    });
    libc_result(result) as c_int
}

pub(super) unsafe extern "C" fn connect(data: Data, fd: c_int, to: *const sockaddr, len: socklen_t) -> c_int {
    // SAFETY: as above.
    let (shared, to) = unsafe { (shared(data), address(to, len)) };
    let limit = WaitLimit::of(shared.with(|stack| stack.blocking_mode(fd, 0)));
    done(to.and_then(|to| shared.call(limit, |stack| stack.connect(fd, to))))
}

pub(super) unsafe extern "C" fn fcntl(data: Data, fd: c_int, command: c_int, argument: c_long) -> c_int {
    // SAFETY: as above.
    let shared = unsafe { shared(data) };
    libc_result(shared.with(|stack| stack.control(fd, command, argument as c_int))) as c_int
}

pub(super) unsafe extern "C" fn ioctl(
    data: Data,
    fd: c_int,
    request: c_ulong,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: as above.
    let shared = unsafe { shared(data) };
    done(shared.with(|stack| stack.device_control(fd, request)).and_then(|number| {
        // SAFETY: these requests take a pointer to an int.
        unsafe { put(argument, &number.to_ne_bytes()) }
    }))
}

pub(super) unsafe extern "C" fn close(data: Data, fd: c_int) -> c_int {
    // SAFETY: as above.
    let shared = unsafe { shared(data) };
    done(shared.with(|stack| stack.close(fd)))
}

pub(super) unsafe extern "C" fn shutdown(data: Data, fd: c_int, how: c_int) -> c_int {
    // SAFETY: as above.
    let shared = unsafe { shared(data) };
    done(shared.with(|stack| stack.shutdown(fd, how)))
}
