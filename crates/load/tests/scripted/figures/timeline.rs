//! What happened when.

use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{count, number};
use crate::support::scripted::Scripted;
use crate::support::{load, monotonic_ns};

#[test]
fn a_stall_shows_as_slots_without_replies_and_then_one_with_a_long_reply() {
    let server = Scripted::replying(|_, number| {
        thread::sleep(Duration::from_millis(if number == 40 { 350 } else { 5 }));
        "+OK\r\n".to_owned()
    });
    let document = load(&server, &["-t", "1", "-c", "1", "-n", "80", "--command", "PING"]);
    let timeline = &document["lab"]["timeline"];
    assert!((number(&timeline["slot_seconds"]) - 0.1).abs() < 1e-9);
    let slots = timeline["slots"].as_array().expect("slots");
    for (index, slot) in slots.iter().enumerate() {
        assert!((number(&slot["at_seconds"]) - index as f64 / 10.0).abs() < 1e-6);
        assert_eq!(slot["latency_us"].is_null(), count(&slot["replies"]) == 0);
    }
    let replies: Vec<usize> = slots.iter().map(|slot| count(&slot["replies"])).collect();
    assert_eq!(replies.iter().sum::<usize>(), server.requests().len());
    assert_eq!(count(&document["lab"]["requests"]), server.requests().len());
    let maximum = |slot: &Value| slot["latency_us"]["max"].as_f64().unwrap_or(0.0);
    let after = slots.iter().position(|slot| maximum(slot) >= 349_000.0).expect("the long reply");
    assert!(after >= 3 && replies[after - 2..after] == [0, 0], "{replies:?}");
    assert!(replies[after] > 0, "{replies:?}");
    let greatest = number(&document["lab"]["latency_us"]["max"]);
    let is_greatest = |slot: &&Value| (maximum(slot) - greatest).abs() < 1e-6;
    assert_eq!(slots.iter().filter(is_greatest).count(), 1, "the maximum is reported once");

    let seconds = document["ALL STATS"]["Pings"]["Time-Serie"].as_object().expect("seconds");
    let of_seconds = seconds.values().filter_map(|second| second["Max Latency"].as_f64());
    assert_eq!(of_seconds.filter(|maximum| (maximum - greatest / 1e3).abs() < 0.002).count(), 1, "{seconds:?}");
}

#[test]
fn slots_of_a_given_length_have_histograms_that_add_up_to_the_whole() {
    let server = Scripted::replying(|_, _| {
        thread::sleep(Duration::from_millis(3));
        "+OK\r\n".to_owned()
    });
    let arguments = ["-t", "1", "-c", "1", "-n", "40", "--command", "PING", "--timeline-slot", "0.01"];
    let document = load(&server, &arguments);
    let timeline = &document["lab"]["timeline"];
    assert!((number(&timeline["slot_seconds"]) - 0.01).abs() < 1e-9);
    let slots = timeline["slots"].as_array().expect("slots");
    assert!(slots.len() >= 12, "{}", slots.len());
    let buckets = |histogram: &Value| -> Vec<(usize, usize)> {
        let pairs = histogram.as_array().expect("buckets").iter();
        pairs.map(|pair| (count(&pair[0]), count(&pair[1]))).collect()
    };
    let mut together: Vec<(usize, usize)> = Vec::new();
    for slot in slots {
        let of_slot = buckets(&slot["histogram_ns"]);
        assert_eq!(of_slot.iter().map(|bucket| bucket.1).sum::<usize>(), count(&slot["replies"]));
        for (edge, more) in of_slot {
            match together.iter_mut().find(|bucket| bucket.0 == edge) {
                Some(bucket) => bucket.1 += more,
                None => together.push((edge, more)),
            }
        }
    }
    together.sort_unstable();
    assert_eq!(together, buckets(&document["lab"]["histogram_ns"]));
}

#[test]
fn errors_are_told_by_slot_and_all_threads_are_together() {
    let server = Scripted::replying(|_, number| {
        thread::sleep(Duration::from_millis(10));
        if number >= 20 { "-ERR late\r\n".to_owned() } else { "+OK\r\n".to_owned() }
    });
    let document = load(&server, &["-t", "2", "-c", "2", "-n", "40", "--command", "PING"]);
    let slots = document["lab"]["timeline"]["slots"].as_array().expect("slots");
    let sum = |name: &str| slots.iter().map(|slot| count(&slot[name])).sum::<usize>();
    assert_eq!((sum("replies"), sum("errors")), (160, 80));
    assert_eq!(count(&slots[0]["errors"]), 0, "the first 200 ms go well");
}

#[test]
fn when_it_began_is_told_on_the_clock_of_the_system() {
    let server = Scripted::answering("+OK\r\n");
    let before_ns = monotonic_ns();
    let lab = load(&server, &["-t", "1", "-c", "1", "-n", "1", "--command", "PING"])["lab"].clone();
    let began_ns = lab["began_monotonic_ns"].as_u64().expect("a number");
    assert!((before_ns..monotonic_ns()).contains(&began_ns));
}
