//! Where results go, and what people read of them.

use crate::support::program::{Finished, run};
use crate::support::scripted::{Directory, Scripted};

fn finish(server: &Scripted, arguments: &[&str]) -> Finished {
    let port = server.port();
    let shape = ["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "2", "-n", "10"];
    let finished = run(&[&shape[..], arguments].concat());
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    finished
}

#[test]
fn the_summary_goes_to_standard_output_or_a_file_or_out_of_the_way_of_the_json() {
    let server = Scripted::answering("+OK\r\n");
    let directory = Directory::new("output");
    let (summary, json) = (directory.text("summary.txt"), directory.text("result.json"));
    let read = |name: &str| std::fs::read_to_string(directory.path(name)).expect("a file");

    let finished = finish(&server, &["--command", "PING"]);
    assert!(finished.stdout.contains("PING") && finished.stderr.is_empty(), "{}", finished.stderr);
    for name in ["-o", "--out-file"] {
        let finished = finish(&server, &["--command", "PING", name, &summary]);
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("", ""));
        assert!(read("summary.txt").contains("PING"));
    }
    let finished = finish(&server, &["--command", "PING", "--json-out-file", "-"]);
    assert_eq!(finished.json()["lab"]["requests"], 20);
    assert!(finished.stderr.contains("PING"));
    let finished = finish(&server, &["--command", "PING", "-o", &summary, "--json-out-file", &json]);
    assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("", ""));
    let document: serde_json::Value = serde_json::from_str(&read("result.json")).expect("JSON");
    assert_eq!(document["configuration"]["out_file"], summary.as_str());
    assert_eq!(document["ALL STATS"]["Pings"]["Count"], 20);
}

#[test]
fn the_table_has_the_servers_counts_and_the_percentiles_asked_for() {
    let server = Scripted::replying(|request, _| match request[0].as_str() {
        "GET" => "$-1\r\n".to_owned(),
        _ => "-OOM no room\r\n".to_owned(),
    });
    let finished = finish(&server, &["--ratio", "1:4", "--print-percentiles", "12.5,99.99"]);
    let lines: Vec<&str> = finished.stdout.lines().collect();
    let line = |start: &str| {
        let line = lines.iter().find(|line| line.starts_with(start));
        line.unwrap_or_else(|| panic!("no {start} in {}", finished.stdout)).to_string()
    };
    assert!(line("command").contains("p12.5 us") && line("command").contains("p99.99 us"));
    assert!(!line("command").contains("p50"));
    let figures = |start: &str| -> Vec<String> {
        let line = line(start)[start.len()..].trim().to_owned();
        line.split_ascii_whitespace().map(str::to_owned).collect()
    };
    // Requests, hits, misses, errors.
    assert_eq!(figures("SET __key__ __data__")[1..5], ["4", "0", "0", "4"]);
    assert_eq!(figures("GET __key__")[1..5], ["16", "0", "16", "0"]);
    assert_eq!(figures("all")[1..5], ["20", "0", "16", "4"]);
    assert!(
        finished.stdout.contains("4 replies were errors: OOM") && finished.stdout.contains("the first: OOM no room")
    );
}

#[test]
fn each_run_has_its_table() {
    let server = Scripted::answering("+OK\r\n");
    let finished = finish(&server, &["--command", "PING", "-x", "2"]);
    for heading in ["Run 1 of 2", "Run 2 of 2", "All runs together"] {
        assert!(finished.stdout.contains(heading), "{}", finished.stdout);
    }
}

#[test]
fn settings_are_printed_to_standard_error_where_asked_for() {
    let server = Scripted::answering("+OK\r\n");
    let arguments = ["--command", "PING __key__", "--key-prefix", "some:"];
    let plain = finish(&server, &arguments);
    assert!(plain.stderr.is_empty() && !plain.stdout.contains("some:"), "{}", plain.stderr);
    let shown = finish(&server, &[&arguments[..], &["--show-config"]].concat());
    assert!(shown.stderr.contains("some:"), "{}", shown.stderr);
    assert!(shown.stdout.contains("ops/s") && !shown.stdout.contains("some:"), "{}", shown.stdout);
    // With the result on the same stream, the settings come first.
    let both = finish(&server, &[&arguments[..], &["--show-config", "--json-out-file", "-"]].concat()).stderr;
    let (settings, result) = (both.find("some:"), both.find("ops/s"));
    assert!(settings.is_some() && settings < result, "{both}");
}

#[test]
fn what_is_asked_for_in_vain_is_reported() {
    let server = Scripted::answering("+OK\r\n");
    let finished = finish(&server, &["--command", "PING", "--debug", "--key-maximum", "5", "--json-out-file", "-"]);
    for argument in ["--debug", "--key-maximum"] {
        assert!(finished.stderr.contains(argument), "{}", finished.stderr);
        assert!(finished.json()["lab"]["warnings"].to_string().contains(argument));
    }
}
