//! The real system call, on running processes: by events of the kernel, which every machine counts, and by those of the
//! processor where there are any.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use zerolap_counters::{AttachError, Counting, Event, Linux, Refusal, fitting};

/// A shell that carries out a line and answers it; it ends with the test.
struct Shell(Child);

impl Shell {
    fn start() -> Self {
        let mut command = Command::new("sh");
        Self(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sh starts"))
    }

    fn carry_out(&mut self, line: &str) {
        let input = self.0.stdin.as_mut().expect("it has an input");
        writeln!(input, "{line}; echo done").expect("it reads");
        let mut answer = String::new();
        BufReader::new(self.0.stdout.as_mut().expect("it has an output")).read_line(&mut answer).expect("it answers");
        assert_eq!(answer, "done\n");
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const WORK: &str = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";

/// Attaches to a process; none where this machine does not permit it.
fn attach(process: u32, groups: &[Vec<Event>]) -> Option<Counting<'static, Linux>> {
    match Counting::attach(&Linux, &[process], groups) {
        Ok(counting) => Some(counting),
        Err(AttachError::Refused { event, refusal: refusal @ (Refusal::NotPermitted | Refusal::NotSupported) }) => {
            eprintln!("skipped: {}: {refusal}", event.name());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_running_process_is_counted_from_the_moment_of_a_reading() {
    let mut shell = Shell::start();
    shell.carry_out(WORK);
    let groups = [vec![Event::TaskClock], vec![Event::TaskClock]];
    let Some(mut counting) = attach(shell.0.id(), &groups) else { return };
    let before = counting.read();
    shell.carry_out(WORK);
    let after = counting.read();

    let counts = counting.between(&before, &after);
    assert_eq!(counts.refused, []);
    assert_eq!(counting.between(&before, &before).values, []);
    let in_groups: Vec<u64> =
        counts.values.iter().filter(|(event, _)| *event == Event::TaskClock).map(|&(_, value)| value).collect();
    assert_eq!(in_groups.len(), groups.len());
    assert!(in_groups.iter().all(|&nanoseconds| nanoseconds > 0), "{counts:?}");
}

#[test]
fn events_of_a_group_keep_their_order() {
    let mut shell = Shell::start();
    let groups = [vec![Event::TaskClock, Event::PageFaults]];
    let Some(mut counting) = attach(shell.0.id(), &groups) else { return };
    let before = counting.read();
    // Each process that it starts has pages of its own.
    shell.carry_out("(true); (true); (true)");
    let after = counting.read();
    let counts = counting.between(&before, &after);
    let [(Event::TaskClock, nanoseconds), (Event::PageFaults, faults)] = counts.values[..] else {
        panic!("{counts:?}");
    };
    // A page fault takes more than ten nanoseconds.
    assert!(faults > 0 && nanoseconds > 10 * faults, "{counts:?}");
}

#[test]
fn what_a_process_starts_later_is_counted_with_it() {
    let mut shell = Shell::start();
    let groups = [vec![Event::TaskClock]];
    let Some(mut counting) = attach(shell.0.id(), &groups) else { return };
    let mut nanoseconds = |line: &str| {
        let before = counting.read();
        shell.carry_out(line);
        let after = counting.read();
        counting.between(&before, &after).values[0].1
    };
    // The shell itself only waits for the child.
    let (waiting, working) = (nanoseconds("(true)"), nanoseconds(&format!("({WORK}; {WORK}; {WORK}; {WORK})")));
    assert!(working > waiting, "{working} ns of a child at work, {waiting} ns of one that only starts");
}

#[test]
fn a_process_that_has_ended_is_refused() {
    let mut ended = Command::new("true").spawn().expect("it starts");
    ended.wait().expect("it ends");
    let refused = Counting::attach(&Linux, &[ended.id()], &[vec![Event::TaskClock]]).err();
    assert!(matches!(refused, Some(AttachError::Gone(process)) if process == ended.id()));
}

#[test]
fn the_processors_own_counters_count_where_there_are_any() {
    let found = fitting(&Linux);
    if found.groups.is_empty() {
        eprintln!("skipped: {:?}", found.refused);
        return;
    }
    let mut shell = Shell::start();
    let mut counting = attach(shell.0.id(), &found.groups).expect("what fits can be attached");
    let before = counting.read();
    shell.carry_out(WORK);
    let after = counting.read();
    let counts = counting.between(&before, &after);
    if !counts.refused.is_empty() {
        // Others may count at the same time, and what such a small program misses may be nothing.
        eprintln!("skipped: {:?}", counts.refused);
        return;
    }
    assert!(counts.values.iter().all(|&(_, value)| value > 0), "{counts:?}");
    assert_eq!(counts.values.first().map(|&(event, _)| event), found.groups[0].first().copied());
}
