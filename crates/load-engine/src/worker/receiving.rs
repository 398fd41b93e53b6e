//! What replies lead to.

use super::Worker;
use super::routing::{Redirected, redirect};
use crate::cluster::Redirect;
use crate::link::Answered;
use zerolap_load_measure::LOADING;
use zerolap_load_measure::{LoadError, clock};

/// What comes in one piece from any network.
const ONE_PIECE_BYTES: usize = 1024;

impl Worker {
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

    /// Counts what has come; returns whether the server says that it loads its data.
    fn receive_replies(&mut self, index: usize, seen_ns: u64) -> Result<bool, LoadError> {
        let mut is_loading = false;
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
                Some(answered) if answered.request.is_asking => {}
                Some(Answered { request, kept, is_match }) => {
                    if let Some(Redirect { slot, endpoint: target, is_ask }) = redirect(&request, reply, &endpoint) {
                        let routes = self.routes.as_mut();
                        if let Some(node) = routes.and_then(|routes| routes.find_or_add(target.clone(), &self.dialer)) {
                            let bytes = kept.unwrap_or_default();
                            redirected.push(Redirected { request, bytes, slot, node, is_ask });
                            return;
                        }
                        self.tally.count_unfollowed(target);
                    }
                    self.tally.count(request, reply, received_ns, bytes);
                    is_loading |= reply.code == LOADING.as_bytes();
                    if let Some(is_match) = is_match {
                        self.tally.count_checked(request, is_match);
                    }
                    self.tally.node(node, &endpoint).count(reply, received_ns.saturating_sub(request.sent_ns));
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

/// When a reply came that was read in a piece of `length` bytes, which were there at `before_ns`, or a part of them was.
///
/// A connection with one request under way has one reply, and a short one came in one piece: it was there when the event
/// loop saw it, however many others were read first. Of several replies the last may have come only just before it was
/// read; so they are stamped before each read, and what is long after it.
fn received_ns(before_ns: u64, length: usize) -> u64 {
    if length <= ONE_PIECE_BYTES { before_ns } else { clock::now_ns() }
}
