//! What replies lead to.

use super::Worker;
use crate::{LoadError, clock};

impl Worker {
    /// Reads what a link has received and counts the replies in it.
    pub(super) fn receive(&mut self, index: usize) -> Result<(), LoadError> {
        if !self.links[index].is_open() {
            return self.go_on_opening(index);
        }
        let received = self.receive_replies(index);
        if let Err(error) = received {
            return self.give_up(index, error);
        }
        let link = &self.links[index];
        if link.is_used_up() && self.clients[link.client].remaining > 0 {
            return self.renew(index);
        }
        self.offer(index);
        Ok(())
    }

    fn receive_replies(&mut self, index: usize) -> Result<(), LoadError> {
        let (link, tally, unanswered) = (&mut self.links[index], &mut self.tally, &mut self.unanswered);
        while let Some(length) = link.read(&mut self.buffer)? {
            let received_ns = clock::now_ns();
            tally.bytes_received += length as u64;
            tally.move_to(received_ns);
            link.take_replies(&self.buffer[..length], |request, reply, bytes| match request {
                None => tally.pushes += 1,
                Some((request, _)) => {
                    tally.count(request, reply, received_ns, bytes);
                    *unanswered -= 1;
                }
            })?;
            if !link.may_hold_more() {
                break;
            }
        }
        Ok(())
    }

    /// Puts the link's client among those that can take what is due next, if it can.
    pub(super) fn offer(&mut self, index: usize) {
        let Some(schedule) = &mut self.schedule else { return };
        let link = &mut self.links[index];
        if !link.is_queued && link.room(schedule.is_whole) > 0 {
            link.is_queued = true;
            schedule.free.push_back(link.client);
        }
    }
}
