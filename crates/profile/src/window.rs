//! What one request executes: the difference of two windows of one process.

use thiserror::Error;

use crate::accumulate::{self, WholeFunctions};
use crate::callgrind::Dump;
use crate::graph::CallGraph;
use crate::interpose::remove_pin_library;
use crate::source_root::SourceRoot;

/// A dump and the number of requests it covers.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// What was executed.
    pub dump: &'a Dump,
    /// Requests answered meanwhile.
    pub requests: u64,
}

/// Why there is no difference.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WindowError {
    /// The larger window does not have more requests than the smaller.
    #[error("the large window has {large} requests, not more than the small window's {small}")]
    Requests {
        /// Requests of the small window.
        small: u64,
        /// Requests of the large window.
        large: u64,
    },
}

/// The call graph of one request: (X(large) - X(small)) / (requests of large - requests of small), for every function,
/// line and edge. What both windows do once, whatever the number of requests, is thereby gone.
///
/// `source_root` is the directory that the server was built from; lines are given for files within.
///
/// # Errors
/// When the large window has no more requests than the small one.
pub fn per_request(small: Window<'_>, large: Window<'_>, source_root: &str) -> Result<CallGraph, WindowError> {
    let requests = (large.requests.checked_sub(small.requests).filter(|requests| *requests > 0))
        .ok_or(WindowError::Requests { small: small.requests, large: large.requests })?;
    let root = SourceRoot::new(source_root);
    let whole = WholeFunctions::of(&[small.dump, large.dump]);
    let [mut difference, mut subtracted] = [large.dump, small.dump].map(|dump| accumulate::sums(dump, &whole, &root));
    remove_pin_library(&mut difference);
    remove_pin_library(&mut subtracted);
    difference.add(&subtracted, -1.0);
    Ok(difference.graph(requests as f64))
}
