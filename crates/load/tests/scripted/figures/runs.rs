//! Several runs, reported together and apart.

use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{count, number};
use crate::support::load;
use crate::support::scripted::Scripted;

/// Each connection but the first takes a third of its time.
fn slow_at_first() -> Value {
    let server = Scripted::start(|peer| {
        let pause = Duration::from_millis(if peer.connection() == 0 { 15 } else { 5 });
        peer.serve(|_, _| {
            thread::sleep(pause);
            "$1\r\nx\r\n".to_owned()
        });
    });
    load(&server, &["-t", "1", "-c", "1", "-n", "20", "-x", "3", "--print-all-runs", "--command", "GET a"])
}

#[test]
fn the_best_and_the_worst_run_are_those_that_were() {
    let document = slow_at_first();
    let rate = |name: &str| number(&document[name]["Totals"]["Ops/sec"]);
    let rates = ["RUN #1 RESULTS", "RUN #2 RESULTS", "RUN #3 RESULTS"].map(|name| (rate(name), &document[name]));
    let is_run = |name: &str| rates.iter().any(|(_, run)| *run == &document[name]);
    assert!(is_run("WORST RUN RESULTS") && is_run("BEST RUN RESULTS"));
    assert!(rates.iter().all(|(of_run, _)| (rate("WORST RUN RESULTS")..=rate("BEST RUN RESULTS")).contains(of_run)));
}

#[test]
fn all_runs_together_are_their_counts_over_their_times() {
    let document = slow_at_first();
    let all = &document["AGGREGATED AVERAGE RESULTS (3 runs)"];
    let runs = [1, 2, 3].map(|run| &document[format!("RUN #{run} RESULTS")]);
    let sum = |name: &str| runs.iter().map(|run| number(&run["Runtime"][name])).sum::<f64>();
    assert!((number(&all["Runtime"]["Total duration"]) - sum("Total duration")).abs() <= 3.0);
    assert_eq!(count(&all["Totals"]["Count"]), 60);
    let seconds = number(&document["lab"]["elapsed_ns"]) / 1e9;
    assert!((number(&all["Totals"]["Ops/sec"]) * seconds - 60.0).abs() < 0.01 * seconds);
    assert!((number(&document["lab"]["ops_per_sec"]) * seconds - 60.0).abs() < 1e-6);
    // 20 of 60 replies took 15 ms; the average of the runs' medians would be 8 ms at least.
    let slowest = |name: &str| number(&all["Gets"]["Percentile Latencies"][name]);
    assert!(slowest("p99.00") >= 15.0, "{}", all["Gets"]["Percentile Latencies"]);
    let greatest = runs.iter().map(|run| number(&run["Gets"]["Max Latency"])).fold(0.0, f64::max);
    assert!((number(&all["Gets"]["Max Latency"]) - greatest).abs() < 1e-9);
}

#[test]
fn each_run_begins_after_the_one_before() {
    let document = slow_at_first();
    let times = [1, 2, 3].map(|run| {
        let runtime = &document[format!("RUN #{run} RESULTS")]["Runtime"];
        (count(&runtime["Start time"]), count(&runtime["Finish time"]), count(&runtime["Total duration"]))
    });
    assert!(times.windows(2).all(|pair| pair[0].1 <= pair[1].0 + 1), "{times:?}");
    assert!(times.iter().all(|(start, finish, length)| (finish - start).abs_diff(*length) <= 1), "{times:?}");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time").as_millis();
    assert!((now - times[0].0 as u128) < 24 * 60 * 60 * 1000, "milliseconds since 1970");
}
