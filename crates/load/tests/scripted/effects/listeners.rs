//! Connections that only read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::load;
use crate::support::scripted::{Peer, Request, Scripted};

/// The confirmation of each channel of a SUBSCRIBE, as RESP2 or RESP3 writes it.
pub fn confirmed(request: &Request, marker: char) -> String {
    let word = request[0].to_lowercase();
    let one = |channel: &String| {
        format!("{marker}3\r\n${}\r\n{word}\r\n${}\r\n{channel}\r\n:1\r\n", word.len(), channel.len())
    };
    request[1..].iter().map(one).collect()
}

/// Confirms subscriptions and pushes `pushed` again and again after each; anything else is answered with OK, a PING only
/// after something was pushed since it came.
fn pushing(marker: char, pushed: &'static str) -> Scripted {
    let message_count = AtomicU64::new(0);
    Scripted::start(move |peer: &mut Peer| {
        while let Some(request) = peer.request() {
            let is_listener = request[0].to_lowercase().ends_with("subscribe") || request[0] == "CLIENT";
            if request[0] == "PING" {
                let before = message_count.load(Ordering::Relaxed);
                while message_count.load(Ordering::Relaxed) == before {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            let reply = if request[0].to_lowercase().ends_with("subscribe") {
                confirmed(&request, marker)
            } else {
                "+OK\r\n".to_owned()
            };
            peer.send(reply.as_bytes());
            if is_listener {
                // After the confirmation was read: what comes before the measurement is not counted.
                while peer.request_within(Duration::from_millis(20)).is_none() && peer.send(pushed.as_bytes()) {
                    message_count.fetch_add(1, Ordering::Relaxed);
                }
                return;
            }
        }
    })
}

/// What each listener sent, in the order of connections; the one that sends PING is none.
fn of_listeners(server: &Scripted) -> Vec<Vec<Request>> {
    let connections = server.connections().into_iter();
    connections.filter(|requests| requests.iter().all(|request| request[0] != "PING")).collect()
}

const SHAPE: [&str; 8] = ["-t", "1", "-c", "1", "-n", "3", "--command", "PING"];

fn listeners(document: &Value) -> &Value {
    &document["lab"]["listeners"]
}

#[test]
fn messages_are_counted_by_kind_in_both_protocols() {
    let of_channel = "3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n";
    let of_pattern = "4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$1\r\na\r\n$1\r\nx\r\n";
    let of_shard = "3\r\n$8\r\nsmessage\r\n$1\r\na\r\n$1\r\nx\r\n";
    let cases = [
        ("SUBSCRIBE a b", of_channel, "message"),
        ("psubscribe a*", of_pattern, "pmessage"),
        ("SSUBSCRIBE a", of_shard, "smessage"),
        ("CLIENT TRACKING ON BCAST", "2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n", "invalidate"),
    ];
    for (line, message, kind) in cases {
        for marker in ['*', '>'] {
            let pushed: &'static str = Box::leak(format!("{marker}{message}").into_boxed_str());
            let server = pushing(marker, pushed);
            let document = load(&server, &[&SHAPE[..], &["--listen", line]].concat());
            let listeners = listeners(&document);
            let count = listeners["messages"][kind].as_u64().expect("a count");
            assert!(count > 0, "{line} {marker}: {listeners}");
            let others = listeners["messages"].as_object().expect("kinds").iter().filter(|(name, _)| *name != kind);
            assert!(others.clone().all(|(_, count)| *count == 0), "{line} {marker}: {listeners}");
            assert_eq!(others.count(), 4);
            let bytes = listeners["bytes"].as_u64().expect("bytes");
            assert_eq!(bytes, count * pushed.len() as u64, "{line} {marker}");
            assert_eq!((&listeners["connections"], &listeners["commands"]), (&json!(1), &json!([line])));
            assert_eq!((&listeners["errors"], &listeners["disconnects"]), (&json!({}), &json!(0)));
            assert!(listeners["messages_per_second"].as_f64() > Some(0.0));
            assert!(document["lab"]["phases"]["listen"].is_number());
        }
    }
}

#[test]
fn listeners_take_commands_keys_and_users_in_turn() {
    let server = pushing('*', "+x\r\n");
    let lines = ["--listen", "SUBSCRIBE __key__ __key__", "--listen", "PSUBSCRIBE x:__key__:*"];
    let users = ["--listen-authenticate", "ann:one", "--listen-authenticate", "bob:two", "-a", "zoe:three"];
    let keys = ["--listeners", "5", "--key-prefix", "k", "--key-minimum", "7", "--key-maximum", "9"];
    let document = load(&server, &[&SHAPE[..], &lines, &users, &keys].concat());
    let mut sent: Vec<String> = of_listeners(&server).iter().map(|requests| requests.concat().join(" ")).collect();
    sent.sort();
    let expected = [
        "AUTH ann one SUBSCRIBE k7 k8",
        "AUTH ann one SUBSCRIBE k8 k9",
        "AUTH ann one SUBSCRIBE k9 k7",
        "AUTH bob two PSUBSCRIBE x:k7:*",
        "AUTH bob two PSUBSCRIBE x:k8:*",
    ];
    assert_eq!(sent, expected);
    assert_eq!(document["lab"]["listeners"]["connections"], 5);
    assert_eq!(document["lab"]["warnings"], json!([]), "the range has an effect");
    assert!(server.requests().contains(&["AUTH", "zoe", "three"].map(str::to_owned).to_vec()));
}

#[test]
fn listeners_are_prepared_as_other_connections_are() {
    let server = pushing('>', "+x\r\n");
    load(&server, &[&SHAPE[..], &["--listen", "SUBSCRIBE a", "-P", "resp3", "-a", "pw", "--select-db", "3"]].concat());
    let sent: Vec<String> = of_listeners(&server).concat().iter().map(|request| request.join(" ")).collect();
    assert_eq!(sent, ["AUTH pw", "HELLO 3", "SELECT 3", "SUBSCRIBE a"]);
}

#[test]
fn all_listeners_are_confirmed_before_the_first_request() {
    let server = Scripted::start(|peer: &mut Peer| {
        while let Some(request) = peer.request() {
            if request[0] == "SUBSCRIBE" {
                std::thread::sleep(Duration::from_millis(100));
                peer.send(confirmed(&request, '*').as_bytes());
            } else {
                peer.send(b"+OK\r\n");
            }
        }
    });
    let shape = ["-t", "1", "-c", "1", "-n", "5", "--warm-up", "0.05", "--command", "PING"];
    load(&server, &[&shape[..], &["--listen", "SUBSCRIBE a", "--listeners", "70"]].concat());
    let arrived = |name: &'static str| {
        let records = server.records().into_iter().flat_map(|record| record.requests);
        records.filter(move |arrived| arrived.request[0] == name).map(|arrived| arrived.at)
    };
    assert_eq!(arrived("SUBSCRIBE").count(), 70);
    assert!(arrived("SUBSCRIBE").max() < arrived("PING").min());
}

#[test]
fn without_requests_it_only_listens() {
    // On a machine that is busy with something else, a third of a second may pass without a message.
    let tries = ["0.3", "3", "30"].map(|seconds| {
        move || {
            let server = pushing('*', "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n");
            let shape = ["--listen-only", "--test-time", seconds, "--listeners", "3", "--listen", "SUBSCRIBE a"];
            let document = load(&server, &shape);
            assert_eq!(server.connections(), vec![vec![["SUBSCRIBE", "a"]]; 3]);
            document
        }
    });
    let heard = |document: &Value| listeners(document)["messages"]["message"].as_u64() > Some(0);
    let document = tries.into_iter().map(|listen| listen()).find(heard).expect("messages");
    assert_eq!((&document["lab"]["requests"], &document["lab"]["settings"]["connections"]), (&json!(0), &json!(0)));
    assert_eq!(document["ALL STATS"]["Totals"]["Count"], 0);
    assert!(document["lab"]["elapsed_ns"].as_u64() >= Some(300_000_000));
}

#[test]
fn runs_are_added_up() {
    let server = pushing('*', "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n");
    let shape = ["--listen-only", "--test-time", "0.2", "-x", "2", "--listeners", "2", "--listen", "SUBSCRIBE a"];
    let document = load(&server, &shape);
    assert_eq!(server.connections().len(), 4, "each run has its own");
    assert_eq!(listeners(&document)["connections"], 2);
}
