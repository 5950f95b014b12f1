//! The right to create namespaces: root has it, other users get it in a user namespace.

use crate::emulator::error::EmulateError;
use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};
use std::time::Duration;

/// A joined thread may remain visible for a moment.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(5);

/// Obtains the right to create namespaces, if necessary with a user namespace in which the process is root. That
/// requires a process without other threads.
pub(in crate::emulator) fn obtain() -> Result<(), EmulateError> {
    match try_it() {
        Err(Errno::EPERM) => enter_user_namespace().map_err(EmulateError::no_namespace),
        other => other.map_err(EmulateError::no_namespace),
    }
}

/// Whether namespaces can be created, tested in a thread.
fn try_it() -> Result<(), Errno> {
    let wanted = CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS;
    std::thread::spawn(move || unshare(wanted)).join().unwrap_or(Err(Errno::EAGAIN))
}

#[expect(clippy::disallowed_methods, reason = "the kernel has no notification for the end of a thread")]
fn enter_user_namespace() -> Result<(), Errno> {
    let (user, group) = (geteuid(), getegid());
    let mut tries = 0;
    while let Err(errno) = unshare(CloneFlags::CLONE_NEWUSER) {
        tries += 1;
        if errno != Errno::EINVAL || tries == TRIES {
            return Err(errno);
        }
        std::thread::sleep(PAUSE);
    }
    let write = |file: &str, text: String| {
        std::fs::write(format!("/proc/self/{file}"), text)
            .map_err(|error| error.raw_os_error().map_or(Errno::EIO, Errno::from_raw))
    };
    write("uid_map", format!("0 {user} 1"))?;
    // Required before a group can be mapped (user_namespaces(7)).
    write("setgroups", "deny".to_owned())?;
    write("gid_map", format!("0 {group} 1"))
}
