//! What was recorded is sent again.

use std::collections::BTreeMap;

use serde_json::json;

use crate::support::program::run;
use crate::support::scripted::{Directory, Request, Scripted};
use crate::support::{load, multiset};

/// As the server writes it, with the OK that comes first, an empty line and a line of a proxy.
const RECORDING: &str = concat!(
    "OK\n",
    "1634567890.123456 [0 127.0.0.1:5000] \"SET\" \"key\" \"va\\\"l \\x00\\xff\\n\"\n",
    "1634567890.123457 [0 127.0.0.1:5001] \"get\" \"key\"\r\n",
    "\n",
    "[ proxy49 ] 1764031576.604009 [0 unix:/run/x.sock] \"SET\" \"other\" \"\"\n",
    "1634567890.123458 [0 127.0.0.1:5000] \"PING\"",
);

fn commands() -> Vec<Request> {
    let commands: [&[&str]; 4] =
        [&["SET", "key", "va\"l \0\u{ff}\n"], &["get", "key"], &["SET", "other", ""], &["PING"]];
    commands.iter().map(|words| words.iter().map(|&word| word.to_owned()).collect()).collect()
}

/// Runs with these arguments and a recording; returns the document.
fn replay(server: &Scripted, name: &str, text: &str, arguments: &[&str]) -> serde_json::Value {
    let directory = Directory::new(name);
    std::fs::write(directory.path("monitor"), text).expect("a file");
    load(server, &[&["-t", "1", "--monitor-input", &directory.text("monitor")][..], arguments].concat())
}

#[test]
fn a_numbered_line_is_a_command_like_any_other() {
    let server = Scripted::answering("+OK\r\n");
    let first = ["--command", "__monitor_line1__", "--command-ratio", "2"];
    let more = ["--command", "ECHO x", "--command", "__monitor_line4__"];
    let document = replay(&server, "numbered", RECORDING, &[&["-c", "1", "-n", "4"], &first[..], &more].concat());
    let [set, ping, echo] = [commands()[0].clone(), commands()[3].clone(), vec!["ECHO".to_owned(), "x".to_owned()]];
    assert_eq!(server.requests(), [set.clone(), set, echo, ping]);
    assert_eq!(document["ALL STATS"]["Sets"]["Count"], json!(2));
    assert_eq!(document["lab"]["warnings"], json!([]));
}

#[test]
fn any_line_is_the_next_one_over_all_connections() {
    let server = Scripted::answering("+OK\r\n");
    let arguments = ["-c", "1", "-n", "9", "--pipeline", "3", "--command", "__monitor_line@__"];
    replay(&server, "sequential", RECORDING, &arguments);
    let expected: Vec<Request> = commands().into_iter().cycle().take(9).collect();
    assert_eq!(server.requests(), expected);

    let server = Scripted::answering("+OK\r\n");
    let directory = Directory::new("shared");
    std::fs::write(directory.path("monitor"), RECORDING).expect("a file");
    let file = directory.text("monitor");
    let arguments = ["-t", "3", "-c", "5", "-n", "8", "--monitor-input", &file, "--command", "__monitor_line@__"];
    load(&server, &arguments);
    let expected: BTreeMap<Request, usize> = commands().into_iter().map(|command| (command, 30)).collect();
    assert_eq!(multiset(server.requests()), expected);
}

#[test]
fn any_line_may_be_drawn_the_same_with_the_same_seed() {
    let drawn = |arguments: &[&str]| {
        let server = Scripted::answering("+OK\r\n");
        let random = ["-c", "2", "-n", "400", "--pipeline", "20", "--command", "__monitor_line@__"];
        replay(&server, "random", RECORDING, &[&random[..], &["--monitor-pattern", "R"], arguments].concat());
        let mut connections = server.connections();
        connections.sort();
        connections
    };
    let once = drawn(&[]);
    assert_ne!(once[0], once[1]);
    assert_eq!(once, drawn(&[]));
    assert_ne!(once, drawn(&["--seed", "5"]));
    let counts = multiset(once.concat());
    assert_eq!(counts.keys().cloned().collect::<Vec<_>>(), multiset(commands()).into_keys().collect::<Vec<_>>());
    // 200 of each are expected; 5 standard deviations are 61.
    assert!(counts.values().all(|count| count.abs_diff(200) < 61), "{counts:?}");
}

#[test]
fn figures_are_by_the_names_of_recorded_commands() {
    let server =
        Scripted::replying(|request, _| if request[0] == "PING" { "-ERR no\r\n" } else { "+OK\r\n" }.to_owned());
    let commands = ["--command", "ECHO x", "--command", "__monitor_line@__", "--command-ratio", "3", "--check"];
    let checked =
        replay(&server, "names", &RECORDING.replace("PING", "DEL"), &[&["-c", "1", "-n", "4"], &commands[..]].concat());
    assert_eq!(checked["ALL STATS"]["Sets"]["Count"], json!(2));
    let document = replay(&server, "figures", RECORDING, &[&["-c", "2", "-n", "64"], &commands[..6]].concat());
    let figures = |name: &str| document["ALL STATS"][name]["Count"].as_u64();
    let rows = ["Echos", "Sets", "Gets", "Pings", "Totals"].map(figures);
    assert_eq!(rows, [Some(32), Some(48), Some(24), Some(24), Some(128)]);
    assert_eq!(document["ALL STATS"]["Pings"]["Errors"], json!(24));
}

#[test]
fn placeholders_in_a_recording_are_drawn() {
    let server = Scripted::answering("+OK\r\n");
    let text = "1.0 [0 127.0.0.1:1] \"SET\" \"a:__key__\" \"__data__\"\n1.0 [0 127.0.0.1:1] \"GET\" \"a:__key__\"\n";
    let keys = ["--key-minimum", "5", "--key-prefix", "p", "--command-key-pattern", "S", "-d", "2"];
    let any = ["-c", "1", "-n", "3", "--command", "__monitor_line@__"];
    let document = replay(&server, "drawn", text, &[&any[..], &keys].concat());
    assert_eq!(document["lab"]["warnings"], json!([]));
    let expected = [vec!["SET", "a:p5", "xx"], vec!["GET", "a:p6"], vec!["SET", "a:p7", "xx"]];
    assert_eq!(server.requests(), expected);
}

#[test]
fn what_is_wrong_with_a_recording_is_told_at_the_start() {
    let directory = Directory::new("wrong");
    let file = |name: &str, text: &[u8]| {
        std::fs::write(directory.path(name), text).expect("a file");
        directory.text(name)
    };
    let good = file("good", RECORDING.as_bytes());
    let cases = [
        (directory.text("none"), "__monitor_line1__", "No such file"),
        (file("empty", b"OK\n"), "__monitor_line@__", "no line of it holds a command in quotes"),
        (file("open", b"OK\n1.0 [0 a] \"GET\" \"x\n"), "__monitor_line@__", "line 2: the quote that opens at byte 6"),
        (file("bytes", b"1.0 [0 a] \"GET\" \"\xff\"\n"), "__monitor_line1__", "line 1: invalid utf-8"),
        (
            file("part", b"\n\n1.0 [0 a] \"GET\" \"x__data__\"\n"),
            "__monitor_line@__",
            "line 3: __data__ must be a whole",
        ),
        (
            file("listens", b"1.0 [0 a] \"GET\" \"x\"\n1.1 [0 a] \"SUBSCRIBE\" \"x\" \"y\"\n"),
            "__monitor_line@__",
            "line 2: SUBSCRIBE cannot be replayed: the server answers it once for each channel",
        ),
        (
            file("silent", b"1.0 [0 a] \"client\" \"reply\" \"skip\"\n"),
            "__monitor_line@__",
            "line 1: CLIENT REPLY SKIP cannot be replayed: the server does not answer",
        ),
        (
            file("secret", b"1.0 [0 a] \"AUTH\" \"(redacted)\"\n"),
            "__monitor_line@__",
            "line 1: AUTH cannot be replayed: the server does not record passwords",
        ),
        (
            file("numbered", b"1.0 [0 a] \"GET\" \"x\"\n1.1 [0 a] \"MONITOR\"\n"),
            "__monitor_line2__",
            "the server sends a stream after it",
        ),
        (file("parts", b"1.0 [0 a] \"MULTI\"\n"), "__monitor_line@__", "it holds only parts of transactions"),
        (good.clone(), "__monitor_line5__", "expected __monitor_line@__, or __monitor_line1__ to __monitor_line4__"),
        (good.clone(), "__monitor_line0__", "expected __monitor_line@__, or __monitor_line1__ to __monitor_line4__"),
        (good, "__monitor_line", "expected __monitor_line@__, or __monitor_line1__ to __monitor_line4__"),
    ];
    for (path, command, reason) in cases {
        let finished = run(&["-p", "1", "--monitor-input", &path, "--command", command]);
        assert_eq!(finished.code, Some(2), "{}", finished.stderr);
        assert!(finished.stderr.contains(reason), "{reason}: {}", finished.stderr);
    }
    let finished = run(&["-p", "1", "--command", "__monitor_line1__"]);
    assert!(
        finished.code == Some(2) && finished.stderr.contains("--monitor-input is not given"),
        "{}",
        finished.stderr
    );
}

#[test]
fn what_scripts_sent_is_told_and_sent() {
    let server = Scripted::answering("+OK\r\n");
    let text = "1.0 [0 127.0.0.1:1] \"EVAL\" \"x\" \"0\"\n1.0 [0 lua] \"GET\" \"k\"\n";
    let document = replay(&server, "scripts", text, &["-c", "1", "-n", "2", "--command", "__monitor_line@__"]);
    assert_eq!(server.requests(), [vec!["EVAL", "x", "0"], vec!["GET", "k"]]);
    assert!(document["lab"]["warnings"].to_string().contains("1 of its commands were sent by scripts (lua)"));
}
