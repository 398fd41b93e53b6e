//! A file that is there whole, or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::ProgramError;

/// A file to be written at the end of a run. That it can be is found out at the start.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    /// Where bytes go first; none for what cannot be replaced, such as a pipe or a link.
    partial: Option<PathBuf>,
    file: File,
}

impl OutputFile {
    /// Gets ready to write `path`.
    ///
    /// # Errors
    /// When no file can be made there.
    pub fn prepare(path: &Path) -> Result<Self, ProgramError> {
        // A link is written through: replacing it would leave what it points to as it was, and /dev/stdout is one.
        let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
        let partial = (!is_special && !is_link).then(|| {
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".{}.partial", std::process::id()));
            PathBuf::from(name)
        });
        let opened = match &partial {
            Some(partial) => File::create(partial),
            None => File::options().write(true).truncate(!is_special).open(path),
        };
        let file = opened.map_err(|source| ProgramError::Write { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), partial, file })
    }

    /// Writes all bytes, and puts the file in its place.
    ///
    /// # Errors
    /// When the disk is full or the place is gone.
    pub fn finish(mut self, bytes: &[u8]) -> Result<(), ProgramError> {
        self.write(bytes).map_err(|source| ProgramError::Write { path: self.path.clone(), source })
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::OutputFile;

    #[test]
    fn links_are_written_through() {
        let directory = std::env::temp_dir().join(format!("zerolap-load-link-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let (target, link) = (directory.join("target"), directory.join("link"));
        fs::write(&target, "what was there before").expect("a file");
        symlink(&target, &link).expect("a link");
        OutputFile::prepare(&link).and_then(|file| file.finish(b"new")).expect("written");
        assert_eq!(fs::read(&target).expect("a file"), b"new");
        assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
        assert_eq!(fs::read_dir(&directory).expect("a directory").count(), 2);
        fs::remove_dir_all(&directory).expect("removed");
    }
}
