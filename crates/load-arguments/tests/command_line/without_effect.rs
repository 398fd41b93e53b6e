//! Arguments without effect are reported.

use zerolap_load_requests::KeyPattern;

use crate::reading::{accept, warnings};

#[test]
fn an_argument_without_effect_is_reported_with_the_reason() {
    let ping = |arguments: &[&'static str]| [&["--command", "PING"], arguments].concat();
    let cases = [
        (vec!["--distinct-client-seed"], "--distinct-client-seed has no effect: each connection draws"),
        (vec!["--monitor-pattern", "R"], "--monitor-pattern has no effect: no --command is __monitor_line@__"),
        (
            vec!["--monitor-input", "tests/recording.txt"],
            "--monitor-input has no effect: no --command is __monitor_lineN__",
        ),
        (ping(&["--verify"]), "--verify has no effect: no command that is sent is GET __key__"),
        (
            vec!["--verify", "--command", "MGET __key__ __key__"],
            "--verify has no effect: no command that is sent is GET",
        ),
        (vec!["--verify", "--data-offset", "5"], "--verify has no effect: no command that is sent is GET __key__"),
        (vec!["--verify", "-R"], "--random-data has no effect: with --verify values are made from their keys"),
        (
            vec!["--verify", "--data-size-range", "5-9", "--data-size-pattern", "S"],
            "--data-size-pattern has no effect: with --verify values are made from their keys",
        ),
        (vec!["-D"], "--debug has no effect"),
        (vec!["-S", "/x", "-4"], "--ipv4 has no effect: a unix socket"),
        (vec!["-u", "redis://db", "-s", "other"], "--server has no effect: --uri sets it too"),
        (vec!["-u", "redis://:x@db", "-a", "y"], "--authenticate has no effect: --uri sets it too"),
        (vec!["--tls-skip-verify"], "--tls-skip-verify has no effect: --tls is not given"),
        (vec!["--tls-protocols", "TLSv1.2"], "--tls-protocols has no effect: --tls is not given"),
        (vec!["--tls", "--key", "k.pem"], "--key has no effect: --cert is not given"),
        (vec!["--tls", "--tls-skip-verify", "--cacert", "a.pem"], "--cacert has no effect: with --tls-skip-verify"),
        (vec!["--max-reconnect-attempts", "3"], "--max-reconnect-attempts has no effect: --reconnect-on-error"),
        (vec!["--reconnect-backoff-factor", "3"], "--reconnect-backoff-factor has no effect: --reconnect-on-error"),
        (vec!["--arrivals", "poisson"], "--arrivals has no effect: neither --rate nor --search is given"),
        (vec!["--arrivals", "fixed", "--rate-limiting", "3"], "--arrivals has no effect: neither --rate nor"),
        (vec!["--key-stddev", "3"], "--key-stddev has no effect: no command draws keys with pattern G"),
        (vec!["--key-median", "3"], "--key-median has no effect: no command draws keys with pattern G"),
        (vec!["--key-zipf-exp", "1"], "--key-zipf-exp has no effect: no command draws keys with pattern Z"),
        (vec!["--data-size-pattern", "R"], "--data-size-pattern has no effect: --data-size-range is not given"),
        (vec!["--data-size-range", "9-5"], "--data-size-range 9-5 is read as 5-9"),
        (vec!["--scan-incremental-max-iterations", "3"], "has no effect: --scan-incremental-iteration is not given"),
        (vec!["--listeners", "3"], "--listeners has no effect: --listen is not given"),
        (vec!["--listen-authenticate", "x"], "--listen-authenticate has no effect: --listen is not given"),
        (vec!["--listen", "SUBSCRIBE a", "--listen-only", "--test-time", "1", "-t", "2"], "--threads has no effect"),
        (
            vec!["--listen", "SUBSCRIBE a", "--listen-only", "--test-time", "1", "--expiry-range", "5-9"],
            "--expiry-range has no effect: no SET is sent",
        ),
        (vec!["--cert", "c.pem"], "--cert has no effect: --tls is not given"),
        (vec!["--control", "--quiet"], "--quiet has no effect: with --control no progress is shown"),
        (vec!["--control", "--timeline-slot", "0.01"], "--timeline-slot has no effect: with --control there is no"),
        (vec!["--print-all-runs"], "--print-all-runs has no effect: there is only one run"),
        (vec!["--control", "-o", "x"], "--out-file has no effect: with --control there is no summary"),
        (vec!["--ratio", "0:1", "-d", "3"], "--data-size has no effect: no command that is sent has __data__"),
        (ping(&["-R"]), "--random-data has no effect: no command that is sent has __data__"),
        (ping(&["--data-size-list", "3:1"]), "--data-size-list has no effect: no command that is sent has __data__"),
        (ping(&["--key-prefix", "x"]), "--key-prefix has no effect: no command that is sent has __key__"),
        (ping(&["--key-maximum", "9"]), "--key-maximum has no effect: no command that is sent has __key__"),
        (ping(&["--data-offset", "9"]), "--data-offset has no effect: it is for SET and GET"),
        (ping(&["--expiry-range", "5-9"]), "--expiry-range has no effect: it is for SET and GET"),
        (vec!["--ratio", "0:1", "--expiry-range", "5-9"], "--expiry-range has no effect: no SET is sent"),
        (vec!["--expiry-range", "9-5"], "--expiry-range 9-5 is read as 5-9"),
        (ping(&["--ratio", "1:1"]), "--ratio has no effect: it is for SET and GET, and there is a --command; memtier"),
        (ping(&["--command-ratio", "2"]), "--command-ratio has no effect: there is only one --command"),
        (ping(&["--command-key-pattern", "R"]), "--command-key-pattern of PING has no effect: the command has no"),
    ];
    for (arguments, expected) in cases {
        let warnings = warnings(&arguments);
        assert!(warnings.len() == 1 && warnings[0].contains(expected), "{arguments:?}: {warnings:?}");
    }
}

#[test]
fn an_argument_with_an_effect_is_not_reported() {
    let commands = ["--command", "PING", "--command-ratio", "1", "--command-key-pattern", "P"];
    let cases: [&[&str]; 8] = [
        // The range and the pattern determine how many requests there are.
        &[&commands[..], &["-n", "allkeys", "--key-maximum", "9"]].concat(),
        &["--prefill", "--ratio", "0:1", "-d", "3", "-R"],
        &["--prefill", "--command", "PING", "--key-prefix", "x"],
        &["--verify", "--command", "GET a:__key__", "-d", "3"],
        &["--verify", "--ratio", "1:0"],
        &["--compat", "--distinct-client-seed"],
        &["-x", "1", "--hide-histogram", "--lockstep"],
        &["--key-pattern", "R:G", "--key-median", "5"],
    ];
    for arguments in cases {
        assert_eq!(warnings(arguments), Vec::<String>::new(), "{arguments:?}");
    }
}

#[test]
fn a_key_pattern_beside_commands_goes_for_those_without_one() {
    let commands = ["--command", "GET __key__", "--command", "TYPE __key__", "--command-key-pattern", "S"];
    let read = accept(&[&["--key-pattern", "P:P"][..], &commands].concat());
    let patterns: Vec<KeyPattern> = read.settings.commands.iter().map(|command| command.pattern).collect();
    assert_eq!(patterns, [KeyPattern::Parallel, KeyPattern::Sequential]);
    let [warning] = read.report.warnings.as_slice() else { panic!("{:?}", read.report.warnings) };
    assert!(warning.contains("memtier_benchmark refuses the two together (exit code 2)"), "{warning}");
    assert!(warning.contains("its first letter, P, is used for each --command without"), "{warning}");
}
