//! All threads together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use crate::requests::DataPool;
use crate::tally::Tally;
use crate::worker::Worker;
use crate::{LoadError, Outcome, Settings, Work};

/// Connected threads that wait for work. They sleep in between, and end when this is dropped.
#[derive(Debug)]
pub struct Crew {
    settings: Arc<Settings>,
    members: Vec<Member>,
    stop: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Member {
    /// Taken away to make the thread end.
    orders: Option<Sender<Work>>,
    reports: Receiver<Result<Report, LoadError>>,
    thread: Option<JoinHandle<()>>,
}

/// What a thread says when it is done.
#[derive(Debug)]
enum Report {
    Connected,
    Done(Box<Tally>),
}

impl Crew {
    /// Starts all threads and waits until all connections are up and authenticated.
    ///
    /// # Errors
    /// When any of them is not, or a thread cannot be started or pinned.
    pub fn connect(settings: Settings) -> Result<Self, LoadError> {
        let data = DataPool::new(&settings);
        let (settings, stop) = (Arc::new(settings), Arc::new(AtomicBool::new(false)));
        let mut crew = Self { settings: Arc::clone(&settings), members: Vec::new(), stop: Arc::clone(&stop) };
        for thread in 0..settings.threads {
            let (orders, received_orders) = channel();
            let (sent_reports, reports) = channel();
            let (settings, data, stop) = (Arc::clone(&settings), data.clone(), Arc::clone(&stop));
            let work = move || {
                let _stop_when_lost = StopOnPanic(&stop);
                if let Err(error) = serve(&settings, &data, thread, &stop, &received_orders, &sent_reports) {
                    stop.store(true, Ordering::Relaxed);
                    // Nobody listens any more only when the crew is being dropped.
                    let _ = sent_reports.send(Err(error));
                }
            };
            let spawned = Builder::new().name(format!("load-{thread}")).spawn(work).map_err(LoadError::Thread)?;
            crew.members.push(Member { orders: Some(orders), reports, thread: Some(spawned) });
        }
        crew.collect()?;
        Ok(crew)
    }

    /// Carries out one piece of work and waits until every reply is in.
    ///
    /// # Errors
    /// When a connection does not hold. The crew can do nothing after that.
    pub fn run(&mut self, work: Work) -> Result<Outcome, LoadError> {
        for member in &self.members {
            let sent = member.orders.as_ref().map(|orders| orders.send(work));
            if !matches!(sent, Some(Ok(()))) {
                return Err(LoadError::ThreadLost);
            }
        }
        let tallies = self.collect()?;
        Ok(Outcome::new(self.settings.commands.len(), &tallies))
    }

    /// What the crew was made with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Waits for one report of each thread. Of several errors the cause is told, not its consequences.
    fn collect(&self) -> Result<Vec<Tally>, LoadError> {
        let mut tallies = Vec::with_capacity(self.members.len());
        let mut failure = None;
        for member in &self.members {
            match member.reports.recv().unwrap_or(Err(LoadError::ThreadLost)) {
                Ok(Report::Done(tally)) => tallies.push(*tally),
                Err(error) if matches!(failure, None | Some(LoadError::Stopped)) => failure = Some(error),
                Ok(Report::Connected) | Err(_) => {}
            }
        }
        failure.map_or(Ok(tallies), Err)
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for member in &mut self.members {
            member.orders = None;
        }
        for thread in self.members.iter_mut().filter_map(|member| member.thread.take()) {
            // A thread that panicked has already been reported as lost.
            let _ = thread.join();
        }
    }
}

/// The life of a thread: connect, then work as ordered until no more orders can come.
fn serve(
    settings: &Arc<Settings>,
    data: &DataPool,
    thread: usize,
    stop: &Arc<AtomicBool>,
    orders: &Receiver<Work>,
    reports: &Sender<Result<Report, LoadError>>,
) -> Result<(), LoadError> {
    let mut worker = Worker::open(settings, data, thread, stop)?;
    let mut report = Report::Connected;
    while reports.send(Ok(report)).is_ok() {
        let Ok(work) = orders.recv() else { break };
        report = Report::Done(Box::new(worker.run(&work)?));
    }
    Ok(())
}

/// Lets the other threads end when this one is lost.
struct StopOnPanic<'stop>(&'stop AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}
