//! The destination of a capture: a file, which gets its name when it is complete, or a pipe.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Debug)]
pub(super) enum Destination {
    /// A temporary file in the same directory.
    Staged { file: File, name: Staging, path: PathBuf },
    /// A pipe or a device, which cannot be replaced by renaming a file.
    Direct(File),
}

impl Destination {
    /// Opens the destination. An existing file stays unchanged until `finish`.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // For a directory, the system returns its own error here.
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return File::options().write(true).open(path).map(Self::Direct);
        }
        // Replaces the target of a symbolic link, not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let (file, name) = Staging::beside(&path)?;
        Ok(Self::Staged { file, name, path })
    }

    /// Completes the capture.
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

/// The temporary file. It is removed when this value is dropped, unless it was renamed.
#[derive(Debug)]
pub(super) struct Staging(PathBuf);

impl Staging {
    /// Creates a file in the directory of `path`.
    fn beside(path: &Path) -> io::Result<(File, Self)> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let name = path.with_file_name(format!(".netspurt-{process}-{count}.pcapng"));
            match File::create_new(&name) {
                Ok(file) => return Ok((file, Self(name))),
                // A process that was killed has left this file.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Fails after the renaming, when there is nothing to remove. Other errors cannot be handled here.
        drop(fs::remove_file(&self.0));
    }
}
