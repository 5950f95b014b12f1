//! Which process has a socket: the files of all processes, as far as this user may see them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A process with a socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// The name of its program, as in `/proc/PID/comm`.
    pub name: String,
}

/// The processes that have the sockets with these inodes. Without root, only processes of the same user are found.
///
/// A socket that several processes share belongs to the one with the lowest number: usually the one that opened it.
pub(super) fn owners(wanted: &BTreeSet<u32>) -> BTreeMap<u32, Process> {
    let mut found = BTreeMap::new();
    let Ok(entries) = fs::read_dir("/proc") else { return found };
    let mut pids: Vec<u32> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    pids.sort_unstable();
    for pid in pids {
        let folder = Path::new("/proc").join(pid.to_string());
        let Ok(files) = fs::read_dir(folder.join("fd")) else { continue };
        let inodes = files.flatten().filter_map(|file| inode(fs::read_link(file.path()).ok()?.to_str()?));
        for inode in inodes.filter(|inode| wanted.contains(inode)) {
            found.entry(inode).or_insert_with(|| {
                let name = fs::read_to_string(folder.join("comm")).unwrap_or_default();
                Process { pid, name: name.trim_end().to_owned() }
            });
        }
        if found.len() == wanted.len() {
            break;
        }
    }
    found
}

/// The inode of a socket's link, `socket:[123]`.
fn inode(link: &str) -> Option<u32> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::os::fd::AsRawFd as _;

    #[test]
    fn links_of_sockets_have_an_inode() {
        assert_eq!(inode("socket:[123]"), Some(123));
        for other in ["pipe:[123]", "socket:[]", "socket:[1", "/dev/null"] {
            assert_eq!(inode(other), None);
        }
    }

    #[test]
    fn a_socket_of_this_process_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let link = fs::read_link(format!("/proc/self/fd/{}", listener.as_raw_fd())).expect("a link");
        let wanted = inode(link.to_str().expect("text")).expect("an inode");
        let found = owners(&BTreeSet::from([wanted, 0]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[&wanted].pid, std::process::id());
    }
}
