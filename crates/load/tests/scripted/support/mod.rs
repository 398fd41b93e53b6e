//! What the tests share: the program, its command line, a scripted server.

#[path = "../../support/certificates.rs"]
pub mod certificates;
#[path = "../../support/program.rs"]
pub mod program;
pub mod scripted;

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::Value;

use program::run;
use scripted::Scripted;

/// Runs the program against `server` with these arguments more, to a good end; returns the whole document.
pub fn load(server: &Scripted, arguments: &[&str]) -> Value {
    let port = server.port();
    let finished = run(&[&["-s", "127.0.0.1", "-p", &port, "--json-out-file", "-"], arguments].concat());
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    finished.json()
}

/// The processors that this process may use, as the kernel lists them.
pub fn permitted_processors() -> String {
    let status = std::fs::read_to_string("/proc/self/status").expect("a file");
    status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("a line").trim().to_owned()
}

/// The first of them: on some machines processor 0 is not permitted.
pub fn first_processor() -> String {
    permitted_processors().split([',', '-']).next().expect("a processor").to_owned()
}

/// Nanoseconds on the clock of `began_monotonic_ns`.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec * 1_000_000_000 + now.tv_nsec).expect("a time since the start of the machine")
}

/// That the Nth request (from 0) arrived no earlier than `N / per_second` seconds after the work of `document` began. A
/// busy machine makes requests late, never early.
pub fn expect_none_early(server: &Scripted, document: &Value, per_second: u64) {
    // Taken in this order, so that times of arrival come out late rather than early.
    let (now, now_ns) = (Instant::now(), monotonic_ns());
    let began_ns = document["lab"]["began_monotonic_ns"].as_u64().expect("a time");
    let records = server.records();
    let mut arrived: Vec<Instant> =
        records.iter().flat_map(|record| &record.requests).map(|arrived| arrived.at).collect();
    arrived.sort();
    for (number, at) in arrived.iter().enumerate() {
        let ago_ns = u64::try_from((now - *at).as_nanos()).expect("less than a century");
        let due_ns = began_ns + number as u64 * 1_000_000_000 / per_second;
        assert!(now_ns - ago_ns >= due_ns, "request {number} came {} ns early", due_ns - (now_ns - ago_ns));
    }
}

/// Counts equal items.
pub fn multiset<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_default() += 1;
    }
    counts
}
