//! Which requests are sent when, and what replies to them lead to.

use zerolap_resp::ReplyKind;

use super::Worker;
use super::routes::{Redirected, redirect};
use crate::cluster::Redirect;
use crate::link::Answered;
use zerolap_load_measure::{LOADING, LoadError, Request, clock};

/// Connections that are written to, where several requests are due, before replies are looked for again: replies that
/// wait meanwhile are stamped late. All that is due is spread over them, so that no rate is out of reach because of it.
const MOST_WRITES: usize = 8;

/// What comes in one piece from any network.
const ONE_PIECE_BYTES: usize = 1024;

impl Worker {
    /// Sends the first requests: as many as there is room for, or none before they are due.
    pub(super) fn begin(&mut self) -> Result<(), LoadError> {
        let clients = self.clients.len();
        if let Some(schedule) = &mut self.schedule {
            schedule.free.extend(0..clients);
            self.clients.iter_mut().for_each(|client| client.is_queued = true);
            return Ok(());
        }
        (0..clients).try_for_each(|client| self.fill(client))
    }

    /// Sends what replies on this link made room for, and what found no room before.
    pub(super) fn refill(&mut self, index: usize) -> Result<(), LoadError> {
        if !self.links[index].is_open() {
            return Ok(());
        }
        let client = self.links[index].client;
        if self.schedule.is_none() {
            return self.fill(client);
        }
        if self.routes.is_some() {
            return self.pump(client);
        }
        if self.links[index].needs_room() {
            self.flush(index)?;
        }
        Ok(())
    }

    /// Fills the pipelines of a client and writes once.
    fn fill(&mut self, client: usize) -> Result<(), LoadError> {
        if self.routes.is_some() {
            let room = self.most_open().saturating_sub(self.clients[client].open);
            let count = usize::try_from(self.clients[client].remaining).unwrap_or(usize::MAX).min(room);
            self.route(client, count, Request::default());
            return self.pump(client);
        }
        let room = self.links[client].room(self.settings.lockstep);
        self.add(client, room, Request::default());
        self.flush(client)
    }

    /// Sends what is due, or the first of it, and remembers whether something is that no client is free for. Returns
    /// whether it sent anything.
    pub(super) fn send_due(&mut self, now_ns: u64) -> Result<bool, LoadError> {
        let Some(mut schedule) = self.schedule.take() else { return Ok(false) };
        if std::mem::take(&mut schedule.is_held_up) {
            schedule.held_up_until_ns = now_ns;
        }
        let share = share(schedule.due_by(now_ns));
        let mut sent = Vec::new();
        while schedule.next_ns <= now_ns && self.clients_with_more > 0 && sent.len() < MOST_WRITES {
            let Some(client) = schedule.free.pop_front() else {
                schedule.is_held_up = true;
                break;
            };
            let room = self.room(client, schedule.is_whole);
            if room == 0 || self.clients[client].remaining == 0 {
                self.clients[client].is_queued = false;
                continue;
            }
            let turns = if schedule.is_whole { 1 } else { share.min(room) };
            for _ in 0..turns {
                if schedule.next_ns > now_ns || self.clients[client].remaining == 0 {
                    break;
                }
                let due_ns = schedule.take();
                let was_held_up = due_ns <= schedule.held_up_until_ns;
                let request = Request { due_ns, was_held_up, ..Request::default() };
                let count = if schedule.is_whole { room.min(self.settings.pipeline) } else { 1 };
                if self.routes.is_some() {
                    self.route(client, count, request);
                } else {
                    self.add(client, count, request);
                }
            }
            schedule.free.push_back(client);
            sent.push(client);
        }
        self.schedule = Some(schedule);
        for &client in &sent {
            if self.routes.is_some() {
                self.pump(client)?;
            } else {
                self.flush(client)?;
            }
        }
        Ok(!sent.is_empty())
    }

    /// How many requests a client takes now; `whole` takes none before all replies are in.
    pub(super) fn room(&self, client: usize, whole: bool) -> usize {
        if self.routes.is_none() {
            return self.links[client].room(whole);
        }
        let open = self.clients[client].open;
        if whole && open > 0 { 0 } else { self.most_open().saturating_sub(open) }
    }

    /// Writes up to `count` requests of a client into the buffer of its link.
    fn add(&mut self, client: usize, count: usize, request: Request) {
        if self.settings.largest_database.is_some() {
            return self.add_in_databases(client, count, request);
        }
        let (sender, link) = (&mut self.clients[client], &mut self.links[client]);
        let count = usize::try_from(sender.remaining).unwrap_or(usize::MAX).min(count);
        if count == 0 {
            return;
        }
        for _ in 0..count {
            let start = link.buffer().len();
            let command = sender.stream.write_next(link.buffer());
            self.tally.commands[command].bytes_sent += (link.buffer().len() - start) as u64;
            link.add(Request { command: u32::try_from(command).unwrap_or(u32::MAX), ..request }, start);
        }
        sender.remaining -= count as u64;
        self.clients_with_more -= usize::from(sender.remaining == 0);
        self.unanswered += count as u64;
    }

    /// The same where requests are sent in several databases.
    // Apart, so that nothing is in the way of ordinary requests.
    #[inline(never)]
    fn add_in_databases(&mut self, client: usize, count: usize, request: Request) {
        for _ in 0..count {
            let (sender, link) = (&mut self.clients[client], &mut self.links[client]);
            if sender.remaining == 0 {
                return;
            }
            let database = sender.stream.next_database();
            if let Some(needed) = database.needed {
                self.tally.selects += u64::from(link.select(needed));
            }
            let start = link.buffer().len();
            let command = sender.stream.write_next(link.buffer());
            self.tally.commands[command].bytes_sent += (link.buffer().len() - start) as u64;
            link.add(Request { command: u32::try_from(command).unwrap_or(u32::MAX), ..request }, start);
            if database.selects {
                link.forget_database();
            }
            sender.remaining -= 1;
            self.clients_with_more -= usize::from(sender.remaining == 0);
            self.unanswered += 1;
        }
    }

    /// Writes what a link holds.
    pub(super) fn flush(&mut self, index: usize) -> Result<(), LoadError> {
        let mut schedule = self.tally.schedule.as_mut();
        let stamped = |request: &Request| {
            if let Some(tally) = &mut schedule {
                let slip_ns = request.sent_ns.saturating_sub(request.due_ns);
                tally.slip.record(slip_ns);
                if !request.was_held_up {
                    tally.own_slip.record(slip_ns);
                }
            }
        };
        match self.links[index].flush(stamped) {
            Ok(bytes) => self.tally.bytes_sent += bytes as u64,
            Err(error) => return self.give_up(index, error),
        }
        self.links[index].update_watch(&mut self.poller, index)
    }

    /// Reads what a link has received, as the event loop saw at `seen_ns`, and counts the replies in it.
    pub(super) fn receive(&mut self, index: usize, seen_ns: u64) -> Result<(), LoadError> {
        if !self.links[index].is_open() {
            return self.go_on_opening(index);
        }
        let mut redirected = Vec::new();
        let received = if self.routes.is_some() {
            self.receive_routed(index, seen_ns, &mut redirected)
        } else {
            self.receive_replies(index, seen_ns)
        };
        if !redirected.is_empty() {
            // Also those that came before the connection broke.
            self.follow(index, redirected)?;
        }
        match received {
            Err(error) => return self.give_up(index, error),
            Ok(is_loading) if is_loading && self.settings.connecting.reconnect_on_error.is_some() => self.hold(index),
            Ok(_) => {}
        }
        let link = &self.links[index];
        if link.is_used_up() && self.clients[link.client].remaining > 0 {
            return self.renew(index);
        }
        self.offer(index);
        Ok(())
    }

    /// Counts what has come; returns whether the server replied that it is loading its data.
    fn receive_replies(&mut self, index: usize, seen_ns: u64) -> Result<bool, LoadError> {
        let mut is_loading = false;
        let mut refused_select = None;
        let is_alone = self.settings.pipeline == 1;
        let (link, tally, unanswered) = (&mut self.links[index], &mut self.tally, &mut self.unanswered);
        let mut scan = self.settings.scan.is_some().then_some(&mut self.clients[link.client].stream);
        loop {
            let before_ns = if is_alone { seen_ns } else { clock::now_ns() };
            let Some(length) = link.read(&mut self.buffer)? else { break };
            let received_ns = received_ns(before_ns, length);
            tally.bytes_received += length as u64;
            tally.move_to(received_ns);
            link.take_replies(&self.buffer[..length], |request, reply, bytes| match request {
                None => tally.pushes += 1,
                Some(Answered { request, .. }) if request.is_preparation => {
                    if reply.kind == ReplyKind::Error {
                        refused_select = Some(String::from_utf8_lossy(reply.text).into_owned());
                    }
                }
                Some(Answered { request, is_match, .. }) => {
                    tally.count(request, reply, received_ns, bytes);
                    is_loading |= reply.code == LOADING.as_bytes();
                    if let Some(is_match) = is_match {
                        tally.count_checked(request, is_match);
                    }
                    *unanswered -= 1;
                    if let Some(stream) = &mut scan {
                        stream.take_cursor(reply.first);
                    }
                }
            })?;
            if let Some(reply) = refused_select.take() {
                // What follows would be sent in another database than it was recorded in.
                return Err(LoadError::SetupRefused { endpoint: link.endpoint().clone(), request: "SELECT", reply });
            }
            if !link.may_hold_more() {
                break;
            }
        }
        Ok(is_loading)
    }

    /// The same in a cluster: replies also count for their node, and redirections are to be followed.
    fn receive_routed(
        &mut self,
        index: usize,
        seen_ns: u64,
        redirected: &mut Vec<Redirected>,
    ) -> Result<bool, LoadError> {
        let mut is_loading = false;
        let is_alone = self.settings.pipeline == 1;
        let link = &mut self.links[index];
        let (client, node, endpoint) = (link.client, link.node, link.endpoint().clone());
        loop {
            let before_ns = if is_alone { seen_ns } else { clock::now_ns() };
            let Some(length) = link.read(&mut self.buffer)? else { return Ok(is_loading) };
            let received_ns = received_ns(before_ns, length);
            self.tally.bytes_received += length as u64;
            self.tally.move_to(received_ns);
            link.take_replies(&self.buffer[..length], |request, reply, bytes| match request {
                None => self.tally.pushes += 1,
                Some(answered) if answered.request.is_preparation => {}
                Some(Answered { request, kept, is_match }) => {
                    if let Some(Redirect { slot, endpoint: target, is_ask }) = redirect(&request, reply, &endpoint)
                        && let Some(routes) = &mut self.routes
                    {
                        match routes.find_or_add(target.clone(), &self.dialer) {
                            None => self.tally.count_unfollowed(target),
                            Some(node) if !routes.has_transactions() => {
                                let bytes = kept.unwrap_or_default();
                                redirected.push(Redirected { request, bytes, slot, node, is_ask });
                                return;
                            }
                            // What is sent again could become a part of a transaction that it does not belong to.
                            Some(node) if !is_ask => routes.move_slot(request.command as usize, slot, node),
                            Some(_) => {}
                        }
                    }
                    let answer = self.tally.count(request, reply, received_ns, bytes);
                    is_loading |= reply.code == LOADING.as_bytes();
                    if let Some(is_match) = is_match {
                        self.tally.count_checked(request, is_match);
                    }
                    let latency_ns = received_ns.saturating_sub(request.sent_ns);
                    self.tally.node(node, &endpoint).count_as(reply, answer, latency_ns);
                    self.unanswered -= 1;
                    self.clients[client].open -= 1;
                }
            })?;
            if !link.may_hold_more() {
                return Ok(is_loading);
            }
        }
    }

    /// Puts the link's client among those that can take what is due next, if it can.
    pub(super) fn offer(&mut self, index: usize) {
        let client = self.links[index].client;
        let Some(is_whole) = self.schedule.as_ref().map(|schedule| schedule.is_whole) else { return };
        if !self.clients[client].is_queued && self.room(client, is_whole) > 0 {
            self.clients[client].is_queued = true;
            self.schedule.iter_mut().for_each(|schedule| schedule.free.push_back(client));
        }
    }
}

/// How many of so many requests that are due one connection takes in one write.
fn share(due: usize) -> usize {
    due.div_ceil(MOST_WRITES).max(1)
}

/// When a reply came that was read in a piece of `length` bytes, which were there at `before_ns`, or a part of them was.
///
/// A connection with one request under way has one reply, and a short one came in one piece: it was there when the event
/// loop saw it, however many others were read first. Of several replies the last may have come only just before it was
/// read; so they are stamped before each read, and what is long after it.
fn received_ns(before_ns: u64, length: usize) -> u64 {
    if length <= ONE_PIECE_BYTES { before_ns } else { clock::now_ns() }
}

#[cfg(test)]
mod tests {
    use super::{MOST_WRITES, share};

    #[test]
    fn all_that_is_due_goes_out_in_a_few_writes() {
        assert_eq!([0, 1, 2, MOST_WRITES].map(share), [1; 4]);
        for due in [9, 100, 1_000_000] {
            assert!(share(due) * MOST_WRITES >= due && (share(due) - 1) * MOST_WRITES < due);
        }
    }
}
