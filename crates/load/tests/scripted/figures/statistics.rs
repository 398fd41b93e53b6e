//! Rows in memtier's layout.

use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{count, number};
use crate::support::load;
use crate::support::scripted::Scripted;

/// Takes a little time for each reply; one GET of three finds nothing.
fn slow() -> Scripted {
    Scripted::replying(|request, number| {
        thread::sleep(Duration::from_millis(3));
        match (request[0].as_str(), number % 3) {
            ("GET", 0) => "$-1\r\n".to_owned(),
            ("GET", _) => format!("$200\r\n{}\r\n", "v".repeat(200)),
            _ => "+OK\r\n".to_owned(),
        }
    })
}

/// That a rate, which is reported to two decimals, comes to `expected` over the time of the run.
fn expect_total(rate: &Value, document: &Value, expected: f64) {
    let seconds = number(&document["lab"]["elapsed_ns"]) / 1e9;
    let total = number(rate) * seconds;
    assert!((total - expected).abs() <= 0.006 * seconds, "{total} is not {expected}");
}

#[test]
fn rates_come_to_the_servers_counts() {
    let server = slow();
    let document = load(&server, &["-t", "2", "-c", "1", "-n", "60", "--ratio", "1:1", "-d", "100"]);
    let statistics = &document["ALL STATS"];
    let requests = server.requests();
    for (row, name) in [("Sets", "SET"), ("Gets", "GET")] {
        let sent = requests.iter().filter(|request| request[0] == name).count();
        assert_eq!(count(&statistics[row]["Count"]), sent);
        expect_total(&statistics[row]["Ops/sec"], &document, sent as f64);
    }
    // Numbers 0, 6, 12 ... of each connection would be nil, but those are SETs; 3, 9, 15 ... are GETs.
    expect_total(&statistics["Gets"]["Misses/sec"], &document, 20.0);
    expect_total(&statistics["Gets"]["Hits/sec"], &document, 40.0);
    expect_total(&statistics["Sets"]["Hits/sec"], &document, 0.0);
    expect_total(&statistics["Totals"]["Misses/sec"], &document, 20.0);
    let (received, sent) = server.bytes();
    let totals = &statistics["Totals"];
    expect_total(&totals["KB/sec RX"], &document, sent as f64 / 1024.0);
    expect_total(&totals["KB/sec TX"], &document, received as f64 / 1024.0);
    expect_total(&totals["KB/sec RX/TX"], &document, (received + sent) as f64 / 1024.0);
    expect_total(&totals["KB/sec"], &document, (received + sent) as f64 / 1024.0);
    let milliseconds = number(&statistics["Runtime"]["Total duration"]);
    assert!((milliseconds - number(&document["lab"]["elapsed_ns"]) / 1e6).abs() <= 1.0);
}

#[test]
fn latencies_are_those_of_the_server_in_milliseconds() {
    let server = slow();
    let document = load(&server, &["-t", "1", "-c", "1", "-n", "30", "--command", "GET a"]);
    let row = &document["ALL STATS"]["Gets"];
    for name in ["Latency", "Average Latency", "Min Latency", "Max Latency"] {
        assert!(number(&row[name]) >= 3.0, "{name}: {}", row[name]);
    }
    assert!(number(&row["Min Latency"]) <= number(&row["Average Latency"]));
    assert!(number(&row["Average Latency"]) <= number(&row["Max Latency"]));
    let accumulated = number(&row["Accumulated Latency"]);
    assert!((accumulated - number(&row["Average Latency"]) * 30.0).abs() < 1.1, "{accumulated}");
    assert!((number(&document["lab"]["latency_us"]["max"]) / 1e3 - number(&row["Max Latency"])).abs() < 0.002);
}

#[test]
fn seconds_add_up_to_the_totals() {
    let server = slow();
    let document = load(&server, &["-t", "2", "-c", "2", "--test-time", "1.3", "--ratio", "1:1"]);
    let statistics = &document["ALL STATS"];
    let sum = |row: &str, name: &str| {
        let seconds = statistics[row]["Time-Serie"].as_object().expect("seconds");
        seconds.values().map(|second| count(&second[name])).sum::<usize>()
    };
    for row in ["Sets", "Gets", "Totals"] {
        assert_eq!(sum(row, "Count"), count(&statistics[row]["Count"]), "{row}");
    }
    let seconds: Vec<&String> = statistics["Totals"]["Time-Serie"].as_object().expect("seconds").keys().collect();
    assert!(seconds.len() >= 2, "{seconds:?}");
    assert!(seconds.iter().enumerate().all(|(number, second)| **second == number.to_string()), "{seconds:?}");
    let (received, sent) = server.bytes();
    assert_eq!((sum("Totals", "Bytes TX"), sum("Totals", "Bytes RX")), (received, sent));
    assert_eq!(sum("Totals", "Count"), server.requests().len());
}

#[test]
fn commands_of_one_name_are_told_together_or_line_by_line() {
    let server = Scripted::answering("$-1\r\n");
    let commands = ["--command", "get a", "--command", "GET b", "--command-ratio", "2", "--command", "TTL a"];
    let rows = |arguments: &[&str]| {
        let document = load(&server, &[&["-t", "1", "-c", "1", "-n", "8"][..], &commands, arguments].concat());
        let statistics = document["ALL STATS"].as_object().expect("rows").clone();
        let rows = statistics.into_iter().filter(|(_, row)| row.get("Count").is_some());
        rows.map(|(name, row)| (name, count(&row["Count"]))).collect::<Vec<_>>()
    };
    let expected =
        |rows: &[(&str, usize)]| rows.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect::<Vec<_>>();
    let together = expected(&[("Gets", 6), ("Ttls", 2), ("Totals", 8)]);
    assert_eq!(rows(&[]), together);
    assert_eq!(rows(&["--command-stats-breakdown", "command"]), together);
    let apart = rows(&["--command-stats-breakdown", "line"]);
    assert_eq!(apart.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [2, 4, 2, 8]);
    assert_eq!(apart[1].0.to_lowercase(), "get bs");
}
