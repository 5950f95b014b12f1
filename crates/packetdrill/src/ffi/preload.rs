//! What packetdrill asks libc for, and must ask us: put this object into LD_PRELOAD as well.
#![expect(unsafe_code, reason = "symbols that C calls, and the system call that they stand for")]

use crate::ffi::interface::{get_option, libc_result};
use crate::shared_stack::Machine;
use libc::{c_char, c_int, c_long, c_void, socklen_t};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The machine that libc's functions speak of: the one made last.
static CURRENT: Mutex<Weak<Machine>> = Mutex::new(Weak::new());

/// This is the machine from now on.
pub(crate) fn announce(machine: &Arc<Machine>) {
    *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(machine);
}

/// `getsockopt(2)`: a script's code blocks read TCP_INFO with it, from our descriptors.
///
/// # Safety
/// As for libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> c_int {
    let machine = CURRENT.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
    if let Some(machine) = machine.filter(|machine| machine.with(|stack| stack.id(fd).is_ok())) {
        // SAFETY: the caller keeps libc's contract for the pointers.
        return libc_result(unsafe { get_option(&machine, fd, level, name, value, len) }) as c_int;
    }
    // SAFETY: the caller keeps libc's contract; this is the system call that libc would make.
    unsafe { libc::syscall(libc::SYS_getsockopt, fd, level, name, value, len) as c_int }
}

/// `system(3)`: a script sets up the kernel with it; what it says to parts of it that we stand for is heard here too.
///
/// # Safety
/// As for libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn system(command: *const c_char) -> c_int {
    type System = unsafe extern "C" fn(*const c_char) -> c_int;
    if !command.is_null() {
        // SAFETY: the caller keeps libc's contract.
        let words = unsafe { std::ffi::CStr::from_ptr(command) }.to_bytes();
        let machine = CURRENT.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        let says = |what: &[u8]| words.windows(what.len()).any(|part| part == what);
        if let Some(machine) = machine {
            machine.with(|stack| {
                if says(FORGET) {
                    stack.known.clear();
                }
                stack.settings.paces |= says(PACE);
            });
        }
    }
    // SAFETY: the next definition of this symbol is libc's, of this type.
    let libc_system = unsafe {
        std::mem::transmute::<*mut c_void, Option<System>>(libc::dlsym(libc::RTLD_NEXT, c"system".as_ptr()))
    };
    // SAFETY: the caller keeps libc's contract.
    libc_system.map_or(-1, |system| unsafe { system(command) })
}

/// What a script says to the kernel for that.
const FORGET: &[u8] = b"tcp_metrics flush";
/// What it says for packets to leave at a rate: the scheduler `fq` asks for that.
const PACE: &[u8] = b"root fq";

/// `mlockall(2)`: nothing here is timed, and locking all memory takes long.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn mlockall(_flags: c_int) -> c_int {
    0
}

/// `sched_setscheduler(2)`: real time does not count here.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn sched_setscheduler(
    _pid: libc::pid_t,
    _policy: c_int,
    _parameter: *const c_void,
) -> c_int {
    0
}

/// `times(2)`: packetdrill waits for two of its ticks to learn how long one is; each call is one here.
///
/// # Safety
/// As for libc's: null, or a `struct tms` that may be written.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn times(buffer: *mut libc::tms) -> c_long {
    static TICKS: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(1);
    if !buffer.is_null() {
        // SAFETY: the caller keeps libc's contract.
        unsafe { std::ptr::write_bytes(buffer, 0, 1) };
    }
    TICKS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) as c_long
}
