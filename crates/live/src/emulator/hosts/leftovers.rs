//! Processes that a killed emulation has left running. Nothing else remains, because namespaces and devices have no
//! names and end with the last process.
//!
//! Each command has a token in its environment, inherited by its children: the process number of the emulator and its
//! start time. So no state file is needed.

use crate::emulator::hosts::namespace::{Mark, mark_of};
use crate::emulator::hosts::processes;
use nix::sys::signal::Signal;
use std::fmt;
use std::path::Path;

/// The environment variable with the token.
pub(in crate::emulator) const TOKEN: &str = "NETSPURT_EMULATION";
/// Position of the start time in `/proc/N/stat`, counted after the name.
const START: usize = 19;

/// Identifies an emulator process until the machine restarts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::emulator) struct Token {
    process: i32,
    started: u64,
    /// The PID namespace of the process number.
    numbers: u64,
}

impl Token {
    /// The token of this process.
    pub(in crate::emulator) fn own() -> Self {
        let process = std::process::id() as i32;
        Self { process, started: started(process).unwrap_or(0), numbers: numbers() }
    }

    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let token = Self {
            process: parts.next()?.parse().ok()?,
            started: parts.next()?.parse().ok()?,
            numbers: parts.next()?.parse().ok()?,
        };
        parts.next().is_none().then_some(token)
    }

    /// Whether the process has certainly ended.
    fn is_gone(self) -> bool {
        self.numbers == numbers() && started(self.process) != Some(self.started)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.process, self.started, self.numbers)
    }
}

/// The PID namespace of this process.
fn numbers() -> u64 {
    mark_of(Path::new("/proc/self/ns/pid")).map_or(0, |mark| mark.0)
}

/// Start time of a process, in ticks since the start of the machine.
fn started(process: i32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name can contain any character, parentheses too.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(START)?.parse().ok()
}

/// The token of a process.
fn carried(process: i32) -> Option<Token> {
    let environment = std::fs::read(format!("/proc/{process}/environ")).ok()?;
    environment.split(|&byte| byte == 0).find_map(|entry| {
        let (name, value) = std::str::from_utf8(entry).ok()?.split_once('=')?;
        if name == TOKEN { Token::read(value) } else { None }
    })
}

/// Kills the processes that killed emulations have left, and those in the same namespaces. Returns their number.
pub(in crate::emulator) fn remove() -> usize {
    let orphans: Vec<i32> =
        processes::all().filter(|&process| carried(process).is_some_and(Token::is_gone)).collect();
    let here = mark_of(Path::new("/proc/self/ns/net")).ok();
    let mark = |&process: &i32| mark_of(Path::new(&format!("/proc/{process}/ns/net"))).ok();
    // A process that has moved to another namespace must not cause others there to be killed.
    let left: Vec<Mark> = orphans.iter().filter_map(mark).filter(|&mark| Some(mark) != here).collect();
    let housemates = processes::inside(&left);
    processes::signal(&housemates, Signal::SIGKILL);
    processes::signal(&orphans, Signal::SIGKILL);
    orphans.len().max(housemates.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_owner() {
        let own = Token::own();
        assert_eq!(Token::read(&own.to_string()), Some(own));
        assert!(own.started > 0 && own.numbers > 0 && !own.is_gone());
        assert!(Token { started: own.started + 1, ..own }.is_gone(), "its number was used again");
        assert!(Token { process: i32::MAX, ..own }.is_gone());
        let elsewhere = Token { numbers: own.numbers + 1, process: i32::MAX, ..own };
        assert!(!elsewhere.is_gone(), "numbers of another namespace say nothing here");
        for wrong in ["", "1", "1.2", "1.2.3.4", "a.2.3"] {
            assert_eq!(Token::read(wrong), None, "{wrong}");
        }
    }
}
