//! One piece of work of a thread.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Worker;
use super::pace::Pace;
use super::poller::Ready;
use crate::connection::Connection;
use crate::tally::Tally;
use crate::{Amount, LoadError, Work, clock};

/// Longest wait, and the time between two looks at silent connections.
const TICK: Duration = Duration::from_millis(100);
const TICK_NS: u64 = 100_000_000;

impl Worker {
    /// Sends this thread's share of `work` and waits for all replies.
    pub(crate) fn run(&mut self, work: &Work) -> Result<Tally, LoadError> {
        let mut tally = Tally::new(self.settings.commands.len());
        let first = self.thread * self.settings.clients;
        for (index, connection) in self.connections.iter_mut().enumerate() {
            connection.assign(self.settings.quota(work, first + index));
        }
        let cpu_before_ns = clock::thread_cpu_ns();
        if self.unfinished() > 0 {
            self.exchange(work, &mut tally)?;
        }
        tally.cpu_ns = clock::thread_cpu_ns() - cpu_before_ns;
        Ok(tally)
    }

    fn exchange(&mut self, work: &Work, tally: &mut Tally) -> Result<(), LoadError> {
        let started_ns = clock::now_ns();
        tally.started_ns = Some(started_ns);
        tally.ended_ns = started_ns;
        let mut deadline_ns = match work.amount {
            Amount::For(time) => Some(started_ns.saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))),
            _ => None,
        };
        let mut pace = Pace::of(work, &self.settings, started_ns);
        let whole = self.settings.lockstep || pace.is_some();
        if pace.is_none() {
            for index in 0..self.connections.len() {
                self.refill(index, whole, tally)?;
            }
        }
        let mut unfinished = self.unfinished();
        let mut is_held_up = false;
        let mut next_look_ns = started_ns + TICK_NS;
        let mut ready = Vec::with_capacity(self.connections.len());
        while unfinished > 0 {
            // A turn that no connection is free for is taken when a reply makes one free.
            let next_turn_ns = pace.as_ref().filter(|_| !is_held_up).map(Pace::next_ns);
            let next_ns = deadline_ns.or(next_turn_ns);
            let until_next = next_ns.map(|next_ns| next_ns.saturating_sub(clock::now_ns()));
            let timeout = until_next.map_or(TICK, |left_ns| TICK.min(Duration::from_nanos(left_ns)));
            ready.clear();
            ready.extend(self.poller.wait(timeout)?);
            unfinished -= self.receive(&ready, tally)?;
            let now_ns = clock::now_ns();
            if deadline_ns.is_some_and(|deadline_ns| now_ns >= deadline_ns) {
                deadline_ns = None;
                for connection in &mut self.connections {
                    connection.assign(0);
                }
                unfinished = self.unfinished();
            }
            if let Some(pace) = &mut pace {
                is_held_up = self.send_due(pace, now_ns, &ready, tally)?;
            } else {
                for event in &ready {
                    self.refill(event.index, whole, tally)?;
                }
            }
            if now_ns >= next_look_ns {
                next_look_ns = now_ns + TICK_NS;
                self.look_after_silent(now_ns)?;
            }
        }
        Ok(())
    }

    /// Reads from all connections that have something; returns how many of them are done now.
    fn receive(&mut self, ready: &[Ready], tally: &mut Tally) -> Result<usize, LoadError> {
        let mut finished = 0;
        for event in ready.iter().filter(|event| event.readable) {
            let Some(connection) = self.connections.get_mut(event.index) else { continue };
            let was_done = connection.is_done();
            connection.receive(&mut self.buffer, tally)?;
            finished += usize::from(connection.is_done() && !was_done);
        }
        Ok(finished)
    }

    /// Sends the pipelines that are due; what found no room before is written where there is some now. Returns whether
    /// one is due that no connection is free for.
    fn send_due(
        &mut self,
        pace: &mut Pace,
        now_ns: u64,
        ready: &[Ready],
        tally: &mut Tally,
    ) -> Result<bool, LoadError> {
        for event in ready {
            if self.connections.get(event.index).is_some_and(Connection::has_unsent_bytes) {
                self.refill(event.index, true, tally)?;
            }
        }
        while pace.is_due(now_ns) {
            let count = self.connections.len();
            let turns = (0..count).map(|offset| (pace.first() + offset) % count);
            let Some(index) = turns.into_iter().find(|index| self.connections[*index].is_free()) else {
                return Ok(true);
            };
            pace.take();
            self.refill(index, true, tally)?;
        }
        Ok(false)
    }

    fn refill(&mut self, index: usize, whole: bool, tally: &mut Tally) -> Result<(), LoadError> {
        let Some(connection) = self.connections.get_mut(index) else { return Ok(()) };
        connection.refill(whole, tally)?;
        let needs_room = connection.has_unsent_bytes();
        if needs_room != connection.watches_room {
            self.poller.watch_room(&connection.socket, index, needs_room)?;
            connection.watches_room = needs_room;
        }
        Ok(())
    }

    fn unfinished(&self) -> usize {
        self.connections.iter().filter(|connection| !connection.is_done()).count()
    }

    /// Fails when a reply has been due for too long, or another thread has failed.
    fn look_after_silent(&self, now_ns: u64) -> Result<(), LoadError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(LoadError::Stopped);
        }
        let timeout = self.settings.connecting.reply_timeout;
        let limit_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let oldest_ns = self.connections.iter().filter_map(Connection::oldest_sent_ns).min();
        match oldest_ns {
            Some(sent_ns) if now_ns.saturating_sub(sent_ns) >= limit_ns => {
                Err(LoadError::ReplyTimeout { endpoint: self.settings.server.endpoint.clone(), timeout })
            }
            _ => Ok(()),
        }
    }
}
