//! The interface that packetdrill asks for (packetdrill.h): one symbol, which fills a struct of functions.
#![expect(unsafe_code, reason = "functions that C calls with pointers of its own")]

use crate::calls::connection::Take;
use crate::ffi::memory::{address, bytes, clear, clear_all, get, length, put, put_address};
use crate::ffi::preload;
use crate::shared_stack::{Machine, Patience};
use crate::stack::Stack;
use crate::sysctl::Settings;
use libc::{c_char, c_int, c_long, c_uint, c_ulong, c_void, iovec, msghdr, sockaddr, socklen_t, ssize_t};
use netspurt_tcp::Behind;
use netspurt_tcp::time::Span;
use nix::errno::Errno;
use std::net::SocketAddrV4;
use std::sync::Arc;

/// `userdata`: the machine.
type Data = *mut c_void;

/// `struct packetdrill_interface`.
#[repr(C)]
#[derive(Debug)]
#[expect(
    missing_docs,
    reason = "each field is the function of libc that it is named after, with `userdata` before"
)]
pub struct Interface {
    pub userdata: Data,
    pub free: unsafe extern "C" fn(Data),
    pub socket: unsafe extern "C" fn(Data, c_int, c_int, c_int) -> c_int,
    pub bind: unsafe extern "C" fn(Data, c_int, *const sockaddr, socklen_t) -> c_int,
    pub listen: unsafe extern "C" fn(Data, c_int, c_int) -> c_int,
    pub accept: unsafe extern "C" fn(Data, c_int, *mut sockaddr, *mut socklen_t) -> c_int,
    pub connect: unsafe extern "C" fn(Data, c_int, *const sockaddr, socklen_t) -> c_int,
    pub read: unsafe extern "C" fn(Data, c_int, *mut c_void, usize) -> ssize_t,
    pub readv: unsafe extern "C" fn(Data, c_int, *const iovec, c_int) -> ssize_t,
    pub recv: unsafe extern "C" fn(Data, c_int, *mut c_void, usize, c_int) -> ssize_t,
    pub recvfrom: unsafe extern "C" fn(
        Data,
        c_int,
        *mut c_void,
        usize,
        c_int,
        *mut sockaddr,
        *mut socklen_t,
    ) -> ssize_t,
    pub recvmsg: unsafe extern "C" fn(Data, c_int, *mut msghdr, c_int) -> ssize_t,
    pub write: unsafe extern "C" fn(Data, c_int, *const c_void, usize) -> ssize_t,
    pub writev: unsafe extern "C" fn(Data, c_int, *const iovec, c_int) -> ssize_t,
    pub send: unsafe extern "C" fn(Data, c_int, *const c_void, usize, c_int) -> ssize_t,
    pub sendto:
        unsafe extern "C" fn(Data, c_int, *const c_void, usize, c_int, *const sockaddr, socklen_t) -> ssize_t,
    pub sendmsg: unsafe extern "C" fn(Data, c_int, *const msghdr, c_int) -> ssize_t,
    pub fcntl: unsafe extern "C" fn(Data, c_int, c_int, c_long) -> c_int,
    pub ioctl: unsafe extern "C" fn(Data, c_int, c_ulong, *mut c_void) -> c_int,
    pub close: unsafe extern "C" fn(Data, c_int) -> c_int,
    pub shutdown: unsafe extern "C" fn(Data, c_int, c_int) -> c_int,
    pub getsockopt: unsafe extern "C" fn(Data, c_int, c_int, c_int, *mut c_void, *mut socklen_t) -> c_int,
    pub setsockopt: unsafe extern "C" fn(Data, c_int, c_int, c_int, *const c_void, socklen_t) -> c_int,
    pub poll: unsafe extern "C" fn(Data, *mut libc::pollfd, libc::nfds_t, c_int) -> c_int,
    pub netdev_send: unsafe extern "C" fn(Data, *const c_void, usize) -> c_int,
    pub netdev_receive: unsafe extern "C" fn(Data, *mut c_void, *mut usize, *mut i64) -> c_int,
    pub usleep: unsafe extern "C" fn(Data, libc::useconds_t) -> c_int,
    pub gettimeofday: unsafe extern "C" fn(Data, *mut libc::timeval, *mut c_void) -> c_int,
    pub epoll_create: unsafe extern "C" fn(Data, c_int) -> c_int,
    pub epoll_ctl: unsafe extern "C" fn(Data, c_int, c_int, c_int, *mut libc::epoll_event) -> c_int,
    pub epoll_wait: unsafe extern "C" fn(Data, c_int, *mut libc::epoll_event, c_int, c_int) -> c_int,
    pub pipe: unsafe extern "C" fn(Data, *mut c_int) -> c_int,
    pub splice: unsafe extern "C" fn(Data, c_int, *mut i64, c_int, *mut i64, usize, c_uint) -> c_int,
}

/// Fills the struct. `flags` are packetdrill's `--so_flags`: `profile=NAME,local=ADDRESS,sysctl=FOLDER`, all optional.
/// The thread that calls this drives the clock. Bad flags are reported on the standard error, and end the process: C has
/// no other way to hear of it.
///
/// # Safety
/// `flags` is null or a C string; `interface` points to a struct that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn packetdrill_interface_init(flags: *const c_char, interface: *mut Interface) {
    let flags = if flags.is_null() {
        String::new()
    } else {
        // SAFETY: the caller vouches that it is a C string.
        unsafe { std::ffi::CStr::from_ptr(flags) }.to_string_lossy().into_owned()
    };
    let settings = Settings::parse(&flags).unwrap_or_else(|sentence| {
        eprintln!("netspurt: {sentence}");
        std::process::exit(2)
    });
    let machine = Arc::new(Machine::new(Stack::new(settings)));
    preload::announce(&machine);
    let userdata = Arc::into_raw(machine).cast_mut().cast();
    // SAFETY: the caller vouches for the place.
    unsafe { interface.write(table(userdata)) };
}

fn table(userdata: Data) -> Interface {
    Interface {
        userdata,
        free,
        socket,
        bind,
        listen,
        accept,
        connect,
        read,
        readv,
        recv,
        recvfrom,
        recvmsg,
        write,
        writev,
        send,
        sendto,
        sendmsg,
        fcntl,
        ioctl,
        close,
        shutdown,
        getsockopt,
        setsockopt,
        poll,
        netdev_send,
        netdev_receive,
        usleep,
        gettimeofday,
        epoll_create,
        epoll_ctl,
        epoll_wait,
        pipe,
        splice,
    }
}

/// The machine behind `userdata`.
///
/// # Safety
/// It is what [`packetdrill_interface_init`] put there, and `free` has not been called.
unsafe fn machine<'a>(data: Data) -> &'a Machine {
    // SAFETY: so it points to the machine that an `Arc` keeps.
    unsafe { &*data.cast::<Machine>() }
}

/// What C calls the result: the number, or −1 with `errno`.
pub(crate) fn libc_result<T: TryInto<i64>>(result: Result<T, Errno>) -> ssize_t {
    match result {
        Ok(value) => value.try_into().unwrap_or(i64::MAX) as ssize_t,
        Err(error) => {
            error.set();
            -1
        }
    }
}

/// The same for calls that say nothing but that they went well.
fn done(result: Result<(), Errno>) -> c_int {
    libc_result(result.map(|()| 0_i64)) as c_int
}

// SAFETY, for each of the functions below: packetdrill hands over the `userdata` that it got, and pointers as libc's function
// of the same name demands them.

unsafe extern "C" fn free(data: Data) {
    // SAFETY: as above, and packetdrill calls this once, last.
    drop(unsafe { Arc::from_raw(data.cast_const().cast::<Machine>()) });
}

unsafe extern "C" fn socket(data: Data, domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: as above.
    let machine = unsafe { machine(data) };
    libc_result(machine.with(|stack| stack.open(domain, kind, protocol))) as c_int
}

unsafe extern "C" fn bind(data: Data, fd: c_int, to: *const sockaddr, len: socklen_t) -> c_int {
    // SAFETY: as above.
    let (machine, to) = unsafe { (machine(data), address(to, len)) };
    done(machine.with(|stack| stack.bind(fd, to?)))
}

unsafe extern "C" fn listen(data: Data, fd: c_int, backlog: c_int) -> c_int {
    // SAFETY: as above.
    let machine = unsafe { machine(data) };
    done(machine.with(|stack| stack.listen(fd, backlog)))
}

unsafe extern "C" fn accept(data: Data, fd: c_int, from: *mut sockaddr, len: *mut socklen_t) -> c_int {
    // SAFETY: as above.
    let machine = unsafe { machine(data) };
    let patience = Patience::blocking(machine.with(|stack| stack.blocks(fd, 0)));
    let accepted = machine.call(patience, |stack| stack.accept(fd));
    let result = accepted.and_then(|(new, peer)| {
        // SAFETY: as above.
        unsafe { put_address(from, len, peer) }?;
        Ok(i64::from(new))
    });
    libc_result(result) as c_int
}

unsafe extern "C" fn connect(data: Data, fd: c_int, to: *const sockaddr, len: socklen_t) -> c_int {
    // SAFETY: as above.
    let (machine, to) = unsafe { (machine(data), address(to, len)) };
    let patience = Patience::blocking(machine.with(|stack| stack.blocks(fd, 0)));
    done(to.and_then(|to| machine.call(patience, |stack| stack.connect(fd, to))))
}

/// All that reads: `len` bytes at most.
fn read_some(machine: &Machine, fd: c_int, len: u64, flags: c_int) -> Result<u64, Errno> {
    let take = if flags & libc::MSG_PEEK == 0 { Take::Away } else { Take::Look };
    if flags & libc::MSG_ERRQUEUE != 0 {
        return Err(Errno::EAGAIN);
    }
    let patience = Patience::blocking(machine.with(|stack| stack.blocks(fd, flags)));
    machine.call(patience, |stack| stack.read(fd, len, take))
}

/// Where a call that names a destination sends, which only Fast Open heeds: AF_UNSPEC is none (Linux,
/// `tcp_sendmsg_fastopen()`).
///
/// # Safety
/// A pointer that is not null must point to `len` bytes.
unsafe fn destination(to: *const sockaddr, len: socklen_t) -> Result<Option<SocketAddrV4>, Errno> {
    if to.is_null() {
        return Ok(None);
    }
    // SAFETY: as the caller vouches.
    match unsafe { address(to, len) } {
        Ok(to) => Ok(Some(to)),
        Err(Errno::EAFNOSUPPORT) => Err(Errno::EOPNOTSUPP),
        Err(error) => Err(error),
    }
}

/// All that writes. Who blocks comes back when everything has found room.
fn write_all(
    machine: &Machine,
    fd: c_int,
    to: Option<SocketAddrV4>,
    len: u64,
    flags: c_int,
) -> Result<u64, Errno> {
    let blocks = machine.with(|stack| stack.blocks(fd, flags));
    let begun = machine.with(|stack| stack.begin_write(fd, to, len, flags))?;
    if let (Some(begun), false) = (begun, blocks) {
        return if begun > 0 { Ok(begun) } else { Err(Errno::EINPROGRESS) };
    }
    let more = flags & libc::MSG_MORE != 0;
    let behind = if more { Behind::More } else { Behind::Nothing };
    machine.with(|stack| stack.promise(fd, more))?;
    let mut written = 0;
    if let Some(begun) = begun {
        // Who blocks has the rest in the queue already when the connection opens.
        written = begun + machine.with(|stack| stack.queue_behind_syn(fd, len - begun))?;
        machine.call(Patience::Endless, |stack| stack.wait_open(fd))?;
    }
    let result = machine.call(Patience::blocking(blocks), |stack| {
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
        machine.with(|stack| stack.end_write(fd));
    }
    Ok(written)
}

unsafe extern "C" fn read(data: Data, fd: c_int, to: *mut c_void, len: usize) -> ssize_t {
    // SAFETY: as above.
    unsafe { recvfrom(data, fd, to, len, 0, std::ptr::null_mut(), std::ptr::null_mut()) }
}

unsafe extern "C" fn readv(data: Data, fd: c_int, to: *const iovec, count: c_int) -> ssize_t {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: as above.
    let (machine, len) = unsafe { (machine(data), length(to, count)) };
    libc_result(len.and_then(|len| {
        let read = read_some(machine, fd, len, 0)?;
        // SAFETY: as above.
        unsafe { clear_all(to, count, read as usize) }?;
        Ok(read)
    }))
}

unsafe extern "C" fn recv(data: Data, fd: c_int, to: *mut c_void, len: usize, flags: c_int) -> ssize_t {
    // SAFETY: as above.
    unsafe { recvfrom(data, fd, to, len, flags, std::ptr::null_mut(), std::ptr::null_mut()) }
}

unsafe extern "C" fn recvfrom(
    data: Data,
    fd: c_int,
    to: *mut c_void,
    len: usize,
    flags: c_int,
    _from: *mut sockaddr,
    _from_len: *mut socklen_t,
) -> ssize_t {
    // SAFETY: as above.
    let machine = unsafe { machine(data) };
    if to.is_null()
        && len > 0
        && flags & libc::MSG_TRUNC == 0
        && machine.with(|stack| stack.queued_in(fd).is_ok_and(|n| n > 0))
    {
        return libc_result::<i64>(Err(Errno::EFAULT));
    }
    libc_result(read_some(machine, fd, len as u64, flags).and_then(|read| {
        if flags & libc::MSG_TRUNC == 0 {
            // SAFETY: as above.
            unsafe { clear(to, read as usize) }?;
        }
        Ok(read)
    }))
}

unsafe extern "C" fn recvmsg(data: Data, fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    // SAFETY: as above.
    let (machine, head) = unsafe { (machine(data), get(message)) };
    let result = head.and_then(|head| {
        let count = head.msg_iovlen;
        // SAFETY: as above.
        let len = unsafe { length(head.msg_iov, count) }?;
        let read = read_some(machine, fd, len, flags)?;
        // SAFETY: as above.
        unsafe { clear_all(head.msg_iov, count, read as usize) }?;
        let queue = machine.with(|stack| stack.told_queue(fd));
        // SAFETY: as above.
        unsafe { put_queue(message, head, queue) }?;
        Ok(read)
    });
    libc_result(result)
}

/// The control message that tells how much is left to be read, where TCP_INQ asks for it.
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

unsafe extern "C" fn write(data: Data, fd: c_int, from: *const c_void, len: usize) -> ssize_t {
    // SAFETY: as above.
    unsafe { sendto(data, fd, from, len, 0, std::ptr::null(), 0) }
}

unsafe extern "C" fn writev(data: Data, fd: c_int, from: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: as above.
    let (machine, len) = unsafe { (machine(data), length(from, usize::try_from(count).unwrap_or(0))) };
    libc_result(len.and_then(|len| write_all(machine, fd, None, len, 0)))
}

unsafe extern "C" fn send(data: Data, fd: c_int, from: *const c_void, len: usize, flags: c_int) -> ssize_t {
    // SAFETY: as above.
    unsafe { sendto(data, fd, from, len, flags, std::ptr::null(), 0) }
}

unsafe extern "C" fn sendto(
    data: Data,
    fd: c_int,
    from: *const c_void,
    len: usize,
    flags: c_int,
    to: *const sockaddr,
    to_len: socklen_t,
) -> ssize_t {
    // SAFETY: as above.
    let (machine, from, to) = unsafe { (machine(data), bytes(from, len), destination(to, to_len)) };
    // A connection that is not there is complained about first, as Linux does.
    let fast = flags & libc::MSG_FASTOPEN != 0;
    let writable = machine.with(|stack| if fast { stack.may_open_fast() } else { stack.may_write(fd) });
    let result = writable.and(from).and_then(|from| write_all(machine, fd, to?, from.len() as u64, flags));
    libc_result(result)
}

unsafe extern "C" fn sendmsg(data: Data, fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    // SAFETY: as above.
    let (machine, head) = unsafe { (machine(data), get(message)) };
    let result = head.and_then(|head| {
        // SAFETY: as above.
        let len = unsafe { length(head.msg_iov, head.msg_iovlen) }?;
        // SAFETY: as above.
        let to = unsafe { destination(head.msg_name.cast(), head.msg_namelen) }?;
        write_all(machine, fd, to, len, flags)
    });
    libc_result(result)
}

unsafe extern "C" fn fcntl(data: Data, fd: c_int, command: c_int, argument: c_long) -> c_int {
    // SAFETY: as above.
    let machine = unsafe { machine(data) };
    libc_result(machine.with(|stack| stack.control(fd, command, argument as c_int))) as c_int
}

unsafe extern "C" fn ioctl(data: Data, fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    // SAFETY: as above.
    let machine = unsafe { machine(data) };
    done(machine.with(|stack| stack.device_control(fd, request)).and_then(|number| {
        // SAFETY: these requests take a pointer to an int.
        unsafe { put(argument, &number.to_ne_bytes()) }
    }))
}

unsafe extern "C" fn close(data: Data, fd: c_int) -> c_int {
    // SAFETY: as above.
    let machine = unsafe { machine(data) };
    done(machine.with(|stack| stack.close(fd)))
}

unsafe extern "C" fn shutdown(data: Data, fd: c_int, how: c_int) -> c_int {
    // SAFETY: as above.
    let machine = unsafe { machine(data) };
    done(machine.with(|stack| stack.shutdown(fd, how)))
}

/// `getsockopt(2)`.
///
/// # Safety
/// As for libc's.
pub(crate) unsafe fn get_option(
    machine: &Machine,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> Result<i64, Errno> {
    let bytes = machine.with(|stack| stack.option(fd, level, name))?;
    // SAFETY: as the caller vouches.
    unsafe {
        let room = usize::try_from(get(len.cast::<c_int>())?).map_err(|_| Errno::EINVAL)?;
        let part = &bytes[..room.min(bytes.len())];
        put(value, part)?;
        put(len.cast(), &(part.len() as socklen_t).to_ne_bytes())?;
    }
    Ok(0)
}

unsafe extern "C" fn getsockopt(
    data: Data,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> c_int {
    // SAFETY: as above.
    libc_result(unsafe { get_option(machine(data), fd, level, name, value, len) }) as c_int
}

unsafe extern "C" fn setsockopt(
    data: Data,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    len: socklen_t,
) -> c_int {
    // SAFETY: as above.
    let (machine, value) = unsafe { (machine(data), bytes(value, len as usize)) };
    done(value.and_then(|value| machine.with(|stack| stack.set_option(fd, level, name, value))))
}

unsafe extern "C" fn poll(data: Data, list: *mut libc::pollfd, count: libc::nfds_t, timeout: c_int) -> c_int {
    // SAFETY: as above.
    let machine = unsafe { machine(data) };
    let list: &mut [libc::pollfd] = if list.is_null() || count == 0 {
        &mut []
    } else {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(list, count as usize) }
    };
    let found = machine.call(Patience::milliseconds(timeout), |stack| {
        for one in list.iter_mut() {
            one.revents = if one.fd < 0 { 0 } else { stack.poll(one.fd, one.events) };
        }
        let found = list.iter().filter(|one| one.revents != 0).count();
        if found == 0 { Err(Errno::EAGAIN) } else { Ok(found as i64) }
    });
    libc_result(if found == Err(Errno::EAGAIN) { Ok(0) } else { found }) as c_int
}

unsafe extern "C" fn netdev_send(data: Data, packet: *const c_void, len: usize) -> c_int {
    // SAFETY: as above.
    let (machine, packet) = unsafe { (machine(data), bytes(packet, len)) };
    done(packet.map(|packet| machine.arrive(packet)))
}

unsafe extern "C" fn netdev_receive(data: Data, to: *mut c_void, len: *mut usize, time: *mut i64) -> c_int {
    // SAFETY: as above.
    let machine = unsafe { machine(data) };
    // When nothing will ever leave, a byte that is no packet makes the script fail with a message instead of waiting on.
    let (bytes, at) = machine.leave().unwrap_or((vec![0], 0));
    // SAFETY: as above; `len` is the room at `to`.
    done(unsafe {
        get(len).and_then(|room| {
            let part = &bytes[..room.min(bytes.len())];
            put(to, part)?;
            put(len.cast(), &part.len().to_ne_bytes())?;
            put(time.cast(), &(at as i64).to_ne_bytes())
        })
    })
}

unsafe extern "C" fn usleep(data: Data, micros: libc::useconds_t) -> c_int {
    // SAFETY: as above.
    unsafe { machine(data) }.sleep(Span::from_us(u64::from(micros)));
    0
}

unsafe extern "C" fn gettimeofday(data: Data, to: *mut libc::timeval, _zone: *mut c_void) -> c_int {
    // SAFETY: as above.
    let micros = unsafe { machine(data) }.time();
    let value = libc::timeval {
        tv_sec: (micros / 1_000_000) as libc::time_t,
        tv_usec: (micros % 1_000_000) as libc::suseconds_t,
    };
    if to.is_null() {
        return done(Err(Errno::EFAULT));
    }
    // SAFETY: as above.
    unsafe { to.write(value) };
    0
}

unsafe extern "C" fn epoll_create(data: Data, _size: c_int) -> c_int {
    // SAFETY: as above.
    libc_result(unsafe { machine(data) }.with(Stack::open_epoll)) as c_int
}

unsafe extern "C" fn epoll_ctl(
    data: Data,
    epoll: c_int,
    operation: c_int,
    fd: c_int,
    event: *mut libc::epoll_event,
) -> c_int {
    // SAFETY: as above.
    let (machine, event) = unsafe { (machine(data), get(event)) };
    let event = event.ok().map(|event| (event.events, event.u64));
    done(machine.with(|stack| stack.control_epoll(epoll, operation, fd, event)))
}

unsafe extern "C" fn epoll_wait(
    data: Data,
    epoll: c_int,
    events: *mut libc::epoll_event,
    most: c_int,
    timeout: c_int,
) -> c_int {
    // SAFETY: as above.
    let machine = unsafe { machine(data) };
    let most = usize::try_from(most).unwrap_or(0);
    let found = machine.call(Patience::milliseconds(timeout), |stack| stack.wait_epoll(epoll, most));
    let found = if found == Err(Errno::EAGAIN) { Ok(Vec::new()) } else { found };
    let result = found.map(|found| {
        for (n, &(events_found, data)) in found.iter().enumerate() {
            // SAFETY: as above: there is room for `most` of them.
            unsafe { events.add(n).write_unaligned(libc::epoll_event { events: events_found, u64: data }) };
        }
        found.len() as i64
    });
    libc_result(result) as c_int
}

unsafe extern "C" fn pipe(_data: Data, _ends: *mut c_int) -> c_int {
    done(Err(Errno::ENOSYS))
}

unsafe extern "C" fn splice(
    _data: Data,
    _from: c_int,
    _from_at: *mut i64,
    _to: c_int,
    _to_at: *mut i64,
    _len: usize,
    _flags: c_uint,
) -> c_int {
    done(Err(Errno::ENOSYS))
}
