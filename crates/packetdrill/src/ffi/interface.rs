//! The interface that packetdrill requires (packetdrill.h): one function, which fills a struct of function pointers.
#![expect(unsafe_code, reason = "functions that C calls with its own pointers")]

use crate::ffi::current;
use crate::ffi::data::{read, readv, recv, recvfrom, recvmsg, send, sendmsg, sendto, write, writev};
use crate::ffi::device::{gettimeofday, netdev_receive, netdev_send, usleep};
use crate::ffi::files::{pipe, splice};
use crate::ffi::options::{getsockopt, setsockopt};
use crate::ffi::poll::{epoll_create, epoll_ctl, epoll_wait, poll};
use crate::ffi::sockets::{accept, bind, close, connect, fcntl, ioctl, listen, shutdown, socket};
use crate::ffi::userdata::{Data, free, from_stack};
use crate::shared_stack::SharedStack;
use crate::stack::Stack;
use crate::sysctl::Settings;
use libc::{c_char, c_int, c_long, c_uint, c_ulong, c_void, iovec, msghdr, sockaddr, socklen_t, ssize_t};
use std::sync::Arc;

/// `struct packetdrill_interface`.
#[repr(C)]
#[derive(Debug)]
#[expect(
    missing_docs,
    reason = "each field is the libc function of the same name, with `userdata` as its first argument"
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
/// The calling thread is the one that advances the clock. Invalid flags are reported on standard error and end the process,
/// because the
/// function cannot return an error.
///
/// # Safety
/// `flags` is null or a C string; `interface` points to a writable struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn packetdrill_interface_init(flags: *const c_char, interface: *mut Interface) {
    let flags = if flags.is_null() {
        String::new()
    } else {
        // SAFETY: the caller guarantees a C string.
        unsafe { std::ffi::CStr::from_ptr(flags) }.to_string_lossy().into_owned()
    };
    let settings = Settings::parse(&flags).unwrap_or_else(|sentence| {
        eprintln!("netspurt: {sentence}");
        std::process::exit(2)
    });
    let stack = Arc::new(SharedStack::new(Stack::new(settings)));
    current::set(&stack);
    // SAFETY: the caller guarantees a writable struct.
    unsafe { interface.write(table(from_stack(stack))) };
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
