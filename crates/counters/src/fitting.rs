//! Which events a machine counts at the same time.

use crate::counting::Counting;
use crate::event::Event;
use crate::machine::Machine;
use crate::refusal::Refusal;

/// The first group, most important first: what does not fit any more is left out.
const TOGETHER: [Event; 5] =
    [Event::Instructions, Event::Cycles, Event::KernelCycles, Event::BranchMisses, Event::KernelInstructions];

/// Groups of their own, so that one of them that gets no counters costs the others nothing.
const BESIDE: [Event; 2] = [Event::CacheMisses, Event::TlbMisses];

/// What a machine counts: groups that all run at the same time, and the events that it does not count beside them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitting {
    /// Empty where there are no counters.
    pub groups: Vec<Vec<Event>>,
    /// The events that are in no group, with the reason.
    pub refused: Vec<(Event, Refusal)>,
}

/// Tries the events on the caller's thread, which works for some milliseconds for each that is there.
#[must_use]
pub fn fitting<M: Machine>(machine: &M) -> Fitting {
    let mut refused = Vec::new();
    let mut together = Vec::new();
    for event in TOGETHER {
        together.push(event);
        if let Err(refusal) = try_groups(machine, std::slice::from_ref(&together)) {
            together.pop();
            refused.push((event, refusal));
        }
    }
    if together.is_empty() {
        return Fitting { groups: Vec::new(), refused };
    }
    let mut groups = vec![together];
    for event in BESIDE {
        groups.push(vec![event]);
        if let Err(refusal) = try_groups(machine, &groups) {
            groups.pop();
            refused.push((event, refusal));
        }
    }
    Fitting { groups, refused }
}

fn try_groups<M: Machine>(machine: &M, groups: &[Vec<Event>]) -> Result<(), Refusal> {
    let mut counting = Counting::attach_to_caller(machine, groups)?;
    let before = counting.read();
    machine.exercise();
    let after = counting.read();
    match counting.between(&before, &after).refused.pop() {
        None => Ok(()),
        Some((_, refusal)) => Err(refusal),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Fitting, TOGETHER, fitting};
    use crate::event::{Event, Level};
    use crate::refusal::Refusal;
    use crate::simulated::Simulated;

    #[test]
    fn a_machine_with_enough_counters_counts_everything() {
        let machine = Simulated::with_counters(8);
        let groups = vec![TOGETHER.to_vec(), vec![Event::CacheMisses], vec![Event::TlbMisses]];
        assert_eq!(fitting(&machine), Fitting { groups, refused: vec![] });
        assert_eq!(machine.open_groups(), 0);
    }

    #[test]
    fn what_does_not_fit_into_the_group_or_beside_it_is_left_out() {
        let machine = Simulated::with_counters(4);
        let found = fitting(&machine);
        assert_eq!(found.groups, vec![TOGETHER[..4].to_vec()]);
        let left_out = [Event::KernelInstructions, Event::CacheMisses, Event::TlbMisses];
        assert_eq!(found.refused, left_out.map(|event| (event, Refusal::DoesNotFit)).to_vec());
    }

    #[test]
    fn counters_that_others_hold_are_only_missed_at_work() {
        let mut machine = Simulated::with_counters(4);
        machine.taken = 1;
        assert_eq!(fitting(&machine).groups, vec![TOGETHER[..3].to_vec()]);
        machine.rotates.set(true);
        assert_eq!(fitting(&machine).groups, vec![TOGETHER[..3].to_vec()]);
    }

    #[test]
    fn a_machine_without_counters_has_no_groups() {
        let mut machine = Simulated::with_counters(8);
        machine.unsupported = Event::ALL.into_iter().collect();
        let found = fitting(&machine);
        assert!(found.groups.is_empty());
        assert_eq!(found.refused, TOGETHER.map(|event| (event, Refusal::NotSupported)).to_vec());
    }

    #[test]
    fn the_program_alone_is_counted_where_the_kernel_is_not_to_be() {
        let mut machine = Simulated::with_counters(8);
        machine.denied = Some(Level::Kernel);
        let found = fitting(&machine);
        assert_eq!(found.groups[0], vec![Event::Instructions, Event::Cycles, Event::BranchMisses]);
        let denied = [Event::KernelCycles, Event::KernelInstructions];
        assert_eq!(found.refused, denied.map(|event| (event, Refusal::NotPermitted)).to_vec());
    }

    #[test]
    fn events_that_count_nothing_are_left_out() {
        let mut machine = Simulated::with_counters(8);
        machine.broken = HashSet::from([Event::Instructions, Event::CacheMisses]);
        let found = fitting(&machine);
        assert_eq!(found.groups, vec![TOGETHER[1..].to_vec(), vec![Event::TlbMisses]]);
        assert_eq!(found.refused.len(), 2);
        assert!(found.refused.iter().all(|(_, refusal)| *refusal == Refusal::CountsNothing));
    }
}
