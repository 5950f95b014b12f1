//! What a killed emulation leaves: programs that lost their parent's parent. Nothing else outlives it, since namespaces
//! and devices have no names and go with the last program.
//!
//! Each command and what it starts carries a token in its environment that says whose it is: the number of the
//! emulating process and when that was started. So nothing has to be written down anywhere.

use super::namespace::{Mark, mark_of};
use super::processes;
use nix::sys::signal::Signal;
use std::fmt;
use std::path::Path;

/// What a command finds in its environment.
pub(super) const TOKEN: &str = "NETSPURT_EMULATION";
/// Where in `/proc/N/stat` the time of the start stands, counted from behind the name.
const START: usize = 19;

/// An emulating process, for as long as the machine runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    process: i32,
    started: u64,
    /// The namespace in which the number is that process's.
    numbers: u64,
}

impl Token {
    /// Of this process.
    pub(super) fn own() -> Self {
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

    /// Whether its process is certainly gone.
    fn is_gone(self) -> bool {
        self.numbers == numbers() && started(self.process) != Some(self.started)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.process, self.started, self.numbers)
    }
}

/// Which namespace of process numbers this is.
fn numbers() -> u64 {
    mark_of(Path::new("/proc/self/ns/pid")).map_or(0, |mark| mark.0)
}

/// When a process was started, in ticks since the machine was.
fn started(process: i32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name may hold anything, parentheses too.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(START)?.parse().ok()
}

/// The token that a process carries.
fn carried(process: i32) -> Option<Token> {
    let environment = std::fs::read(format!("/proc/{process}/environ")).ok()?;
    environment.split(|&byte| byte == 0).find_map(|entry| {
        let (name, value) = std::str::from_utf8(entry).ok()?.split_once('=')?;
        if name == TOKEN { Token::read(value) } else { None }
    })
}

/// Kills what earlier emulations left when they were killed, and whoever shares a namespace with it. How many
/// processes there were.
pub(super) fn remove() -> usize {
    let orphans: Vec<i32> =
        processes::all().filter(|&process| carried(process).is_some_and(Token::is_gone)).collect();
    let here = mark_of(Path::new("/proc/self/ns/net")).ok();
    let mark = |&process: &i32| mark_of(Path::new(&format!("/proc/{process}/ns/net"))).ok();
    // One that has gone elsewhere since must not take others with it.
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
    fn a_token_says_whose_it_is() {
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
