//! What a run has come to so far, on standard error.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use zerolap_load_measure::{Goal, Live, LiveCounts, LoadError, Phase};
use zerolap_load_requests::Settings;

use crate::terminal::{has_terminal, steer};

/// Time between two looks on a terminal, where one line is written over and over.
const ON_TERMINAL: Duration = Duration::from_secs(1);
/// Time between two lines elsewhere.
const ELSEWHERE: Duration = Duration::from_secs(10);
/// Goes back to the start of a terminal's line and clears it.
const CLEAR_LINE: &str = "\r\x1b[K";
const BYTES_PER_MB: f64 = 1024.0 * 1024.0;

/// Shows how far a run is, until it is dropped: on a terminal in one line that is written over every second, elsewhere
/// in a line every ten seconds.
#[derive(Debug)]
pub struct ProgressDisplay {
    /// Taken away to make the thread end.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    is_terminal: bool,
}

impl ProgressDisplay {
    /// Begins to show what `live` counts.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub fn start(live: Arc<Live>, settings: &Settings) -> Result<Self, LoadError> {
        let (stop, stopped) = channel::<()>();
        let who = match (&settings.listening, settings.commands.is_empty()) {
            (Some(listening), true) => format!("{} listeners", listening.connections),
            _ => format!("{:2} threads {:2} conns", settings.threads, settings.connections()),
        };
        let is_terminal = has_terminal();
        let interval = if is_terminal { ON_TERMINAL } else { ELSEWHERE };
        let show = move || {
            let mut shown: Option<(Phase, Instant, LiveCounts)> = None;
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                let Some(phase) = live.current() else { continue };
                let (now, counts) = (Instant::now(), live.counts());
                let before = shown.filter(|(known, ..)| known.began == phase.began);
                let (since, earlier) =
                    before.map_or((phase.began, LiveCounts::default()), |(_, at, counts)| (at, counts));
                let (times, counted) = ([now - phase.began, now - since], [counts, counts.since(earlier)]);
                let text = line(phase, &who, times, counted);
                steer(&if is_terminal { format!("{CLEAR_LINE}{text}") } else { format!("{text}\n") });
                shown = Some((phase, now, counts));
            }
            if is_terminal && shown.is_some() {
                steer(CLEAR_LINE);
            }
        };
        let thread = Builder::new().name("progress".to_owned()).spawn(show).map_err(LoadError::Thread)?;
        Ok(Self { stop: Some(stop), thread: Some(thread), is_terminal })
    }
}

impl ProgressDisplay {
    /// Clears its line, if it has one, for something else.
    pub fn clear(&self) {
        if self.is_terminal {
            steer(CLEAR_LINE);
        }
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        self.stop = None;
        // Progress that cannot be written is lost.
        self.thread.take().map(JoinHandle::join);
    }
}

/// One line in the manner of `memtier_benchmark`; times and counts are those since the phase began, then those since the
/// last line.
fn line(phase: Phase, who: &str, [all, recent]: [Duration; 2], [total, latest]: [LiveCounts; 2]) -> String {
    let per_second = |count: u64, time: Duration| count as f64 / time.as_secs_f64().max(1e-9);
    let done = match phase.goal {
        Goal::After(time) => all.as_secs_f64() / time.as_secs_f64().max(1e-9),
        Goal::Requests(requests) => total.requests as f64 / (requests as f64).max(1.0),
    };
    let name = if phase.name == "measure" { String::new() } else { format!("{} ", phase.name.replace('_', " ")) };
    let (percent, seconds) = (done.clamp(0.0, 1.0) * 100.0, all.as_secs_f64());
    let mut line = format!("[RUN #{} {name}{percent:.0}%, {seconds:3.0} secs] {who}", phase.run);
    if total.requests > 0 || !who.ends_with("listeners") {
        let rates = [(latest, recent), (total, all)].map(|(counts, time)| {
            let latency_ms = counts.latency_ns as f64 / (counts.requests as f64).max(1.0) / 1e6;
            (per_second(counts.requests, time), per_second(counts.bytes, time) / BYTES_PER_MB, latency_ms)
        });
        let [(now, now_mb, latency), (average, average_mb, average_latency)] = rates;
        // Writing to a text cannot fail.
        let _ = write!(
            line,
            ": {:11} ops, {now:7.0} (avg: {average:7.0}) ops/sec, {now_mb:.2}MB/sec (avg: {average_mb:.2}MB/sec), \
             {latency:5.2} (avg: {average_latency:5.2}) msec latency",
            total.requests
        );
    }
    line
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use zerolap_load_measure::{Goal, LiveCounts, Phase};

    use super::line;

    fn phase(name: &'static str, goal: Goal) -> Phase {
        Phase { run: 2, name, goal, began: Instant::now() }
    }

    #[test]
    fn a_line_has_the_last_rates_and_those_of_the_whole_run() {
        let counts = |requests: u64, latency_ms: u64, bytes_mb: u64| LiveCounts {
            requests,
            latency_ns: requests * latency_ms * 1_000_000,
            bytes: bytes_mb << 20,
        };
        let (times, counted) =
            ([Duration::from_secs(15), Duration::from_secs(1)], [counts(30_000, 2, 30), counts(1_000, 5, 3)]);
        assert_eq!(
            line(phase("measure", Goal::After(Duration::from_secs(60))), " 4 threads 200 conns", times, counted),
            "[RUN #2 25%,  15 secs]  4 threads 200 conns:       30000 ops,    1000 (avg:    2000) ops/sec, \
             3.00MB/sec (avg: 2.00MB/sec),  5.00 (avg:  2.00) msec latency"
        );
        let by_requests = line(phase("warm_up", Goal::Requests(40_000)), "x", times, counted);
        assert!(by_requests.starts_with("[RUN #2 warm up 75%,  15 secs] x:"), "{by_requests}");
        let nothing = [LiveCounts::default(); 2];
        let listening = line(phase("measure", Goal::After(Duration::from_secs(30))), "5 listeners", times, nothing);
        assert_eq!(listening, "[RUN #2 50%,  15 secs] 5 listeners");
    }
}
