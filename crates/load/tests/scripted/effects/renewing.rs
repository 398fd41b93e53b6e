//! Connections that are made anew after so many requests.

use crate::support::scripted::Scripted;
use crate::support::{load, multiset};

#[test]
fn a_connection_has_exactly_as_many_requests_as_it_may() {
    for (pipeline, lockstep) in [("1", false), ("4", false), ("4", true), ("50", false)] {
        let server = Scripted::answering("+OK\r\n");
        let shape = ["-t", "2", "-c", "2", "-n", "25", "--pipeline", pipeline, "--reconnect-interval", "10"];
        let command = ["--command", "GET __key__", "--command-key-pattern", "S", "--key-prefix", ""];
        let more = if lockstep { &["--lockstep"][..] } else { &[] };
        let document = load(&server, &[&shape[..], &command, more].concat());
        let lengths = multiset(server.connections().iter().map(Vec::len));
        assert_eq!(lengths, [(10, 8), (5, 4)].into(), "pipeline {pipeline}, lockstep {lockstep}");
        assert_eq!(multiset(server.keys("")), (0..25).map(|key| (key, 4)).collect(), "nothing is lost or sent twice");
        let lab = &document["lab"];
        assert_eq!((&lab["requests"], &lab["succeeded"]), (&100.into(), &100.into()));
        let expected = serde_json::json!({"disconnects": 0, "timeouts": 0, "reconnects": 8});
        assert_eq!(lab["connections"], expected);
        assert_eq!((&lab["disconnected"], &lab["timed_out"]), (&0.into(), &0.into()));
    }
}

#[test]
fn a_connection_that_is_used_up_with_the_last_request_is_not_made_anew() {
    let server = Scripted::answering("+OK\r\n");
    let shape = ["-t", "1", "-c", "1", "-n", "20", "--reconnect-interval", "10", "--command", "PING"];
    let document = load(&server, &shape);
    assert_eq!(server.connections().iter().map(Vec::len).collect::<Vec<_>>(), [10, 10]);
    assert_eq!(document["lab"]["connections"]["reconnects"], 1);
    assert_eq!(document["configuration"]["reconnect_interval"], 10);
}

#[test]
fn each_new_connection_is_prepared_again() {
    let server = Scripted::answering("+OK\r\n");
    let shape = ["-t", "1", "-c", "2", "-n", "9", "--reconnect-interval", "3", "--command", "PING"];
    let document = load(&server, &[&shape[..], &["-a", "secret", "--select-db", "2"]].concat());
    let connections = server.connections();
    assert_eq!(connections.len(), 6);
    for requests in connections {
        let names: Vec<String> = requests.iter().map(|request| request.join(" ")).collect();
        assert_eq!(names, ["AUTH secret", "SELECT 2", "PING", "PING", "PING"]);
    }
    let lab = &document["lab"];
    assert_eq!((&lab["requests"], &lab["bytes_sent"], &lab["bytes_received"]), (&18.into(), &252.into(), &90.into()));
}

#[test]
fn a_rate_goes_on_over_new_connections() {
    let server = Scripted::answering("+OK\r\n");
    let shape = ["-t", "1", "-c", "2", "-n", "60", "--rate", "600", "--reconnect-interval", "7", "--command", "PING"];
    let document = load(&server, &shape);
    let lengths = multiset(server.connections().iter().map(Vec::len));
    assert_eq!(lengths, [(7, 16), (4, 2)].into());
    assert_eq!(document["lab"]["requests"], 120);
    assert_eq!(document["lab"]["schedule"]["unsent"], 0);
}
