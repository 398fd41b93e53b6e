//! One thread: its connections and its event loop.

mod pace;
mod poller;
mod run;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::connection::Connection;
use crate::requests::DataPool;
use crate::{LoadError, Settings, cpus};
use poller::Poller;

/// Bytes read at once. Replies may be cut anywhere, so it limits nothing.
const READ_BYTES: usize = 256 * 1024;

/// What a thread owns.
pub(crate) struct Worker {
    settings: Arc<Settings>,
    /// Index of the thread.
    thread: usize,
    connections: Vec<Connection>,
    poller: Poller,
    buffer: Box<[u8]>,
    /// Set when any thread has failed.
    stop: Arc<AtomicBool>,
}

impl Worker {
    /// Pins the calling thread, and opens all connections of thread `thread`.
    pub(crate) fn open(
        settings: &Arc<Settings>,
        data: &DataPool,
        thread: usize,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, LoadError> {
        if !settings.cpus.is_empty() {
            cpus::pin_thread(settings.cpus[thread % settings.cpus.len()])?;
        }
        let mut poller = Poller::new()?;
        let mut connections = Vec::with_capacity(settings.clients);
        for index in 0..settings.clients {
            if stop.load(Ordering::Relaxed) {
                return Err(LoadError::Stopped);
            }
            let connection = Connection::open(settings, data, thread, index)?;
            poller.add(&connection.socket, index)?;
            connections.push(connection);
        }
        let buffer = vec![0; READ_BYTES].into_boxed_slice();
        Ok(Self { settings: Arc::clone(settings), thread, connections, poller, buffer, stop: Arc::clone(stop) })
    }
}
