//! One piece of work of a thread.

use std::time::Duration;

use super::Worker;
use super::poller::Ready;
use super::schedule::Schedule;
use zerolap_load_measure::LiveCounts;
use zerolap_load_measure::Moment;
use zerolap_load_measure::Tally;
use zerolap_load_measure::{LoadError, clock};
use zerolap_load_requests::{Amount, Work};

/// Longest wait, and the time between two looks at silent connections.
const TICK: Duration = Duration::from_millis(100);
const TICK_NS: u64 = 100_000_000;

impl Worker {
    /// Sends this thread's share of `work` from `begin_ns` on and waits for all replies. What was counted is returned
    /// also where it failed.
    pub(crate) fn run(&mut self, work: &Work, begin_ns: u64) -> (Tally, Result<(), LoadError>) {
        self.tally = Tally::new(&self.settings, work, begin_ns);
        self.shown = LiveCounts::default();
        self.schedule = Schedule::of(work, &self.settings, self.thread, begin_ns);
        let first = self.thread * self.settings.clients;
        for (index, client) in self.clients.iter_mut().enumerate() {
            client.remaining = self.settings.quota(work, first + index);
        }
        self.clients_with_more = self.clients.iter().filter(|client| client.remaining > 0).count();
        let before = Moment::now();
        let done = if self.is_done() { Ok(()) } else { self.exchange(work, begin_ns) };
        self.tally.health.note_since(before);
        self.show_progress();
        self.tally.finish();
        if let Some(routes) = &self.routes {
            self.tally.nodes.iter_mut().for_each(|node| node.is_replica = routes.is_replica(&node.endpoint));
        }
        (std::mem::take(&mut self.tally), done)
    }

    fn is_done(&self) -> bool {
        self.clients_with_more == 0 && self.unanswered == 0
    }

    fn exchange(&mut self, work: &Work, begin_ns: u64) -> Result<(), LoadError> {
        let started_ns = clock::now_ns().max(begin_ns);
        self.tally.started_ns = Some(started_ns);
        let first_ns = if work.pace.is_some() { begin_ns } else { started_ns };
        let mut deadline_ns = match work.amount {
            // A schedule has its own beginning, whenever the thread woke up.
            Amount::For(time) => Some(first_ns.saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))),
            _ => None,
        };
        self.is_ended = false;
        self.poller.be_precise(self.schedule.as_ref().is_some_and(|schedule| !schedule.is_whole));
        self.renew_links(started_ns)?;
        self.begin()?;
        let mut next_look_ns = started_ns + TICK_NS;
        let mut ready = Vec::new();
        while !self.is_done() {
            self.wait(deadline_ns, &mut ready)?;
            let woke_ns = clock::now_ns();
            for event in &ready {
                // A link that is being made goes on when there is room to write, too.
                if event.readable || !self.links[event.index].is_open() {
                    self.receive(event.index, woke_ns)?;
                }
            }
            if self.is_ended {
                deadline_ns = None;
            }
            if let Some(end_ns) = deadline_ns.take_if(|end_ns| woke_ns >= *end_ns) {
                // What was due until then is still sent, as far as there is room.
                while self.send_due(end_ns.saturating_sub(1))? {}
                self.end_sending(end_ns);
            }
            for event in &ready {
                self.refill(event.index)?;
            }
            self.send_due(clock::now_ns())?;
            if !ready.is_empty() {
                self.tally.health.lag.record(clock::now_ns() - woke_ns);
            }
            if woke_ns >= next_look_ns {
                next_look_ns = woke_ns + TICK_NS;
                self.look_after_silent(woke_ns)?;
            }
            if self.closed_links > 0 {
                self.reopen(woke_ns)?;
            }
            if self.held_links > 0 {
                self.release(woke_ns)?;
            }
        }
        Ok(())
    }

    /// Waits for events, until the next moment at which there is something to do.
    fn wait(&mut self, deadline_ns: Option<u64>, ready: &mut Vec<Ready>) -> Result<(), LoadError> {
        ready.clear();
        // A turn that no client is free for is taken when a reply makes one free.
        let turn_ns = self.schedule.as_ref().filter(|schedule| !schedule.is_held_up && self.clients_with_more > 0);
        let turn_ns = turn_ns.map(|schedule| schedule.next_ns);
        let tick = if self.closed_links + self.held_links > 0 { Duration::from_millis(1) } else { TICK };
        let next_ns = [deadline_ns, turn_ns].into_iter().flatten().min();
        let until_next = next_ns.map(|next_ns| Duration::from_nanos(next_ns.saturating_sub(clock::now_ns())));
        let timeout = until_next.map_or(tick, |left| left.min(tick));
        if self.settings.busy_poll {
            self.poll_busily(timeout, ready)?;
        } else if self.schedule.is_some() {
            ready.extend(self.poller.wait_precisely(timeout)?);
        } else {
            ready.extend(self.poller.wait(timeout)?);
        }
        Ok(())
    }

    /// Looks again and again until there is an event or the time is over.
    fn poll_busily(&mut self, timeout: Duration, ready: &mut Vec<Ready>) -> Result<(), LoadError> {
        let began_ns = clock::now_ns();
        let end_ns = began_ns.saturating_add(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
        let mut looked_ns = began_ns;
        loop {
            ready.extend(self.poller.wait(Duration::ZERO)?);
            if !ready.is_empty() || looked_ns >= end_ns {
                // Only the look that found something was work.
                self.tally.health.spin_ns += looked_ns - began_ns;
                return Ok(());
            }
            looked_ns = clock::now_ns();
        }
    }

    /// Sends nothing more.
    pub(super) fn end_sending(&mut self, deadline_ns: u64) {
        for client in &mut self.clients {
            client.remaining = 0;
        }
        self.clients_with_more = 0;
        self.is_ended = true;
        if let (Some(schedule), Some(tally)) = (&mut self.schedule, &mut self.tally.schedule) {
            tally.unsent += schedule.skip_until(deadline_ns);
        }
    }
}
