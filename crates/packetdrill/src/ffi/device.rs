//! The network device and the clock.
#![expect(unsafe_code, reason = "functions that C calls with its own pointers")]

use crate::ffi::memory::{bytes, get, put};
use crate::ffi::result::done;
use crate::ffi::userdata::{Data, shared};
use libc::{c_int, c_void};
use netspurt_tcp::time::Span;
use nix::errno::Errno;

// SAFETY, for each function below: packetdrill passes the `userdata` that it got, and pointers that meet the contract of the
// libc function of the same name.

pub(super) unsafe extern "C" fn netdev_send(data: Data, packet: *const c_void, len: usize) -> c_int {
    // SAFETY: as above.
    let (shared, packet) = unsafe { (shared(data), bytes(packet, len)) };
    done(packet.map(|packet| shared.receive(packet)))
}

pub(super) unsafe extern "C" fn netdev_receive(
    data: Data,
    to: *mut c_void,
    len: *mut usize,
    time: *mut i64,
) -> c_int {
    // SAFETY: as above.
    let shared = unsafe { shared(data) };
    // One byte is not a packet: if there will be no packet, the script fails with a message instead of waiting forever.
    let (bytes, at) = shared.next_packet().unwrap_or((vec![0], 0));
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

pub(super) unsafe extern "C" fn usleep(data: Data, micros: libc::useconds_t) -> c_int {
    // SAFETY: as above.
    unsafe { shared(data) }.sleep(Span::from_us(u64::from(micros)));
    0
}

pub(super) unsafe extern "C" fn gettimeofday(
    data: Data,
    to: *mut libc::timeval,
    _zone: *mut c_void,
) -> c_int {
    // SAFETY: as above.
    let micros = unsafe { shared(data) }.read_clock();
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
