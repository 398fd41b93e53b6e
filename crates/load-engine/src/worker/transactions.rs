//! Transactions in a cluster: all of their requests go to the node that has their first key.

use super::Worker;
use zerolap_load_requests::TransactionStep;

/// Requests of a transaction without a key after which it goes to the node of the first slot.
const MOST_UNDECIDED: usize = 64;

/// A request, and the index of the node that it goes to.
#[derive(Debug)]
pub(super) struct RoutedRequest {
    pub(super) command: usize,
    pub(super) bytes: Vec<u8>,
    pub(super) node: usize,
}

/// Where the transaction of a client is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum TransactionPlace {
    /// There is none.
    #[default]
    Nowhere,
    /// Keys are watched on the node with this index: the next transaction has to be there.
    Watched(usize),
    /// Commands are queued on the node with this index.
    Queued(usize),
}

impl TransactionPlace {
    const fn node(self) -> Option<usize> {
        match self {
            Self::Nowhere => None,
            Self::Watched(node) | Self::Queued(node) => Some(node),
        }
    }

    /// Where it is after a command that was sent to `node`.
    const fn after(self, step: TransactionStep, node: usize) -> Self {
        match (self, step) {
            (_, TransactionStep::Begin) => Self::Queued(node),
            (_, TransactionStep::End) | (Self::Watched(_), TransactionStep::Unwatch) => Self::Nowhere,
            (Self::Nowhere, TransactionStep::Watch) => Self::Watched(node),
            (place, _) => place,
        }
    }
}

impl Worker {
    /// The next request of a client that has transactions.
    pub(super) fn next_in_transactions(&mut self, client: usize) -> Option<RoutedRequest> {
        if self.clients[client].drawn.is_empty() {
            self.draw_until_node_is_known(client);
        }
        self.clients[client].drawn.pop_front()
    }

    /// Draws the next request of a client; after a MULTI also those up to the first one with a key, as that determines
    /// where all of them go.
    fn draw_until_node_is_known(&mut self, client: usize) {
        let Some(routes) = &mut self.routes else { return };
        let sender = &mut self.clients[client];
        let mut undecided: Vec<(usize, Vec<u8>)> = Vec::new();
        loop {
            let mut bytes = Vec::new();
            let (command, key) = sender.stream.write_next_with_key(&mut bytes);
            let slot = routes.slot(command, key.map(|key| &bytes[key]));
            let step = routes.steps.get(command).copied().unwrap_or(TransactionStep::Other);
            let node = if undecided.is_empty() {
                match (sender.transaction, step) {
                    (TransactionPlace::Queued(node), _) => Some(node),
                    (place, TransactionStep::Other) => {
                        // Without a key it goes where it can be of use.
                        place.node().filter(|_| slot.is_none()).or_else(|| Some(routes.node(command, slot)))
                    }
                    (TransactionPlace::Watched(node), _) => Some(node),
                    (TransactionPlace::Nowhere, TransactionStep::Begin) => None,
                    (TransactionPlace::Nowhere, _) => Some(routes.primary(slot)),
                }
            } else {
                let is_last = step == TransactionStep::End || undecided.len() >= MOST_UNDECIDED;
                (slot.is_some() || is_last).then(|| routes.primary(slot))
            };
            undecided.push((command, bytes));
            if let Some(node) = node {
                for (command, bytes) in undecided {
                    let step = routes.steps.get(command).copied().unwrap_or(TransactionStep::Other);
                    sender.transaction = sender.transaction.after(step, node);
                    sender.drawn.push_back(RoutedRequest { command, bytes, node });
                }
                return;
            }
        }
    }

    /// Counts requests as lost that wait for a link that was lost: without those before them, their transaction would be
    /// another one. The client goes on with its next transaction.
    pub(super) fn lose_transactions(&mut self, index: usize, now_ns: u64, is_timeout: bool) {
        if !self.routes.as_ref().is_some_and(super::Routes::has_transactions) {
            return;
        }
        let link = &mut self.links[index];
        let (node, sender) = (link.node, &mut self.clients[link.client]);
        for (mut request, _) in std::mem::take(&mut link.waiting) {
            if request.sent_ns == 0 {
                request.sent_ns = now_ns;
                request.due_ns = if request.due_ns == 0 { now_ns } else { request.due_ns };
            }
            self.tally.count_lost(request, now_ns, is_timeout);
            let waited_ns = now_ns.saturating_sub(request.sent_ns);
            self.tally.node(node, link.endpoint()).count_lost(is_timeout, waited_ns);
            self.unanswered -= 1;
            sender.open = sender.open.saturating_sub(1);
        }
        if sender.transaction.node() == Some(node) {
            sender.transaction = TransactionPlace::Nowhere;
            sender.drawn.clear();
            sender.stream.leave_transaction();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TransactionPlace::{Nowhere, Queued, Watched};
    use zerolap_load_requests::TransactionStep::{Begin, End, Other, Unwatch, Watch};

    #[test]
    fn a_transaction_is_where_it_began() {
        let steps = [
            (Nowhere, Other, Nowhere),
            (Nowhere, Watch, Watched(2)),
            (Nowhere, Begin, Queued(2)),
            (Nowhere, End, Nowhere),
            (Watched(2), Other, Watched(2)),
            (Watched(2), Watch, Watched(2)),
            (Watched(2), Unwatch, Nowhere),
            (Watched(2), Begin, Queued(2)),
            (Queued(2), Watch, Queued(2)),
            (Queued(2), Unwatch, Queued(2)),
            (Queued(2), Other, Queued(2)),
            (Queued(2), End, Nowhere),
        ];
        for (before, step, after) in steps {
            assert_eq!(before.after(step, 2), after, "{before:?} {step:?}");
        }
    }
}
