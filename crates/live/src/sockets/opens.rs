//! How many connections have been opened, from the kernel's counters (`/proc/net/snmp`, RFC 4022).

use std::fs::File;
use std::io::{self, Read as _, Seek as _};

/// The counters of the namespace of the thread that opened them.
#[derive(Debug)]
pub(super) struct Opens {
    file: File,
    text: String,
}

impl Opens {
    pub(super) fn open() -> io::Result<Self> {
        Ok(Self { file: File::open("/proc/thread-self/net/snmp")?, text: String::new() })
    }

    /// Connections that were opened by this host or by others, since the namespace exists.
    pub(super) fn read(&mut self) -> Option<u64> {
        self.text.clear();
        self.file.rewind().ok()?;
        self.file.read_to_string(&mut self.text).ok()?;
        opened(&self.text)
    }
}

/// The sum of `ActiveOpens` and `PassiveOpens`.
fn opened(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let of = |wanted: &str| -> Option<u64> {
        let at = names.split_whitespace().position(|name| name == wanted)?;
        values.split_whitespace().nth(at)?.parse().ok()
    };
    of("ActiveOpens")?.checked_add(of("PassiveOpens")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_opens_are_added() {
        let text = "Ip: Forwarding\nIp: 1\nTcp: RtoMin MaxConn ActiveOpens PassiveOpens\nTcp: 200 -1 12 30\n";
        assert_eq!(opened(text), Some(42));
        for wrong in ["", "Tcp: ActiveOpens\n", "Tcp: ActiveOpens\nTcp: 1\n", "Tcp: a\nTcp: b\n"] {
            assert_eq!(opened(wrong), None);
        }
    }

    #[test]
    fn the_kernel_has_these_counters() {
        let mut opens = Opens::open().expect("the file");
        let first = opens.read().expect("counters");
        assert!(opens.read().expect("counters") >= first);
    }
}
