//! poll and epoll.
#![expect(unsafe_code, reason = "functions that C calls with its own pointers")]

use crate::epoll::Interest;
use crate::ffi::memory::get;
use crate::ffi::result::{done, libc_result};
use crate::ffi::userdata::{Data, shared};
use crate::shared_stack::WaitLimit;
use crate::stack::Stack;
use libc::c_int;
use nix::errno::Errno;

// SAFETY, for each function below: packetdrill passes the `userdata` that it got, and pointers that meet the contract of the
// libc function of the same name.

pub(super) unsafe extern "C" fn poll(
    data: Data,
    list: *mut libc::pollfd,
    count: libc::nfds_t,
    timeout: c_int,
) -> c_int {
    // SAFETY: as above.
    let shared = unsafe { shared(data) };
    let list: &mut [libc::pollfd] = if list.is_null() || count == 0 {
        &mut []
    } else {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(list, count as usize) }
    };
    let found = shared.call(WaitLimit::milliseconds(timeout), |stack| {
        for one in list.iter_mut() {
            one.revents = if one.fd < 0 { 0 } else { stack.poll(one.fd, one.events) };
        }
        let found = list.iter().filter(|one| one.revents != 0).count();
        if found == 0 { Err(Errno::EAGAIN) } else { Ok(found as i64) }
    });
    libc_result(if found == Err(Errno::EAGAIN) { Ok(0) } else { found }) as c_int
}

pub(super) unsafe extern "C" fn epoll_create(data: Data, _size: c_int) -> c_int {
    // SAFETY: as above.
    libc_result(unsafe { shared(data) }.with(Stack::open_epoll)) as c_int
}

pub(super) unsafe extern "C" fn epoll_ctl(
    data: Data,
    epoll: c_int,
    operation: c_int,
    fd: c_int,
    event: *mut libc::epoll_event,
) -> c_int {
    // SAFETY: as above.
    let (shared, event) = unsafe { (shared(data), get(event)) };
    let interest = event.ok().map(|event| Interest { events: event.events, data: event.u64 });
    done(shared.with(|stack| stack.control_epoll(epoll, operation, fd, interest)))
}

pub(super) unsafe extern "C" fn epoll_wait(
    data: Data,
    epoll: c_int,
    events: *mut libc::epoll_event,
    most: c_int,
    timeout: c_int,
) -> c_int {
    // SAFETY: as above.
    let shared = unsafe { shared(data) };
    let most = usize::try_from(most).unwrap_or(0);
    let found = shared.call(WaitLimit::milliseconds(timeout), |stack| stack.wait_epoll(epoll, most));
    let found = if found == Err(Errno::EAGAIN) { Ok(Vec::new()) } else { found };
    let result = found.map(|found| {
        for (n, &Interest { events: present, data }) in found.iter().enumerate() {
            // SAFETY: as above; there is room for `most` events.
            unsafe { events.add(n).write_unaligned(libc::epoll_event { events: present, u64: data }) };
        }
        found.len() as i64
    });
    libc_result(result) as c_int
}
