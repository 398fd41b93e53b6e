//! Transactions of a recording: their commands were sent on one connection, among those of others.

use std::collections::HashMap;

/// What a command does to the transaction of its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionStep {
    /// `WATCH`: the next transaction depends on keys.
    Watch,
    /// `UNWATCH`: it depends on none.
    Unwatch,
    /// `MULTI`: what follows is only queued.
    Begin,
    /// `EXEC` or `DISCARD`: nothing is queued any more.
    End,
    /// Nothing.
    Other,
}

impl TransactionStep {
    /// What the command with this name, in upper case, does.
    #[must_use]
    pub fn of(name: &str) -> Self {
        match name {
            "WATCH" => Self::Watch,
            "UNWATCH" => Self::Unwatch,
            "MULTI" => Self::Begin,
            "EXEC" | "DISCARD" => Self::End,
            _ => Self::Other,
        }
    }
}

/// Lines that have to be sent one after the other on one connection: a transaction, or a single command.
pub(super) type Unit = Vec<usize>;

/// A transaction that has begun, but not ended.
struct Open {
    lines: Unit,
    is_queueing: bool,
}

/// The units of lines, each given by its client and its step, in the order in which they ended; and the number of lines
/// that are left out: of transactions of which the recording does not have the beginning or the end.
///
/// MONITOR writes `MULTI` when it comes, but what is queued only when `EXEC` comes: others may be in between.
pub(super) fn units(lines: impl Iterator<Item = (usize, TransactionStep)>) -> (Vec<Unit>, usize) {
    let mut open: HashMap<usize, Open> = HashMap::new();
    let (mut units, mut left_out): (Vec<Unit>, usize) = (Vec::new(), 0);
    let mut steps = Vec::new();
    for (index, (client, step)) in lines.enumerate() {
        steps.push(step);
        let is_queueing = open.get(&client).map(|open| open.is_queueing);
        match (is_queueing, step) {
            (None, TransactionStep::Watch | TransactionStep::Begin) => {
                let is_queueing = step == TransactionStep::Begin;
                open.insert(client, Open { lines: vec![index], is_queueing });
            }
            (Some(true), TransactionStep::End) | (Some(false), TransactionStep::Unwatch) => {
                if let Some(mut ended) = open.remove(&client) {
                    ended.lines.push(index);
                    units.push(ended.lines);
                }
            }
            (None | Some(false), TransactionStep::End) | (Some(true), TransactionStep::Begin) => left_out += 1,
            (Some(_), _) => {
                if let Some(open) = open.get_mut(&client) {
                    open.lines.push(index);
                    open.is_queueing |= step == TransactionStep::Begin;
                }
            }
            (None, TransactionStep::Unwatch | TransactionStep::Other) => units.push(vec![index]),
        }
    }
    for index in open.into_values().flat_map(|open| open.lines) {
        if steps[index] == TransactionStep::Other {
            units.push(vec![index]);
        } else {
            left_out += 1;
        }
    }
    units.sort_unstable_by_key(|unit| unit.last().copied());
    (units, left_out)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{TransactionStep, Unit, units};

    /// Of lines such as `A:MULTI`.
    fn of(lines: &str) -> (Vec<Unit>, usize) {
        let line = |line: &str| {
            let (client, name) = line.split_once(':').expect("a client");
            (client.len(), TransactionStep::of(name))
        };
        units(lines.split_whitespace().map(line))
    }

    #[test]
    fn a_transaction_is_put_together_where_it_ended() {
        assert_eq!(of("a:MULTI bb:GET a:SET a:EXEC bb:GET"), (vec![vec![1], vec![0, 2, 3], vec![4]], 0));
        assert_eq!(of("a:WATCH a:GET bb:MULTI a:MULTI a:DISCARD bb:EXEC"), (vec![vec![0, 1, 3, 4], vec![2, 5]], 0));
        assert_eq!(of("a:WATCH a:WATCH bb:GET a:UNWATCH a:UNWATCH"), (vec![vec![2], vec![0, 1, 3], vec![4]], 0));
    }

    #[test]
    fn of_cut_transactions_only_the_commands_are_left() {
        assert_eq!(of("a:SET a:EXEC bb:GET a:MULTI"), (vec![vec![0], vec![2]], 2));
        assert_eq!(of("a:WATCH a:GET bb:GET a:EXEC"), (vec![vec![1], vec![2]], 2));
        assert_eq!(of("a:MULTI a:MULTI a:SET a:EXEC a:SET a:EXEC"), (vec![vec![0, 2, 3], vec![4]], 2));
    }

    proptest! {
        #[test]
        fn each_line_is_sent_once_and_no_transaction_is_left_open(lines in vec((0_usize..3, 0_usize..5), 0..40)) {
            let names = ["WATCH", "UNWATCH", "MULTI", "EXEC", "GET"];
            let steps: Vec<_> = lines.iter().map(|(client, name)| (*client, TransactionStep::of(names[*name]))).collect();
            let (units, left_out) = units(steps.iter().copied());
            let mut sent: Vec<usize> = units.concat();
            prop_assert_eq!(sent.len() + left_out, steps.len());
            let (is_queueing, in_order) = units.iter().flatten().fold((false, true), |(is_queueing, in_order), index| {
                match steps[*index].1 {
                    TransactionStep::Begin => (true, in_order && !is_queueing),
                    TransactionStep::End => (false, in_order && is_queueing),
                    _ => (is_queueing, in_order),
                }
            });
            prop_assert!(in_order && !is_queueing);
            for unit in &units {
                prop_assert!(unit.iter().all(|index| steps[*index].0 == steps[unit[0]].0));
            }
            sent.sort_unstable();
            sent.dedup();
            prop_assert_eq!(sent.len() + left_out, steps.len());
            let commands = steps.iter().filter(|(_, step)| *step == TransactionStep::Other).count();
            let sent_commands = sent.iter().filter(|index| steps[**index].1 == TransactionStep::Other).count();
            prop_assert_eq!(sent_commands, commands);
        }
    }
}
