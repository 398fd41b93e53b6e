//! Connections of a thread: made before the work, and made anew where they end before it does.

use std::time::Duration;

use super::Worker;
use zerolap_load_measure::{LoadError, clock};
use zerolap_load_requests::{Purpose, Random, Reconnecting};

/// Connections that are made at the same time; a server's backlog holds more.
const AT_A_TIME: usize = 64;
/// Time between two looks at connections that take their time.
const TICK: Duration = Duration::from_millis(10);
const RETRY: Duration = Duration::from_millis(1);
const NS_PER_SECOND: f64 = 1e9;
/// Pause before a broken connection is tried again, where none is asked for.
const LEAST_PAUSE_NS: u64 = 10_000_000;
/// Pause before a server that still loads its data is asked again.
const LOADING_PAUSE_NS: u64 = 100_000_000;

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
    fn start_link(&mut self, index: usize) -> Result<bool, LoadError> {
        if !self.links[index].start()? {
            return Ok(false);
        }
        self.links[index].watch(&mut self.poller, index)?;
        Ok(true)
    }

    /// Lets a link that is not open yet go on.
    fn advance_link(&mut self, index: usize) -> Result<(), LoadError> {
        let link = &mut self.links[index];
        if link.go_on()? { link.watch(&mut self.poller, index) } else { link.update_watch(&mut self.poller, index) }
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

    /// Lets a link that is being made go on; requests follow once it is open.
    pub(super) fn go_on_opening(&mut self, index: usize) -> Result<(), LoadError> {
        if let Err(error) = self.advance_link(index) {
            return self.give_up(index, error);
        }
        if self.links[index].is_open() {
            self.closed_links.remove(index);
            if self.links[index].openings > 1 {
                self.tally.connections.reconnects += 1;
                if self.routes.is_none() {
                    self.clients[self.links[index].client].stream.leave_transaction();
                }
            }
            self.offer(index);
        }
        Ok(())
    }

    /// Counts what is lost with a link. Ends the work with `error`, unless the link may be made anew.
    pub(super) fn give_up(&mut self, index: usize, error: LoadError) -> Result<(), LoadError> {
        self.stop_holding(index);
        let is_timeout = matches!(error, LoadError::ReplyTimeout { .. });
        let (link, tally) = (&mut self.links[index], &mut self.tally);
        let was_open = link.is_open();
        if was_open {
            tally.connections.timeouts += u64::from(is_timeout);
            tally.connections.disconnects += u64::from(!is_timeout);
        }
        let now_ns = clock::now_ns();
        if link.oldest_sent_ns().is_some() {
            // The time that these requests were waited for belongs to the work.
            tally.move_to(now_ns);
        }
        let client = link.client;
        while let Some(request) = link.take_unanswered() {
            if request.is_preparation {
                continue;
            }
            tally.count_lost(request, now_ns, is_timeout);
            if self.routes.is_some() {
                let waited_ns = now_ns.saturating_sub(request.sent_ns);
                tally.node(link.node, link.endpoint()).count_lost(is_timeout, waited_ns);
            }
            self.unanswered -= 1;
            let open = &mut self.clients[client].open;
            *open = open.saturating_sub(1);
        }
        self.lose_transactions(index, now_ns, is_timeout);
        let link = &mut self.links[index];
        let Some(reconnecting) = self.settings.connecting.reconnect_on_error else { return Err(error) };
        if error.is_loading() {
            // The server is there and will answer: it has all the time it needs.
            link.lost_ns = now_ns;
            link.close(now_ns.saturating_add(LOADING_PAUSE_NS));
            return Ok(());
        }
        link.attempts += 1;
        if was_open {
            link.lost_ns = now_ns;
        }
        let patience_ns = self.settings.connecting.connect_timeout.as_nanos();
        let is_last = reconnecting.maximum_attempts > 0 && u64::from(link.attempts) > reconnecting.maximum_attempts;
        let is_too_late = !was_open && u128::from(now_ns.saturating_sub(link.lost_ns)) >= patience_ns;
        if is_last || is_too_late || !error.is_of_a_connection() {
            return Err(error);
        }
        let patience_ns = u64::try_from(patience_ns).unwrap_or(u64::MAX);
        let last_try_ns = link.lost_ns.saturating_add(patience_ns);
        let next_try_ns = now_ns.saturating_add(pause_ns(reconnecting, link.attempts));
        link.close(next_try_ns.min(last_try_ns.max(now_ns)));
        if was_open {
            self.closed_links.add(index);
        }
        Ok(())
    }

    /// Sends nothing over a link for a while: its server loads its data after a restart, and answers nothing else.
    pub(super) fn hold(&mut self, index: usize) {
        self.held_links.add(index);
        self.links[index].held_until_ns = clock::now_ns().saturating_add(LOADING_PAUSE_NS);
    }

    /// Lets links go on that were held for long enough.
    pub(super) fn release(&mut self, now_ns: u64) -> Result<(), LoadError> {
        for index in self.held_links.look(now_ns) {
            let link = &self.links[index];
            if !link.is_held() || link.held_until_ns > now_ns {
                continue;
            }
            self.stop_holding(index);
            self.offer(index);
            self.refill(index)?;
        }
        Ok(())
    }

    fn stop_holding(&mut self, index: usize) {
        self.held_links.remove(index);
        self.links[index].held_until_ns = 0;
    }

    /// Replaces a connection that has sent as much as it may.
    pub(super) fn renew(&mut self, index: usize) -> Result<(), LoadError> {
        self.stop_holding(index);
        let now_ns = clock::now_ns();
        self.links[index].close(now_ns);
        self.links[index].lost_ns = now_ns;
        self.closed_links.add(index);
        self.reopen_link(index)
    }

    /// Prepares links for the next piece of work: those that are used up are made anew, and those that were lost in an
    /// earlier one have all the time again.
    pub(super) fn renew_links(&mut self, now_ns: u64) -> Result<(), LoadError> {
        for index in 0..self.links.len() {
            let link = &mut self.links[index];
            if link.is_used_up() && self.clients[link.client].remaining > 0 {
                self.renew(index)?;
            } else if !link.is_open() {
                link.lost_ns = now_ns;
            }
        }
        Ok(())
    }

    /// Tries links again that are closed and whose time has come.
    pub(super) fn reopen(&mut self, now_ns: u64) -> Result<(), LoadError> {
        for index in self.closed_links.look(now_ns) {
            let link = &self.links[index];
            if !link.is_closed() {
                continue;
            }
            // In a cluster a link may lead to a node that nothing belongs to any more.
            let is_needed =
                if self.routes.is_some() { !link.waiting.is_empty() } else { self.clients[link.client].remaining > 0 };
            if is_needed && link.may_start(now_ns) {
                self.reopen_link(index)?;
            }
        }
        Ok(())
    }

    pub(super) fn reopen_link(&mut self, index: usize) -> Result<(), LoadError> {
        match self.start_link(index) {
            Ok(true) => Ok(()),
            Ok(false) => self.check_retries(self.links[index].lost_ns, clock::now_ns()),
            Err(error) => self.give_up(index, error),
        }
    }

    /// Gives up connections on which a reply, or the connection itself, has been due for too long.
    pub(super) fn look_after_silent(&mut self, now_ns: u64) -> Result<(), LoadError> {
        self.check_stop()?;
        self.show_progress();
        if self.flags.watch.is_interrupted() {
            self.end_sending(now_ns);
        }
        for index in 0..self.links.len() {
            if let Err(error) = self.links[index].check_patience(now_ns) {
                self.give_up(index, error)?;
            }
        }
        Ok(())
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

/// How long to wait before the next try.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates, times are positive")]
fn pause_ns(reconnecting: Reconnecting, attempts: u32) -> u64 {
    if reconnecting.backoff_factor == 0.0 {
        return LEAST_PAUSE_NS;
    }
    let exponent = i32::try_from(attempts).unwrap_or(i32::MAX) - 1;
    (NS_PER_SECOND * reconnecting.backoff_factor.powi(exponent)) as u64
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
