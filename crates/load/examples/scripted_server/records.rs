//! When requests were read and replies written.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Times of all requests, in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Records {
    times_ns: Vec<(u64, u64)>,
}

impl Records {
    /// Notes the arrival of the next request.
    pub(crate) fn arrived(&mut self, now_ns: u64) {
        self.times_ns.push((now_ns, 0));
    }

    /// Notes the reply to the request of this index.
    pub(crate) fn replied(&mut self, index: usize, now_ns: u64) {
        self.times_ns[index].1 = now_ns;
    }

    /// Writes pairs of little-endian numbers.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        for (arrived_ns, replied_ns) in &self.times_ns {
            file.write_all(&arrived_ns.to_le_bytes())?;
            file.write_all(&replied_ns.to_le_bytes())?;
        }
        file.flush()
    }
}
