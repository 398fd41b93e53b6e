//! Walks over the whole keyspace, cursor by cursor.

use crate::support::load;
use crate::support::program::run;
use crate::support::scripted::{Request, Scripted};

/// Gives cursors 17, 4 and 0 in turn, with keys.
fn three_steps(request: &Request, _number: usize) -> String {
    let (next, keys) = match request[1].as_str() {
        "0" => ("17", "*2\r\n$1\r\na\r\n$1\r\nb\r\n"),
        "17" => ("4", "*0\r\n"),
        _ => ("0", "*1\r\n$4\r\n0\r\n5\r\n"),
    };
    format!("*2\r\n${}\r\n{next}\r\n{keys}", next.len())
}

const SCAN: [&str; 3] = ["--scan-incremental-iteration", "--command", "SCAN 0 MATCH a* COUNT 5"];

fn cursors(requests: &[Request]) -> Vec<&str> {
    requests.iter().map(|request| request[1].as_str()).collect()
}

#[test]
fn each_connection_follows_its_cursors_and_starts_anew_after_the_last() {
    let server = Scripted::replying(three_steps);
    let document = load(&server, &[&["-t", "1", "-c", "2", "-n", "7"][..], &SCAN].concat());
    for requests in server.connections() {
        assert_eq!(cursors(&requests), ["0", "17", "4", "0", "17", "4", "0"]);
        assert!(requests.iter().all(|request| request[0] == "SCAN" && request[2..] == ["MATCH", "a*", "COUNT", "5"]));
    }
    let statistics = &document["ALL STATS"];
    assert_eq!(statistics["Scan 0s"]["Count"], 6);
    assert_eq!(statistics["Scan <cursor>s"]["Count"], 8);
    assert_eq!(statistics["Totals"]["Count"], 14);
    assert_eq!(document["lab"]["commands"][0]["requests"], 6);
    assert_eq!(document["lab"]["commands"][1]["requests"], 8);
}

#[test]
fn walks_can_be_cut_short() {
    let server = Scripted::replying(three_steps);
    let most = ["-t", "1", "-c", "1", "-n", "5", "--scan-incremental-max-iterations", "2"];
    load(&server, &[&most[..], &SCAN].concat());
    assert_eq!(cursors(&server.requests()), ["0", "17", "0", "17", "0"]);
}

#[test]
fn an_error_starts_the_walk_anew_and_is_counted_where_it_came() {
    let server =
        Scripted::replying(
            |request, number| {
                if number == 1 { "-ERR busy\r\n".to_owned() } else { three_steps(request, number) }
            },
        );
    let document = load(&server, &[&["-t", "1", "-c", "1", "-n", "5"][..], &SCAN].concat());
    assert_eq!(cursors(&server.requests()), ["0", "17", "0", "17", "4"]);
    let errors = |row: usize| document["lab"]["commands"][row]["errors"].clone();
    assert_eq!((errors(0), errors(1)), (serde_json::json!({}), serde_json::json!({"ERR": 1})));
}

#[test]
fn without_following_scan_is_a_command_like_others() {
    let server = Scripted::replying(three_steps);
    let document = load(&server, &["-t", "1", "-c", "1", "-n", "4", "--command", "SCAN 0", "--pipeline", "2"]);
    assert_eq!(cursors(&server.requests()), ["0"; 4]);
    assert_eq!(document["ALL STATS"]["Scans"]["Count"], 4);
}

#[test]
fn a_scan_is_checked_with_its_first_cursor_and_followed_at_a_rate() {
    let server = Scripted::replying(three_steps);
    let shape = ["-t", "1", "-c", "1", "-n", "6", "--check", "--rate", "1000"];
    let document = load(&server, &[&shape[..], &SCAN].concat());
    let connections = server.connections();
    let cursors: Vec<Vec<&str>> = connections.iter().map(|requests| cursors(requests)).collect();
    assert_eq!(cursors, [vec!["0", "17", "4", "0", "17", "4"], vec!["0"]]);
    assert_eq!(document["lab"]["requests"], 6);

    let refused = run(&["--scan-incremental-iteration", "--command", "GET a"]);
    assert_eq!(refused.code, Some(2));
}
