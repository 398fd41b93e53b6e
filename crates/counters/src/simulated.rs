//! Machines that tests make up, at the system call's edge.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::io;
use std::rc::Rc;

use crate::event::{Event, Level};
use crate::machine::{GroupReading, Machine};

pub(crate) const EXERCISE_NS: u64 = 1_000_000;
/// What each event counts in a nanosecond, in a thousandth.
const PER_THOUSAND_NS: u64 = 2000;

/// A processor with so many counters, of which the kernel knows how many it can give at most, not who else has some.
pub(crate) struct Simulated {
    pub(crate) counters: usize,
    /// Taken by others: what does not fit any more is only seen when it runs.
    pub(crate) taken: usize,
    /// Groups that do not fit get counters for half of the time.
    pub(crate) rotates: Cell<bool>,
    pub(crate) unsupported: HashSet<Event>,
    pub(crate) denied: Option<Level>,
    pub(crate) broken: HashSet<Event>,
    /// Threads that end between being listed and being opened.
    pub(crate) vanishing: HashSet<u32>,
    /// What listing the threads of a process returns, call by call; the last answer stays.
    listings: RefCell<HashMap<u32, Vec<Vec<u32>>>>,
    state: Rc<RefCell<State>>,
}

#[derive(Default)]
struct State {
    ran_ns: HashMap<u32, u64>,
    groups: Vec<Group>,
    opened: usize,
}

struct Group {
    thread: u32,
    events: Vec<Event>,
    pinned: bool,
    enabled: bool,
    open: bool,
    began_ns: u64,
}

/// The index of a group of which this is the leader, or a member.
pub(crate) struct SimulatedCounter {
    group: usize,
    leads: bool,
    state: Rc<RefCell<State>>,
}

impl Drop for SimulatedCounter {
    fn drop(&mut self) {
        if self.leads {
            self.state.borrow_mut().groups[self.group].open = false;
        }
    }
}

impl Simulated {
    pub(crate) fn with_counters(counters: usize) -> Self {
        Self {
            counters,
            taken: 0,
            rotates: Cell::new(false),
            unsupported: HashSet::new(),
            denied: None,
            broken: HashSet::new(),
            vanishing: HashSet::new(),
            listings: RefCell::default(),
            state: Rc::default(),
        }
    }

    /// Lets a process have these threads, listing by listing.
    pub(crate) fn process(&self, process: u32, listings: &[&[u32]]) {
        let listings = listings.iter().rev().map(|threads| threads.to_vec()).collect();
        self.listings.borrow_mut().insert(process, listings);
    }

    /// Lets a thread run; it starts no others, so what it counts is its own.
    pub(crate) fn run(&self, thread: u32, nanoseconds: u64) {
        *self.state.borrow_mut().ran_ns.entry(thread).or_default() += nanoseconds;
    }

    pub(crate) fn open_groups(&self) -> usize {
        self.state.borrow().groups.iter().filter(|group| group.open).count()
    }

    fn refused(&self, event: Event, thread: u32) -> Option<i32> {
        if self.vanishing.contains(&thread) {
            return Some(libc::ESRCH);
        }
        if self.denied == Some(event.level()) {
            return Some(libc::EACCES);
        }
        self.unsupported.contains(&event).then_some(libc::ENOENT)
    }

    /// The part of the time that a group has counters, in hundredths: those before it on its thread go first.
    fn share(&self, state: &State, number: usize) -> u64 {
        let group = &state.groups[number];
        let before = state.groups[..number].iter().filter(|other| other.open && other.thread == group.thread);
        let needed: usize = before.map(|other| other.events.len()).sum::<usize>() + group.events.len();
        if needed + self.taken <= self.counters {
            return 100;
        }
        if self.rotates.get() { 50 } else { 0 }
    }
}

impl Machine for Simulated {
    type Counter = SimulatedCounter;

    fn threads(&self, process: u32) -> io::Result<Vec<u32>> {
        let mut listings = self.listings.borrow_mut();
        let left = listings.get_mut(&process).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))?;
        if left.len() > 1 {
            return Ok(left.pop().unwrap_or_default());
        }
        left.first().cloned().ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))
    }

    fn open_leader(&self, event: Event, thread: u32, pinned: bool) -> io::Result<SimulatedCounter> {
        if let Some(error) = self.refused(event, thread) {
            return Err(io::Error::from_raw_os_error(error));
        }
        let mut state = self.state.borrow_mut();
        state.opened += 1;
        let began_ns = state.ran_ns.get(&thread).copied().unwrap_or_default();
        let events = vec![event];
        state.groups.push(Group { thread, events, pinned, enabled: false, open: true, began_ns });
        Ok(SimulatedCounter { group: state.groups.len() - 1, leads: true, state: Rc::clone(&self.state) })
    }

    fn open_member(&self, event: Event, thread: u32, leader: &mut SimulatedCounter) -> io::Result<SimulatedCounter> {
        if let Some(error) = self.refused(event, thread) {
            return Err(io::Error::from_raw_os_error(error));
        }
        let mut state = self.state.borrow_mut();
        let group = &mut state.groups[leader.group];
        if group.events.len() == self.counters {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        group.events.push(event);
        Ok(SimulatedCounter { group: leader.group, leads: false, state: Rc::clone(&self.state) })
    }

    fn enable(&self, leader: &mut SimulatedCounter) -> io::Result<()> {
        self.state.borrow_mut().groups[leader.group].enabled = true;
        Ok(())
    }

    fn read(&self, leader: &mut SimulatedCounter) -> io::Result<GroupReading> {
        let state = self.state.borrow();
        let group = &state.groups[leader.group];
        assert!(group.enabled, "a group is read that was never enabled");
        let ran_ns = state.ran_ns.get(&group.thread).copied().unwrap_or_default() - group.began_ns;
        let share = self.share(&state, leader.group);
        if group.pinned && share < 100 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let running_ns = ran_ns * share / 100;
        let count = |event| if self.broken.contains(event) { 0 } else { running_ns * PER_THOUSAND_NS / 1000 };
        Ok(GroupReading { enabled_ns: ran_ns, running_ns, values: group.events.iter().map(count).collect() })
    }

    fn exercise(&self) {
        self.run(0, EXERCISE_NS);
    }
}
