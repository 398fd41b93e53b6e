//! Makes all connections of a thread.

use std::time::Duration;

use super::Worker;
use zerolap_load_measure::{LoadError, clock};
use zerolap_load_requests::{Purpose, Random};

/// Connections that are made at the same time; a server's backlog holds more.
const AT_A_TIME: usize = 64;
/// Time between two looks at connections that take their time.
const TICK: Duration = Duration::from_millis(10);
const RETRY: Duration = Duration::from_millis(1);

impl Worker {
    /// Connects and prepares all links.
    pub(super) fn open_links(&mut self) -> Result<(), LoadError> {
        let mut jitter = Jitter::new(self);
        let (mut next, mut opening) = (0, 0);
        let mut next_start_ns = clock::now_ns() + jitter.pause_ns();
        let mut ready = Vec::new();
        let mut first_tried_ns = None;
        while next < self.links.len() || opening > 0 {
            self.check_stop()?;
            if self.flags.watch.is_interrupted() {
                return Err(LoadError::Interrupted);
            }
            let mut wait = TICK;
            while next < self.links.len() && opening < AT_A_TIME {
                let now_ns = clock::now_ns();
                if now_ns < next_start_ns {
                    wait = Duration::from_nanos(next_start_ns - now_ns).min(TICK);
                    break;
                }
                if !self.start_link(next)? {
                    self.check_retries(*first_tried_ns.get_or_insert(now_ns), now_ns)?;
                    wait = RETRY;
                    break;
                }
                first_tried_ns = None;
                next_start_ns = now_ns + jitter.pause_ns();
                next += 1;
                opening += 1;
            }
            ready.clear();
            ready.extend(self.poller.wait_precisely(wait)?);
            for event in &ready {
                if self.links[event.index].is_open() {
                    continue;
                }
                self.advance_link(event.index)?;
                opening -= usize::from(self.links[event.index].is_open());
            }
            let now_ns = clock::now_ns();
            self.links.iter().try_for_each(|link| link.check_patience(now_ns))?;
        }
        Ok(())
    }

    /// Begins to connect a link; false if it has to be tried again later.
    pub(super) fn start_link(&mut self, index: usize) -> Result<bool, LoadError> {
        if !self.links[index].start()? {
            return Ok(false);
        }
        self.watch_new_socket(index)?;
        Ok(true)
    }

    /// Lets a link that is not open yet go on.
    pub(super) fn advance_link(&mut self, index: usize) -> Result<(), LoadError> {
        if self.links[index].go_on()? { self.watch_new_socket(index) } else { self.update_watch(index) }
    }

    fn watch_new_socket(&mut self, index: usize) -> Result<(), LoadError> {
        let link = &mut self.links[index];
        if let Some(transport) = link.transport() {
            self.poller.add(transport, index)?;
            link.watches_room = true;
        }
        Ok(())
    }

    /// A unix socket whose backlog stays full is like a server that does not answer.
    pub(super) fn check_retries(&self, since_ns: u64, now_ns: u64) -> Result<(), LoadError> {
        let limit = self.settings.connecting.connect_timeout;
        if u128::from(now_ns.saturating_sub(since_ns)) < limit.as_nanos() {
            return Ok(());
        }
        let endpoint = self.settings.server.endpoint.clone();
        Err(LoadError::Connect { endpoint, source: std::io::ErrorKind::TimedOut.into() })
    }
}

/// Pauses between connections.
struct Jitter {
    least_ns: u64,
    range_ns: u64,
    random: Random,
}

impl Jitter {
    fn new(worker: &Worker) -> Self {
        let (least, most) = worker.settings.connecting.jitter;
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let random = Random::new(worker.settings.seed, Purpose::Jitter, worker.thread, 0);
        Self { least_ns: nanoseconds(least), range_ns: nanoseconds(most.saturating_sub(least)), random }
    }

    fn pause_ns(&mut self) -> u64 {
        self.least_ns + if self.range_ns == 0 { 0 } else { self.random.below(self.range_ns + 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Jitter, Purpose, Random};

    #[test]
    fn pauses_are_drawn_between_their_limits() {
        let random = Random::new(1, Purpose::Jitter, 0, 0);
        let mut jitter = Jitter { least_ns: 10, range_ns: 5, random };
        let mut drawn: Vec<u64> = (0..200).map(|_| jitter.pause_ns()).collect();
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn, [10, 11, 12, 13, 14, 15]);
        jitter.range_ns = 0;
        assert_eq!(jitter.pause_ns(), 10);
    }
}
