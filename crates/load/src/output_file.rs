//! A file that is there whole, or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::LoadError;

/// A file to be written at the end of a run. That it can be is found out at the start.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    /// Where bytes go first; none for what cannot be replaced, such as a pipe.
    partial: Option<PathBuf>,
    file: File,
}

impl OutputFile {
    /// Gets ready to write `path`.
    ///
    /// # Errors
    /// When no file can be made there.
    pub fn prepare(path: &Path) -> Result<Self, LoadError> {
        let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        let partial = (!is_special).then(|| {
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".{}.partial", std::process::id()));
            PathBuf::from(name)
        });
        let opened = match &partial {
            Some(partial) => File::create(partial),
            None => File::options().write(true).open(path),
        };
        let file = opened.map_err(|source| LoadError::Write { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), partial, file })
    }

    /// Writes all bytes, and puts the file in its place.
    ///
    /// # Errors
    /// When the disk is full or the place is gone.
    pub fn finish(mut self, bytes: &[u8]) -> Result<(), LoadError> {
        self.write(bytes).map_err(|source| LoadError::Write { path: self.path.clone(), source })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        let Some(partial) = &self.partial else { return Ok(()) };
        self.file.sync_all()?;
        fs::rename(partial, &self.path)?;
        self.partial = None;
        Ok(())
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            // Nothing can be done about a file that cannot be removed.
            let _ = fs::remove_file(partial);
        }
    }
}
