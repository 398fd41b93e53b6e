//! Distributions of latencies.

use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use serde_json::Value;

use super::{count, number};
use crate::support::load;
use crate::support::scripted::Scripted;

/// The first connection is quick, the second takes 50 ms for each reply.
fn quick_and_slow() -> Scripted {
    Scripted::start(|peer| {
        let slow = peer.connection() == 1;
        peer.serve(|_, _| {
            thread::sleep(Duration::from_millis(if slow { 50 } else { 1 }));
            "$1\r\nx\r\n".to_owned()
        });
    })
}

fn decoded(row: &Value) -> Histogram<u64> {
    let text = &row["Percentile Latencies"]["Histogram log format"]["Compressed Histogram"];
    let bytes = STANDARD.decode(text.as_str().expect("text")).expect("base64");
    Deserializer::new().deserialize(&mut bytes.as_slice()).expect("a histogram")
}

#[test]
fn percentiles_of_two_threads_are_those_of_all_replies_together() {
    let server = quick_and_slow();
    let percentiles = ["--print-percentiles", "25,40,60,99"];
    let shape = ["-t", "2", "-c", "1", "-n", "30", "--command", "GET a"];
    let document = load(&server, &[&shape[..], &percentiles].concat());
    let row = &document["ALL STATS"]["Gets"]["Percentile Latencies"];
    let buckets = document["lab"]["histogram_ns"].as_array().expect("buckets");
    assert_eq!(buckets.iter().map(|bucket| count(&bucket[1])).sum::<usize>(), 60);
    for (percent, name) in [(25_usize, "p25.00"), (40, "p40.00"), (60, "p60.00"), (99, "p99.00")] {
        let rank = (60 * percent).div_ceil(100);
        let mut below = 0;
        let bucket = buckets.iter().find(|bucket| {
            below += count(&bucket[1]);
            below >= rank
        });
        let edge_ms = number(&bucket.expect("a bucket")[0]) / 1e6;
        let reported_ms = number(&row[name]);
        assert!(
            (edge_ms - 0.001..=edge_ms * 1.005 + 0.001).contains(&reported_ms),
            "{name}: {reported_ms} is not {edge_ms}"
        );
    }
    // An average of both threads' percentiles may be as low as 25 ms.
    assert!(number(&row["p60.00"]) >= 49.9 && number(&row["p99.00"]) >= 49.9, "{row}");
}

#[test]
fn compressed_histograms_hold_all_replies() {
    let server = quick_and_slow();
    let document = load(&server, &["-t", "2", "-c", "1", "-n", "22", "--ratio", "1:1"]);
    let statistics = &document["ALL STATS"];
    for (row, expected) in [("Sets", 22), ("Gets", 22), ("Totals", 44)] {
        let histogram = decoded(&statistics[row]);
        assert_eq!(histogram.len(), expected);
        assert_eq!(count(&statistics[row]["Count"]) as u64, expected);
        let near = |value_us: u64, milliseconds: &Value| {
            let reported_us = number(milliseconds) * 1e3;
            assert!(
                (value_us as f64 - reported_us).abs() <= reported_us * 0.01 + 2.0,
                "{value_us} is not {reported_us}"
            );
        };
        near(histogram.max(), &statistics[row]["Max Latency"]);
        near(histogram.min(), &statistics[row]["Min Latency"]);
        near(histogram.value_at_quantile(0.5), &statistics[row]["Percentile Latencies"]["p50.00"]);
        near(histogram.value_at_quantile(0.99), &statistics[row]["Percentile Latencies"]["p99.00"]);
    }
}

#[test]
fn distributions_end_with_all_replies_unless_they_are_hidden() {
    let server = quick_and_slow();
    let shape = ["-t", "2", "-c", "1", "-n", "10", "--ratio", "1:1"];
    let document = load(&server, &shape);
    for name in ["SET", "GET"] {
        let steps = document["ALL STATS"][name].as_array().expect("steps");
        let percents: Vec<f64> = steps.iter().map(|step| number(&step["percent"])).collect();
        let times: Vec<f64> = steps.iter().map(|step| number(&step["<=msec"])).collect();
        assert!(percents.is_sorted() && times.is_sorted(), "{steps:?}");
        assert!((percents.last().expect("a step") - 100.0).abs() < 1e-9);
        assert!(*times.last().expect("a step") >= 50.0, "{times:?}");
    }
    let hidden = load(&server, &[&shape[..], &["--hide-histogram"]].concat());
    assert_eq!((hidden["ALL STATS"].get("SET"), hidden["ALL STATS"].get("GET")), (None, None));
    assert_eq!(hidden["ALL STATS"]["Totals"]["Count"], 20);
}

#[test]
fn buckets_hold_all_replies() {
    let server = quick_and_slow();
    let lab = load(&server, &["-t", "1", "-c", "2", "-n", "25", "--command", "GET a"])["lab"].clone();
    let buckets = lab["histogram_ns"].as_array().expect("buckets");
    assert_eq!(buckets.iter().map(|bucket| count(&bucket[1])).sum::<usize>(), 50);
    let slow: usize = buckets.iter().filter(|bucket| number(&bucket[0]) >= 49e6).map(|bucket| count(&bucket[1])).sum();
    assert!(slow >= 25, "{slow}");
}

#[test]
fn percentiles_are_told_as_asked_for() {
    let server = Scripted::answering("+OK\r\n");
    let shape = ["-t", "1", "-c", "1", "-n", "10", "--command", "PING"];
    let names = |arguments: &[&str]| {
        let document = load(&server, &[&shape[..], arguments].concat());
        let row = &document["ALL STATS"]["Pings"];
        let names = |record: &Value| -> Vec<String> {
            let record = record.as_object().expect("an object");
            record.keys().filter(|name| name.starts_with('p')).cloned().collect()
        };
        assert_eq!(names(&row["Time-Serie"]["0"]), names(&row["Percentile Latencies"]));
        names(&row["Percentile Latencies"])
    };
    assert_eq!(names(&[]), ["p50.00", "p99.00", "p99.90"]);
    assert_eq!(names(&["--print-percentiles", "99.99,12.5,100"]), ["p12.50", "p99.99", "p100.0"]);
}
