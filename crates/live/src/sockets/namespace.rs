//! Opens files and sockets in another network namespace.

use nix::errno::Errno;
use nix::sched::{CloneFlags, setns};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The folder in which `ip netns` names namespaces (ip-netns(8)).
const NAMED: &str = "/run/netns";

/// Why a namespace cannot be entered.
#[derive(Debug, thiserror::Error)]
pub enum NamespaceError {
    /// It does not exist.
    #[error("there is no network namespace {0}: 'ip netns' lists those with names")]
    Missing(PathBuf),
    /// The user may not enter it.
    #[error("entering the network namespace {0} needs root or the capability cap_sys_admin")]
    Denied(PathBuf),
    /// The file is something else.
    #[error("{0} is not a network namespace")]
    Foreign(PathBuf),
    /// Another error of the system.
    #[error("entering the network namespace {0} failed: {1}")]
    System(PathBuf, Errno),
}

/// The file of a namespace: a path with a slash, or a name of `ip netns`.
pub(super) fn file_of(text: &str) -> PathBuf {
    if text.contains('/') { PathBuf::from(text) } else { Path::new(NAMED).join(text) }
}

/// Runs a function in a thread within the namespace. What it opens stays there.
pub(super) fn within<T: Send>(namespace: &Path, job: impl FnOnce() -> T + Send) -> Result<T, NamespaceError> {
    let file = File::open(namespace).map_err(|why| match why.kind() {
        io::ErrorKind::PermissionDenied => NamespaceError::Denied(namespace.to_owned()),
        io::ErrorKind::NotFound => NamespaceError::Missing(namespace.to_owned()),
        _ => NamespaceError::System(
            namespace.to_owned(),
            why.raw_os_error().map_or(Errno::UnknownErrno, Errno::from_raw),
        ),
    })?;
    let inside = std::thread::scope(|scope| {
        let thread = scope.spawn(|| setns(&file, CloneFlags::CLONE_NEWNET).map(|()| job()));
        thread.join().unwrap_or(Err(Errno::EAGAIN))
    });
    inside.map_err(|errno| match errno {
        Errno::EPERM => NamespaceError::Denied(namespace.to_owned()),
        Errno::EINVAL => NamespaceError::Foreign(namespace.to_owned()),
        other => NamespaceError::System(namespace.to_owned(), other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_up_in_the_folder_of_ip_netns() {
        assert_eq!(file_of("blue"), Path::new("/run/netns/blue"));
        assert_eq!(file_of("/proc/1/ns/net"), Path::new("/proc/1/ns/net"));
    }

    #[test]
    fn a_missing_file_or_one_without_a_namespace_is_reported() {
        let missing = within(Path::new("/run/netns/no-such-one"), || ()).expect_err("missing").to_string();
        assert!(missing.starts_with("there is no network namespace /run/netns/no-such-one"), "{missing}");
        let file = within(Path::new("/proc/self/stat"), || ()).expect_err("a file").to_string();
        assert!(file.contains("is not a network namespace") || file.contains("needs root"), "{file}");
    }
}
