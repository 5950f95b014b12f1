//! Processes in the namespaces of an emulation: finds them, sends them signals, checks for listening sockets.

use crate::emulator::hosts::namespace::{Mark, mark_of};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::path::Path;

/// State of a listening socket in `/proc/net/tcp`.
const LISTEN: &str = "0A";
/// State of a bound socket without a peer in `/proc/net/udp`.
const BOUND: &str = "07";

/// All processes of the system, by number.
pub(in crate::emulator) fn all() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The processes in these namespaces.
pub(in crate::emulator) fn inside(marks: &[Mark]) -> Vec<i32> {
    let of = |process: i32| mark_of(Path::new(&format!("/proc/{process}/ns/net"))).ok();
    all().filter(|&process| of(process).is_some_and(|mark| marks.contains(&mark))).collect()
}

/// Sends processes a signal; ended ones are ignored.
pub(in crate::emulator) fn signal(processes: &[i32], signal: Signal) {
    for &process in processes {
        let _ = kill(Pid::from_raw(process), signal);
    }
}

/// Whether a process in this namespace listens for connections or datagrams.
pub(in crate::emulator) fn listens(mark: Mark) -> bool {
    let sockets = |process: i32, file: &str, state: &str| {
        let text = std::fs::read_to_string(format!("/proc/{process}/net/{file}")).unwrap_or_default();
        text.lines().skip(1).any(|line| line.split_whitespace().nth(3) == Some(state))
    };
    let tables = [("tcp", LISTEN), ("tcp6", LISTEN), ("udp", BOUND), ("udp6", BOUND)];
    inside(&[mark]).first().is_some_and(|&one| tables.iter().any(|(file, state)| sockets(one, file, state)))
}
