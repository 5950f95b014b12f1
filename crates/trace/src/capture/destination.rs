//! Where a capture goes: a file that appears whole or not at all, or a pipe.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Debug)]
pub(super) enum Destination {
    /// Beside its destination under another name.
    Staged { file: File, name: Staging, path: PathBuf },
    /// A pipe or a device, whose name must not be given to a file.
    Direct(File),
}

impl Destination {
    /// Finds out whether `path` can be written, and touches nothing that is there.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // A directory is refused by the system here, in its own words.
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return File::options().write(true).open(path).map(Self::Direct);
        }
        // A name that is a link stays one: it is what it points to that is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let (file, name) = Staging::beside(&path)?;
        Ok(Self::Staged { file, name, path })
    }

    /// Everything has been written.
    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Self::Staged { file, name, path } => {
                drop(file);
                fs::rename(&name.0, path)
            }
            Self::Direct(mut file) => file.flush(),
        }
    }

    const fn file(&mut self) -> &mut File {
        match self {
            Self::Staged { file, .. } | Self::Direct(file) => file,
        }
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

/// The name of a file that is not finished, and is removed unless it has been given another one.
#[derive(Debug)]
pub(super) struct Staging(PathBuf);

impl Staging {
    /// A new file in the directory of `path`.
    fn beside(path: &Path) -> io::Result<(File, Self)> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let name = path.with_file_name(format!(".netspurt-{process}-{count}.pcapng"));
            match File::create_new(&name) {
                Ok(file) => return Ok((file, Self(name))),
                // Left behind by a process that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // After it was renamed there is nothing to remove, and whatever else goes wrong helps nobody.
        drop(fs::remove_file(&self.0));
    }
}
