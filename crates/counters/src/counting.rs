//! Groups of events on all threads of processes.

use std::collections::HashSet;
use std::io;

use thiserror::Error;

use crate::event::Event;
use crate::machine::{GroupReading, Machine};
use crate::refusal::Refusal;

/// How often attaching begins anew where threads start meanwhile.
const ATTEMPTS: usize = 5;

/// Why processes are not counted.
#[derive(Debug, Error)]
pub enum AttachError {
    /// There is no such process.
    #[error("process {0} is gone")]
    Gone(u32),
    /// It cannot be known which threads are counted already, as those that were attached to start them.
    #[error("process {0} starts threads all the time")]
    Restless(u32),
    /// The system refuses an event.
    #[error("{}: {refusal}", event.name())]
    Refused {
        /// The first one.
        event: Event,
        /// The reason.
        refusal: Refusal,
    },
}

/// Counters on all threads of processes, and on the threads and processes that these start later.
///
/// The first group is pinned: where other groups share counters, it still has its own.
pub struct Counting<'machine, M: Machine> {
    machine: &'machine M,
    groups: Vec<Vec<Event>>,
    attached: Vec<Attached<M::Counter>>,
}

/// A group on one thread; `group` is its index.
struct Attached<C> {
    group: usize,
    leader: C,
    _members: Vec<C>,
}

/// What all groups had counted at one moment.
#[derive(Clone, Debug)]
pub struct Reading(Vec<Result<GroupReading, Refusal>>);

/// What was counted between two readings, over all threads. A group is in `values` with all of its events, or in
/// `refused` with the event that is why, or its first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of each event.
    pub values: Vec<(Event, u64)>,
    /// The groups that are not used, with the reason.
    pub refused: Vec<(Event, Refusal)>,
}

impl<'machine, M: Machine> Counting<'machine, M> {
    /// Attaches groups to all threads of processes.
    ///
    /// # Errors
    /// When a process is gone, or the system refuses an event; then nothing is counted.
    pub fn attach(machine: &'machine M, processes: &[u32], groups: &[Vec<Event>]) -> Result<Self, AttachError> {
        let mut attached = Vec::new();
        for &process in processes {
            attached.extend(attach_to_process(machine, process, groups)?);
        }
        Ok(Self { machine, groups: groups.to_vec(), attached })
    }

    /// Attaches groups to the caller's thread.
    pub(crate) fn attach_to_caller(machine: &'machine M, groups: &[Vec<Event>]) -> Result<Self, Refusal> {
        match attach_to_thread(machine, 0, groups) {
            Ok(attached) => Ok(Self { machine, groups: groups.to_vec(), attached }),
            Err(NotAttached::ThreadGone) => Err(Refusal::System("the thread is gone".to_owned())),
            Err(NotAttached::Refused(_, refusal)) => Err(refusal),
        }
    }

    /// Reads all groups of all threads, each by one system call.
    #[must_use]
    pub fn read(&mut self) -> Reading {
        let machine = self.machine;
        let read =
            |one: &mut Attached<M::Counter>| machine.read(&mut one.leader).map_err(|error| Refusal::of_reading(&error));
        Reading(self.attached.iter_mut().map(read).collect())
    }

    /// What was counted from one reading to a later one.
    #[must_use]
    pub fn between(&self, earlier: &Reading, later: &Reading) -> Counts {
        let mut counts = Counts::default();
        for (number, events) in self.groups.iter().enumerate() {
            let of_group = self.attached.iter().zip(&earlier.0).zip(&later.0);
            let readings = of_group.filter(|((one, _), _)| one.group == number).map(|((_, from), to)| (from, to));
            match sum(events, readings) {
                Ok(values) => counts.values.extend(events.iter().copied().zip(values)),
                Err((place, refusal)) => counts.refused.extend(events.get(place).map(|&event| (event, refusal))),
            }
        }
        counts
    }
}

/// The events of a group over all threads. Threads that did not run count nothing; all together count something. A
/// refusal is returned with the place of the event that it concerns.
fn sum<'a>(
    events: &[Event],
    readings: impl Iterator<Item = (&'a Result<GroupReading, Refusal>, &'a Result<GroupReading, Refusal>)>,
) -> Result<Vec<u64>, (usize, Refusal)> {
    let of_group = |refusal: Refusal| (0, refusal);
    let mut sums = vec![0_u64; events.len()];
    for (from, to) in readings {
        let (from, to) = (from.clone().map_err(of_group)?, to.clone().map_err(of_group)?);
        let enabled_ns = to.enabled_ns.saturating_sub(from.enabled_ns);
        let running_ns = to.running_ns.saturating_sub(from.running_ns);
        if running_ns < enabled_ns {
            return Err(of_group(if running_ns == 0 { Refusal::DoesNotFit } else { Refusal::Multiplexed }));
        }
        for (index, sum) in sums.iter_mut().enumerate() {
            let value = |reading: &GroupReading| reading.values.get(index).copied();
            let (Some(before), Some(after)) = (value(&from), value(&to)) else {
                return Err((index, Refusal::System("the kernel returned fewer values than events".to_owned())));
            };
            *sum += after.saturating_sub(before);
        }
    }
    match sums.iter().position(|&sum| sum == 0) {
        Some(place) => Err((place, Refusal::CountsNothing)),
        None => Ok(sums),
    }
}

/// Why a thread is not counted.
enum NotAttached {
    ThreadGone,
    Refused(Event, Refusal),
}

/// A thread that starts while others are attached to may be counted by the one that started it, or by none: then all
/// begins anew.
fn attach_to_process<M: Machine>(
    machine: &M,
    process: u32,
    groups: &[Vec<Event>],
) -> Result<Vec<Attached<M::Counter>>, AttachError> {
    let threads = || machine.threads(process).map_err(|_| AttachError::Gone(process));
    for _ in 0..ATTEMPTS {
        let before: HashSet<u32> = threads()?.into_iter().collect();
        let mut attached = Vec::new();
        for &thread in &before {
            match attach_to_thread(machine, thread, groups) {
                Ok(of_thread) => attached.extend(of_thread),
                Err(NotAttached::ThreadGone) => {}
                Err(NotAttached::Refused(event, refusal)) => return Err(AttachError::Refused { event, refusal }),
            }
        }
        let after = threads()?;
        if after.is_empty() || attached.is_empty() {
            return Err(AttachError::Gone(process));
        }
        if after.iter().all(|thread| before.contains(thread)) {
            return Ok(attached);
        }
    }
    Err(AttachError::Restless(process))
}

fn attach_to_thread<M: Machine>(
    machine: &M,
    thread: u32,
    groups: &[Vec<Event>],
) -> Result<Vec<Attached<M::Counter>>, NotAttached> {
    groups
        .iter()
        .enumerate()
        .filter_map(|(group, events)| events.split_first().map(|(&first, others)| (group, first, others)))
        .map(|(group, first, others)| {
            let failed = |event: Event, error: &io::Error, refusal: fn(&io::Error) -> Refusal| {
                if error.raw_os_error() == Some(libc::ESRCH) {
                    NotAttached::ThreadGone
                } else {
                    NotAttached::Refused(event, refusal(error))
                }
            };
            let mut leader = machine
                .open_leader(first, thread, group == 0)
                .map_err(|error| failed(first, &error, Refusal::of_leader))?;
            let mut members = Vec::with_capacity(others.len());
            for &event in others {
                let member = machine.open_member(event, thread, &mut leader);
                members.push(member.map_err(|error| failed(event, &error, Refusal::of_member))?);
            }
            machine.enable(&mut leader).map_err(|error| failed(first, &error, Refusal::of_leader))?;
            Ok(Attached { group, leader, _members: members })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{AttachError, Counting};
    use crate::event::{Event, Level};
    use crate::refusal::Refusal;
    use crate::simulated::Simulated;

    const SERVER: u32 = 100;

    fn groups() -> Vec<Vec<Event>> {
        vec![vec![Event::Instructions, Event::Cycles], vec![Event::CacheMisses]]
    }

    #[test]
    fn all_threads_of_all_processes_are_added_up() {
        let machine = Simulated::with_counters(3);
        machine.process(SERVER, &[&[100, 101]]);
        machine.process(200, &[&[200]]);
        let mut counting = Counting::attach(&machine, &[SERVER, 200], &groups()).expect("it attaches");
        machine.run(100, 7);
        let before = counting.read();
        for (thread, nanoseconds) in [(100, 1000), (101, 500), (200, 250)] {
            machine.run(thread, nanoseconds);
        }
        let after = counting.read();
        let counts = counting.between(&before, &after);
        let expected = [Event::Instructions, Event::Cycles, Event::CacheMisses].map(|event| (event, 3500));
        assert_eq!(counts.values, expected);
        assert!(counts.refused.is_empty());
    }

    #[test]
    fn threads_that_rest_do_not_count_against_those_that_run() {
        let machine = Simulated::with_counters(3);
        machine.process(SERVER, &[&[100, 101]]);
        let mut counting = Counting::attach(&machine, &[SERVER], &groups()).expect("it attaches");
        let before = counting.read();
        machine.run(100, 1000);
        let after = counting.read();
        assert_eq!(counting.between(&before, &after).values[0], (Event::Instructions, 2000));
    }

    #[test]
    fn a_group_that_shared_its_counters_is_refused_alone() {
        let machine = Simulated::with_counters(2);
        machine.process(SERVER, &[&[100]]);
        let mut counting = Counting::attach(&machine, &[SERVER], &groups()).expect("it attaches");
        let mut counts = |rotates| {
            machine.rotates.set(rotates);
            let before = counting.read();
            machine.run(100, 1000);
            let after = counting.read();
            counting.between(&before, &after)
        };
        assert_eq!(counts(false).refused, [(Event::CacheMisses, Refusal::DoesNotFit)]);
        let multiplexed = counts(true);
        assert_eq!(multiplexed.refused, [(Event::CacheMisses, Refusal::Multiplexed)]);
        assert_eq!(multiplexed.values.len(), 2);
    }

    #[test]
    fn a_pinned_group_without_counters_is_refused() {
        let mut machine = Simulated::with_counters(3);
        machine.taken = 2;
        machine.process(SERVER, &[&[100]]);
        let mut counting = Counting::attach(&machine, &[SERVER], &groups()).expect("it attaches");
        let before = counting.read();
        machine.run(100, 1000);
        let after = counting.read();
        let refused = counting.between(&before, &after).refused;
        assert_eq!(refused[0], (Event::Instructions, Refusal::DoesNotFit));
    }

    #[test]
    fn a_value_of_zero_refuses_its_group() {
        let mut machine = Simulated::with_counters(3);
        machine.broken = HashSet::from([Event::Cycles]);
        machine.process(SERVER, &[&[100]]);
        let mut counting = Counting::attach(&machine, &[SERVER], &groups()).expect("it attaches");
        let before = counting.read();
        machine.run(100, 1000);
        let after = counting.read();
        let counts = counting.between(&before, &after);
        assert_eq!(counts.refused, [(Event::Cycles, Refusal::CountsNothing)]);
        assert_eq!(counts.values, [(Event::CacheMisses, 2000)]);
    }

    #[test]
    fn attaching_begins_anew_where_a_thread_starts_meanwhile() {
        let machine = Simulated::with_counters(3);
        machine.process(SERVER, &[&[100], &[100, 101], &[100, 101]]);
        let counting = Counting::attach(&machine, &[SERVER], &groups()).expect("it attaches");
        assert_eq!(machine.open_groups(), 4);
        drop(counting);
        assert_eq!(machine.open_groups(), 0);
    }

    #[test]
    fn a_process_whose_threads_never_settle_is_not_counted() {
        let machine = Simulated::with_counters(3);
        let listings: Vec<Vec<u32>> = (0..20).map(|number| (100..=100 + number).collect()).collect();
        machine.process(SERVER, &listings.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let refused = Counting::attach(&machine, &[SERVER], &groups()).err();
        assert!(matches!(refused, Some(AttachError::Restless(SERVER))));
        assert_eq!(machine.open_groups(), 0);
    }

    #[test]
    fn a_thread_that_ends_meanwhile_is_left_out() {
        let mut machine = Simulated::with_counters(3);
        machine.vanishing = HashSet::from([101]);
        machine.process(SERVER, &[&[100, 101], &[100]]);
        let _counting = Counting::attach(&machine, &[SERVER], &groups()).expect("it attaches");
        assert_eq!(machine.open_groups(), 2);
    }

    #[test]
    fn a_process_that_is_gone_is_named() {
        let mut machine = Simulated::with_counters(3);
        assert!(matches!(Counting::attach(&machine, &[7], &groups()).err(), Some(AttachError::Gone(7))));
        machine.vanishing = HashSet::from([100]);
        machine.process(SERVER, &[&[100]]);
        assert!(matches!(Counting::attach(&machine, &[SERVER], &groups()).err(), Some(AttachError::Gone(SERVER))));
    }

    #[test]
    fn the_event_that_the_system_refuses_is_named() {
        let mut machine = Simulated::with_counters(3);
        machine.denied = Some(Level::User);
        machine.process(SERVER, &[&[100]]);
        let refused = Counting::attach(&machine, &[SERVER], &groups()).err().expect("it is refused");
        assert_eq!(refused.to_string(), "instructions:u: not permitted");
    }
}
