//! libc functions that this object replaces if it is also in LD_PRELOAD, because packetdrill calls them directly.
#![expect(unsafe_code, reason = "symbols that C calls, and the system call behind one of them")]

use crate::ffi::current;
use crate::ffi::files::send_file;
use crate::ffi::options::get_option;
use crate::ffi::result::libc_result;
use crate::sysctl::Qdisc;
use libc::{c_char, c_int, c_long, c_void, socklen_t};

/// `getsockopt(2)`: packetdrill reads TCP_INFO with it for the code blocks of a script.
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
    if let Some(shared) = current::get().filter(|shared| shared.with(|stack| stack.id(fd).is_ok())) {
        // SAFETY: the caller keeps libc's contract for the pointers.
        return libc_result(unsafe { get_option(&shared, fd, level, name, value, len) }) as c_int;
    }
    // SAFETY: the caller keeps libc's contract; this is the system call that libc would make.
    unsafe { libc::syscall(libc::SYS_getsockopt, fd, level, name, value, len) as c_int }
}

/// `sendfile(2)`: packetdrill calls libc's.
///
/// # Safety
/// As for libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sendfile(
    to: c_int,
    from: c_int,
    offset: *mut libc::off_t,
    count: libc::size_t,
) -> libc::ssize_t {
    let Some(shared) = current::get().filter(|shared| shared.with(|stack| stack.id(to).is_ok())) else {
        // SAFETY: the caller keeps libc's contract; this is the system call that libc would make.
        return unsafe { libc::syscall(libc::SYS_sendfile, to, from, offset, count) as libc::ssize_t };
    };
    // SAFETY: null, or a number that may be read and written.
    let start = (!offset.is_null()).then(|| unsafe { offset.read() });
    let sent = send_file(&shared, to, from, start, count);
    if let (Some(start), Ok(sent)) = (start, &sent) {
        // SAFETY: as above.
        unsafe { offset.write(start + *sent as libc::off_t) };
    }
    libc_result(sent)
}

/// `system(3)`: a script configures the kernel with it. Commands for parts of the kernel that the stack replaces take
/// effect here
/// too.
///
/// # Safety
/// As for libc's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn system(command: *const c_char) -> c_int {
    type System = unsafe extern "C" fn(*const c_char) -> c_int;
    if !command.is_null() {
        // SAFETY: the caller keeps libc's contract.
        let command = unsafe { std::ffi::CStr::from_ptr(command) }.to_bytes();
        let contains = |words: &[u8]| command.windows(words.len()).any(|part| part == words);
        if let Some(shared) = current::get() {
            // `nstat | grep NAME` succeeds if the counter has grown.
            if contains(STRANGE_ICMP) && shared.with(|stack| stack.strange_icmp > 0) {
                return 0;
            }
            shared.with(|stack| {
                if contains(FLUSH_METRICS) {
                    stack.fast_open_cache.clear();
                }
                if let Some(qdisc) = QDISCS.iter().find(|(words, _)| contains(words)) {
                    stack.settings.qdisc = qdisc.1;
                }
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

/// The counter of ICMP messages about data that is not in flight.
const STRANGE_ICMP: &[u8] = b"TcpExtOutOfWindowIcmps";
/// The words of `ip tcp_metrics flush`, which clears the kernel's cache of Fast Open cookies.
const FLUSH_METRICS: &[u8] = b"tcp_metrics flush";
/// The words of `tc qdisc` that install or remove a queueing discipline; the first that a command contains count.
const QDISCS: [(&[u8], Qdisc); 3] =
    [(b"root fq", Qdisc::Fq), (b"root pfifo limit 0", Qdisc::Refusing), (b"tc qdisc", Qdisc::Default)];

/// `mlockall(2)`: does nothing. Locking all memory takes long, and real time does not matter.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn mlockall(_flags: c_int) -> c_int {
    0
}

/// `sched_setscheduler(2)`: does nothing, because real time does not matter.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn sched_setscheduler(
    _pid: libc::pid_t,
    _policy: c_int,
    _parameter: *const c_void,
) -> c_int {
    0
}

/// `times(2)`: each call returns the next tick. packetdrill measures the length of a tick in a loop, which therefore ends
/// at once.
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
