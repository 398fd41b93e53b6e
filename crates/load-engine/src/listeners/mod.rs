//! Connections that only read what the server pushes, in one thread of their own.

mod listener;
mod readers;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::Duration;

use crate::{Watch, open_files};
use readers::Readers;
use zerolap_load_measure::ListenerTally;
use zerolap_load_measure::{LoadError, clock};
use zerolap_load_requests::Settings;

/// What was pushed because of the last request may come a little after its reply: so long nothing must come.
const QUIET_NS: u64 = 200_000_000;
/// Others may push without end: longer is not waited, once all that had come until then was read.
const LONGEST_ECHO_NS: u64 = 1_000_000_000;
/// Not even where more comes than can be read.
const LONGEST_BACKLOG_NS: u64 = 30_000_000_000;
const LOOK: Duration = Duration::from_millis(5);

/// Open listeners. They read until this is dropped.
#[derive(Debug)]
pub(crate) struct Listeners {
    shared: Arc<Shared>,
    began_ns: u64,
    thread: Option<JoinHandle<Result<(), LoadError>>>,
}

/// What both threads see.
#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    tally: ListenerTally,
    /// When something was read last.
    last_ns: u64,
    /// When the thread last saw all that was there: a thread that gets no processor must not pass for silence.
    looked_ns: u64,
}

impl Shared {
    fn counted(&self) -> MutexGuard<'_, Counted> {
        // Counts are never half written: a thread that panicked is told as lost when it is waited for.
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listeners {
    /// Opens all listeners that the settings ask for, if any, and waits until the server has confirmed each.
    ///
    /// # Errors
    /// When one cannot be had, or the server refuses what it sends.
    pub(crate) fn connect(settings: &Settings, watch: &Watch) -> Result<Option<Self>, LoadError> {
        let Some(listening) = settings.listening.clone() else { return Ok(None) };
        open_files::make_room(listening.connections)?;
        let shared = Arc::new(Shared::default());
        let (opened_sender, opened) = channel();
        let (settings, interrupt, of_thread) = (settings.clone(), Arc::clone(&watch.interrupt), Arc::clone(&shared));
        let work = move || {
            let readers = Readers::open(&settings, &listening, &of_thread, &interrupt);
            // Nobody waits for it any more only when the program ends.
            match readers {
                Err(error) => drop(opened_sender.send(Err(error))),
                Ok(mut readers) => {
                    drop(opened_sender.send(Ok(())));
                    readers.read_on()?;
                }
            }
            Ok(())
        };
        let thread = Builder::new().name("listeners".to_owned()).spawn(work).map_err(LoadError::Thread)?;
        let listeners = Self { shared, began_ns: clock::now_ns(), thread: Some(thread) };
        opened.recv().map_err(|_| LoadError::ThreadLost)??;
        Ok(Some(listeners))
    }

    /// Counts from now on. Who was disconnected before stays so.
    pub(crate) fn begin(&mut self) {
        let mut counted = self.shared.counted();
        counted.tally.forget_messages();
        self.began_ns = clock::now_ns();
        counted.last_ns = self.began_ns;
    }

    /// Ends listening; returns what was counted. Where requests made the server push, what is still on its way is
    /// waited for.
    ///
    /// # Errors
    /// When the thread could not go on.
    pub(crate) fn finish(mut self, awaits_echo: bool) -> Result<ListenerTally, LoadError> {
        let asked_ns = clock::now_ns();
        if awaits_echo {
            self.await_echo(asked_ns);
        }
        let (mut tally, last_ns) = {
            let mut counted = self.shared.counted();
            (std::mem::take(&mut counted.tally), counted.last_ns)
        };
        self.end()?;
        let ended_ns = if awaits_echo { last_ns.max(asked_ns) } else { asked_ns };
        tally.elapsed_ns = ended_ns.saturating_sub(self.began_ns);
        Ok(tally)
    }

    fn await_echo(&self, asked_ns: u64) {
        loop {
            let (last_ns, looked_ns) = {
                let counted = self.shared.counted();
                (counted.last_ns.max(asked_ns), counted.looked_ns)
            };
            let is_quiet = looked_ns.saturating_sub(last_ns) >= QUIET_NS;
            let is_long = looked_ns.saturating_sub(asked_ns) >= LONGEST_ECHO_NS;
            let is_backlog = clock::now_ns().saturating_sub(asked_ns) >= LONGEST_BACKLOG_NS;
            if is_quiet || is_long || is_backlog || self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
                return;
            }
            sleep(LOOK);
        }
    }

    fn end(&mut self) -> Result<(), LoadError> {
        self.shared.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        ended.map_or(Ok(()), |ended| ended.unwrap_or(Err(LoadError::ThreadLost)))
    }
}

impl Drop for Listeners {
    fn drop(&mut self) {
        // What keeps a run from its end is told before.
        let _ = self.end();
    }
}
