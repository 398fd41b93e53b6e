//! Replies, errors and bytes.

use serde_json::json;

use crate::support::load;
use crate::support::program::run;
use crate::support::scripted::{Peer, Scripted};

#[test]
fn errors_are_counted_by_code_for_each_command_and_for_all() {
    let server = Scripted::replying(|request, number| match (request[0].as_str(), number % 6) {
        ("SET", 0) => "-OOM command not allowed when used memory > 'maxmemory'.\r\n".to_owned(),
        ("GET", 1) => "-WRONGTYPE Operation against a key\r\n".to_owned(),
        ("GET", 3) => "-ERR\r\n".to_owned(),
        ("GET", 5) => "$-1\r\n".to_owned(),
        _ => "+OK\r\n".to_owned(),
    });
    let commands = ["--command", "SET __key__ __data__", "--command", "GET __key__"];
    let document = load(&server, &[&["-t", "2", "-c", "2", "-n", "24", "--pipeline", "5"][..], &commands].concat());
    let [lab, set, get] = [&document["lab"], &document["lab"]["commands"][0], &document["lab"]["commands"][1]];
    assert_eq!(lab["errors"], json!({"ERR": 16, "OOM": 16, "WRONGTYPE": 16}));
    assert_eq!((&set["errors"], &get["errors"]), (&json!({"OOM": 16}), &json!({"ERR": 16, "WRONGTYPE": 16})));
    assert_eq!(set["first_error"], "OOM command not allowed when used memory > 'maxmemory'.");
    assert_eq!(get["first_error"], "WRONGTYPE Operation against a key");
    let counts =
        |record: &serde_json::Value| ["requests", "succeeded", "hits", "nils"].map(|name| record[name].clone());
    assert_eq!(counts(lab), [96, 48, 32, 16].map(serde_json::Value::from));
    assert_eq!(counts(set), [48, 32, 32, 0].map(serde_json::Value::from));
    assert_eq!(counts(get), [48, 16, 0, 16].map(serde_json::Value::from));
    assert_eq!(document["ALL STATS"]["Sets"]["Errors"], 16);
    assert_eq!(document["ALL STATS"]["Totals"]["Errors"], 48);
}

#[test]
fn bytes_are_those_that_the_server_read_and_wrote() {
    for send in [Peer::send as fn(&mut Peer, &[u8]) -> bool, Peer::send_apart] {
        let server = Scripted::start(move |peer| {
            let mut number = 0;
            while let Some(request) = peer.request() {
                let body = "v".repeat(number % 50);
                let reply =
                    if request[0] == "GET" { format!("${}\r\n{body}\r\n", body.len()) } else { ":1\r\n".into() };
                send(peer, reply.as_bytes());
                number += 1;
            }
        });
        let shape =
            ["-t", "2", "-c", "1", "-n", "60", "--ratio", "1:2", "--data-size-range", "1-99", "--pipeline", "3"];
        let lab = load(&server, &shape)["lab"].clone();
        let (received, sent) = server.bytes();
        assert_eq!((&lab["bytes_sent"], &lab["bytes_received"]), (&received.into(), &sent.into()));
        let of_commands = |name: &str| (0..2).map(|row| super::count(&lab["commands"][row][name])).sum::<usize>();
        assert_eq!((of_commands("bytes_sent"), of_commands("bytes_received")), (received, sent));
    }
}

#[test]
fn pushes_answer_nothing() {
    let server = Scripted::start(|peer| {
        while peer.request().is_some() {
            peer.send(b">2\r\n+invalidate\r\n*1\r\n+a\r\n+OK\r\n>1\r\n+message\r\n");
        }
    });
    let lab = load(&server, &["-t", "1", "-c", "2", "-n", "10", "--command", "GET a"])["lab"].clone();
    assert_eq!((&lab["requests"], &lab["replies"]["status"]), (&20.into(), &20.into()));
    // The last one may arrive after the last reply was read.
    assert!((38..=40).contains(&super::count(&lab["pushes"])), "{}", lab["pushes"]);
    assert_eq!(lab["commands"][0]["bytes_received"], 20 * 5);
}

#[test]
fn what_a_failed_run_counted_is_told_but_is_no_result() {
    let server = Scripted::start(|peer| {
        for _ in 0..10 {
            peer.request();
            peer.send(b"+OK\r\n");
        }
        peer.request();
    });
    let port = server.port();
    let arguments = ["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "1", "-n", "50", "--json-out-file", "-"];
    let finished = run(&[&arguments[..], &["--command", "PING"]].concat());
    assert_eq!(finished.code, Some(4));
    let document = finished.json();
    assert_eq!(document.get("ALL STATS"), None);
    let lab = &document["lab"];
    assert_eq!((&lab["requests"], &lab["disconnected"]), (&10.into(), &1.into()));
    assert_eq!(lab["connections"], json!({"disconnects": 1, "timeouts": 0, "reconnects": 0}));
}

#[test]
fn runs_are_counted_together() {
    let server =
        Scripted::replying(|_, number| if number == 2 { "-ERR x\r\n".to_owned() } else { "$-1\r\n".to_owned() });
    let document = load(&server, &["-t", "2", "-c", "1", "-n", "5", "-x", "3", "--command", "GET a"]);
    let lab = &document["lab"];
    assert_eq!((&lab["requests"], &lab["nils"], &lab["errors"]), (&30.into(), &24.into(), &json!({"ERR": 6})));
    let (received, sent) = server.bytes();
    assert_eq!((&lab["bytes_sent"], &lab["bytes_received"]), (&received.into(), &sent.into()));
    assert_eq!(document["AGGREGATED AVERAGE RESULTS (3 runs)"]["Gets"]["Count"], 30);
}
