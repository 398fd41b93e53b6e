//! What arguments come to.

use std::path::PathBuf;
use std::time::Duration;

use zerolap_load_arguments::{Mode, UsageError};
use zerolap_load_requests::{
    Amount, Arrivals, DataSizes, Endpoint, IpVersion, KeyPattern, Percentile, Policy, Protocol, Settings, TlsVersion,
    Unit,
};

use crate::reading::{accept, plan, read, refusal, settings};

fn lines(settings: &Settings) -> Vec<(String, u64, char)> {
    let commands = settings.commands.iter();
    commands.map(|command| (command.line.clone(), command.ratio, command.pattern.letter())).collect()
}

fn tcp(host: &str, port: u16) -> Endpoint {
    Endpoint::Tcp { host: host.to_owned(), port }
}

#[test]
fn without_arguments_it_does_what_memtier_does() {
    let settings = settings(&[]);
    assert_eq!(settings.server.endpoint, tcp("localhost", 6379));
    assert_eq!((settings.threads, settings.clients, settings.pipeline), (4, 50, 1));
    assert_eq!(lines(&settings), [("SET __key__ __data__".to_owned(), 1, 'R'), ("GET __key__".to_owned(), 10, 'R')]);
    assert_eq!((settings.keys.range.minimum(), settings.keys.range.maximum()), (0, 10_000_000));
    assert_eq!((settings.keys.prefix.as_str(), settings.data.sizes), ("memtier-", DataSizes::Fixed(32)));
    let plan = plan(&[]);
    assert_eq!((plan.work.amount, plan.work.pace, plan.runs.get()), (Amount::PerConnection(10_000), None, 1));
    assert_eq!(accept(&[]).report.percentiles, [50.0, 99.0, 99.9]);
}

#[test]
fn a_search_has_steps_of_five_seconds_from_1000_requests_a_second_on() {
    let searched = plan(&["--search", "slo=p99<1ms"]);
    let pace = searched.work.pace.expect("a pace");
    assert_eq!((searched.work.amount, pace.per_second.get()), (Amount::For(Duration::from_secs(5)), 1000));
    let slo = searched.search.expect("a limit");
    assert_eq!((slo.percentile, slo.limit), (Percentile::P99, Duration::from_millis(1)));
    let given = plan(&["--search", "slo=max<2s", "--rate", "7", "--arrivals", "poisson", "--test-time", "3"]);
    let pace = given.work.pace.expect("a pace");
    assert_eq!((pace.per_second.get(), pace.arrivals), (7, Arrivals::Poisson));
    assert_eq!(given.work.amount, Amount::For(Duration::from_secs(3)));
    assert!(settings(&["--search", "slo=p50<1s", "--arrivals", "poisson"]).listening.is_none());
}

#[test]
fn values_may_be_joined_or_apart_and_the_last_one_counts() {
    for arguments in [&["-t7"][..], &["-t", "7"], &["--threads=7"], &["--threads", "7"], &["--threads=3", "-t7"]] {
        assert_eq!(settings(arguments).threads, 7, "{arguments:?}");
    }
    let clustered = settings(&["-46Rt2"]);
    assert_eq!((clustered.server.ip_version, clustered.data.random), (Some(IpVersion::V6), true));
    assert_eq!(clustered.threads, 2);
    assert_eq!(settings(&["--key-prefix="]).keys.prefix, "");
    assert_eq!(settings(&["--key-prefix", ""]).keys.prefix, "");
    assert_eq!(settings(&["--key-prefix", "-n"]).keys.prefix, "-n");
    assert_eq!(settings(&["-h", "db"]).server.endpoint, tcp("db", 6379), "-h is the host, not the help");
}

#[test]
fn words_that_belong_to_no_argument_are_reported_and_ignored() {
    let arguments = accept(&["stray", "-t", "2", "--", "-t", "3"]);
    assert_eq!(arguments.settings.threads, 2);
    let expected = ["stray", "-t", "3"].map(|word| format!("{word:?} belongs to no argument and is ignored"));
    assert_eq!(arguments.report.warnings, expected);
}

#[test]
fn names_that_are_unknown_or_unclear_are_refused() {
    assert_eq!(refusal(&["--nonsense"]), "there is no argument --nonsense");
    assert_eq!(refusal(&["-z"]), "there is no argument -z");
    assert!(refusal(&["--key-m", "1"]).contains("--key-minimum, --key-maximum, --key-median"));
    assert!(refusal(&["--tls=yes"]).contains("unexpected argument"));
    assert!(refusal(&["--threads"]).contains("missing argument"));
    assert!(refusal(&["-n=5"]).contains("\"=5\""));
    assert!(matches!(read(&["--wait-ratio", "1:2"]), Err(UsageError::OnlyMemtier { name: "wait-ratio", .. })));
    assert!(refusal(&["--statsd-h", "x"]).contains("memtier_benchmark"));
}

#[test]
fn the_server_can_be_given_in_pieces_or_as_a_uri() {
    let pieces = settings(&["-s", "db", "-p", "7000", "-a", "bob:secret", "--select-db", "3", "--tls", "-P", "resp3"]);
    assert_eq!((&pieces.server.endpoint, pieces.server.database), (&tcp("db", 7000), 3));
    assert_eq!(pieces.server.protocol, Protocol::Resp3);
    let uri = settings(&["-u", "rediss://bob:secret@db:7000/3", "-P", "resp3"]);
    assert_eq!(format!("{:?}", uri.server), format!("{:?}", pieces.server));
    assert_eq!(settings(&["-u", "redis://db", "-p", "7000"]).server.endpoint, tcp("db", 7000));
    let unix = settings(&["-u", "unix:///run/redis.sock"]);
    assert_eq!(unix.server.endpoint, Endpoint::Unix(PathBuf::from("/run/redis.sock")));
    assert_eq!(settings(&["-S", "/run/redis.sock"]).server.endpoint, unix.server.endpoint);
}

#[test]
fn passwords_stay_out_of_messages() {
    for uri in ["redis://bob:secret@db:x", "http://bob:secret@db"] {
        assert!(!refusal(&["--uri", uri]).contains("secret"), "{}", refusal(&["--uri", uri]));
    }
}

#[test]
fn encryption_is_as_asked_for() {
    let files = ["--tls", "--cert", "c.pem", "--key", "k.pem", "--cacert", "a.pem"];
    let more = ["--tls-protocols", "TLSv1.3", "--sni", "db.example"];
    let tls = settings(&[&files[..], &more].concat()).server.tls.expect("TLS");
    let files = [tls.certificate, tls.key, tls.authorities].map(|path| path.expect("a file"));
    assert_eq!(files, ["c.pem", "k.pem", "a.pem"].map(PathBuf::from));
    assert_eq!((tls.versions, tls.server_name.as_deref()), (vec![TlsVersion::V1_3], Some("db.example")));
    let tls = settings(&["--tls", "--tls-skip-verify", "--cert", "both.pem"]).server.tls.expect("TLS");
    assert_eq!((tls.skip_verify, tls.key), (true, Some(PathBuf::from("both.pem"))));
    assert!(refusal(&["--tls", "--tls-protocols", "TLSv1.1"]).contains("no longer secure"));
}

#[test]
fn connections_are_patient_and_come_back_as_asked_for() {
    let jitter = ["--thread-conn-start-min-jitter-micros", "5", "--thread-conn-start-max-jitter-micros", "70"];
    let reconnect = ["--reconnect-interval", "9", "--reconnect-on-error", "--max-reconnect-attempts", "3"];
    let more = ["--reconnect-backoff-factor", "1.5", "--connection-timeout", "2", "--reply-timeout", "0.5"];
    let connecting = settings(&[&jitter[..], &reconnect, &more].concat()).connecting;
    assert_eq!(connecting.jitter, (Duration::from_micros(5), Duration::from_micros(70)));
    assert_eq!(connecting.reconnect_interval.map(std::num::NonZero::get), Some(9));
    let reconnecting = connecting.reconnect_on_error.expect("it comes back");
    assert_eq!((reconnecting.maximum_attempts, reconnecting.backoff_factor), (3, 1.5));
    assert_eq!(connecting.connect_timeout, Duration::from_secs(2));
    assert_eq!(connecting.reply_timeout, Duration::from_millis(500));
    assert_eq!(settings(&["--connect-timeout", "2"]).connecting.connect_timeout, Duration::from_secs(2));
}

#[test]
fn a_rate_is_in_total_and_a_limit_for_each_connection() {
    let pace = plan(&["--rate", "5000", "--arrivals", "poisson"]).work.pace.expect("a pace");
    assert_eq!((pace.per_second.get(), pace.arrivals, pace.unit), (5000, Arrivals::Poisson, Unit::Request));
    let pace = plan(&["--rate-limiting", "10", "-t", "2", "-c", "3"]).work.pace.expect("a pace");
    assert_eq!((pace.per_second.get(), pace.arrivals, pace.unit), (60, Arrivals::Fixed, Unit::Request));
}

#[test]
fn phases_come_from_the_command_line_unless_another_program_gives_them() {
    let plan = plan(&["--check", "--prefill", "--warm-up", "1.5", "--test-time", "3", "-x", "4"]);
    assert!(plan.check && plan.prefill);
    assert_eq!(plan.warm_up, Some(Duration::from_millis(1500)));
    assert_eq!((plan.work.amount, plan.runs.get()), (Amount::For(Duration::from_secs(3)), 4));
    let controlled = accept(&["--control"]);
    assert_eq!((controlled.mode, controlled.settings.timeline), (Mode::Control, None));
}

#[test]
fn ratio_and_patterns_go_for_set_and_get() {
    let chosen = settings(&["--ratio", "1:0", "--key-pattern", "S:Z", "--data-offset", "5"]);
    assert_eq!(
        lines(&chosen),
        [("SETRANGE __key__ 5 __data__".to_owned(), 1, 'S'), ("GETRANGE __key__ 5 -1".to_owned(), 0, 'Z')]
    );
}

#[test]
fn ratio_and_pattern_of_a_command_follow_it() {
    let one = ["--command", "GET __key__", "--command-ratio", "3", "--command-key-pattern", "G"];
    let other = ["--command", "PING", "--command-ratio", "0", "--command", "TYPE __key__"];
    let expected =
        [("GET __key__".to_owned(), 3, 'G'), ("PING".to_owned(), 0, 'R'), ("TYPE __key__".to_owned(), 1, 'R')];
    assert_eq!(lines(&settings(&[&one[..], &other].concat())), expected);
    let mixed = settings(&["--command", "GET __key__", "--command-key-pattern", "P", "--command", "TYPE __key__"]);
    assert_eq!(mixed.commands[0].pattern, KeyPattern::Parallel);
    assert!(refusal(&["--command-ratio", "3"]).contains("none stands before it"));
}

#[test]
fn keys_and_values_are_as_asked_for() {
    let keys = ["--key-minimum", "10", "--key-maximum", "20", "--key-median", "12.5", "--key-stddev", "2"];
    let drawn = settings(&[&keys[..], &["--key-pattern", "G:Z", "--key-zipf-exp", "0.8"]].concat()).keys;
    assert_eq!((drawn.median, drawn.standard_deviation, drawn.zipf_exponent), (Some(12.5), Some(2.0), 0.8));
    let sizes = |arguments: &[&str]| settings(arguments).data.sizes;
    assert_eq!(sizes(&["-d", "7"]), DataSizes::Fixed(7));
    assert_eq!(sizes(&["--data-size-range", "5-9"]), DataSizes::Uniform(5, 9));
    assert_eq!(sizes(&["--data-size-range", "5-9", "--data-size-pattern", "S"]), DataSizes::ByKey(5, 9));
    assert_eq!(sizes(&["--data-size-list", "5:1,9:2"]), DataSizes::Weighted(vec![(5, 1), (9, 2)]));
}

#[test]
fn compat_draws_the_same_on_each_connection_unless_distinct_seeds_are_given() {
    let kept = |arguments: &[&str]| {
        let settings = settings(arguments);
        (settings.policy, settings.one_stream)
    };
    assert_eq!(kept(&[]), (Policy::Lab, false));
    assert_eq!(kept(&["--compat"]), (Policy::Memtier, true));
    assert_eq!(kept(&["--compat", "--distinct-client-seed"]), (Policy::Memtier, false));
    assert_eq!(settings(&["--seed", "9"]).seed, 9);
    let seeds = [(); 2].map(|()| settings(&["--randomize"]).seed);
    assert!(seeds[0] != seeds[1] && seeds.iter().all(|&seed| seed < 1 << 53), "{seeds:?}");
}

#[test]
fn a_scan_goes_on_where_it_is_the_only_command() {
    let scan = ["--command", "scan 0 COUNT 5", "--scan-incremental-iteration"];
    assert_eq!(settings(&scan).scan.map(|scan| scan.maximum_iterations), Some(0));
    let limited = settings(&[&scan[..], &["--scan-incremental-max-iterations", "7"]].concat());
    assert_eq!(limited.scan.map(|scan| scan.maximum_iterations), Some(7));
    let wrong: [&[&str]; 4] = [
        &["--scan-incremental-iteration"],
        &["--scan-incremental-iteration", "--command", "GET x"],
        &["--scan-incremental-iteration", "--command", "SCAN"],
        &["--scan-incremental-iteration", "--command", "SCAN 0", "--command", "SCAN 0"],
    ];
    for arguments in wrong {
        assert!(refusal(arguments).contains("exactly one --command"), "{arguments:?}");
    }
}

#[test]
fn what_is_written_down_is_as_asked_for() {
    let files = ["-o", "summary", "--json-out-file", "-", "--print-percentiles", "99.99,50", "--hide-histogram"];
    let more = ["--command-stats-breakdown", "LINE", "--print-all-runs", "--show-config", "-x", "2"];
    let report = accept(&[&files[..], &more].concat()).report;
    assert_eq!((report.out_file.as_deref(), report.json_out_file.as_deref()), (Some("summary"), Some("-")));
    assert_eq!(report.percentiles, [99.99, 50.0]);
    assert!(report.hide_histogram && report.breakdown_by_line && report.print_all_runs && report.show_settings);
    assert_eq!(report.warnings, Vec::<String>::new());
}

#[test]
fn slots_of_the_timeline_have_histograms_where_their_length_is_given() {
    let usual = accept(&["--command", "PING"]);
    assert_eq!((usual.settings.timeline, usual.report.slot_histograms), (Some(Duration::from_millis(100)), false));
    let short = accept(&["--command", "PING", "--timeline-slot", "0.01"]);
    assert_eq!((short.settings.timeline, short.report.slot_histograms), (Some(Duration::from_millis(10)), true));
    for wrong in ["0", "0.02", "1", "0.010", "x"] {
        assert!(refusal(&["--timeline-slot", wrong]).contains("expected 0.001, 0.01 or 0.1"), "{wrong}");
    }
}

#[test]
fn contradictions_are_refused() {
    let (scan, any_line) = ("--scan-incremental-iteration", "__monitor_line@__");
    let cases: [(&[&str], &str); 34] = [
        (&["-n", "5", "--test-time", "5"], "--requests and --test-time exclude"),
        (&["--test-time", "5", "-n", "allkeys"], "--requests and --test-time exclude"),
        (&["-S", "/x", "-p", "1"], "--unix-socket excludes"),
        (&["-S", "/x", "-u", "redis://"], "--unix-socket excludes --uri"),
        (&["-u", "unix:///x", "-s", "db"], "excludes --server"),
        (&["--key-minimum", "5", "--key-maximum", "4"], "--key-maximum must not be below"),
        (&["--key-minimum", "20000000"], "--key-maximum must not be below"),
        (&["--key-median", "20", "--key-maximum", "10"], "--key-median must be"),
        (&["--lockstep", "--rate", "5"], "--lockstep and a rate exclude"),
        (&["--lockstep", "--cluster-mode"], "--lockstep and --cluster-mode exclude"),
        (&["-d", "5", "--data-size-range", "5-9"], "exclude each other"),
        (&["--data-size-range", "5-9", "--data-size-list", "5:1"], "exclude each other"),
        (&["--data-offset", "5", "--expiry-range", "5-9"], "--data-offset and --expiry-range exclude"),
        (&["--rate", "5", "--rate-limiting", "5"], "--rate and --rate-limiting exclude"),
        (&["--thread-conn-start-min-jitter-micros", "5"], "must not be below"),
        (&["--seed", "5", "--randomize"], "--seed and --randomize exclude"),
        (&["--control", "-n", "5"], "--control"),
        (&["--control", "--rate", "5"], "--control"),
        (&["--control", "-x", "2"], "--control"),
        (&["--control", "--warm-up", "2"], "--control"),
        (&["--cluster-mode", "--reconnect-interval", "5"], "--cluster-mode and --reconnect-interval"),
        (&["--cluster-mode", "-S", "/x"], "--cluster-mode needs a TCP port"),
        (&["--cluster-mode", "-u", "redis://db/1"], "--cluster-mode excludes --select-db"),
        (
            &["--cluster-mode", "--monitor-input", "tests/recording.txt", "--command", any_line],
            "leave out --cluster-mode",
        ),
        (&["--cluster-mode", scan, "--command", "SCAN 0"], "leave out --cluster-mode"),
        (&["--pipeline", "2", scan, "--command", "SCAN 0"], "leave out --pipeline"),
        (&["--compat", "-n", "allkeys", "--key-minimum", "5", "--key-maximum", "5"], "leaves out the last key"),
        (&["--command", "PING", "--command-ratio", "0"], "no command is ever sent"),
        (&["--listen-only", "--test-time", "1", "--listen", "CLIENT REPLY OFF"], "the server does not answer after it"),
        (&["--listen-only", "--test-time", "1", "--listen", "UNSUBSCRIBE a"], "once for each channel, not once"),
        (&["--command", "subscribe a b"], "the server answers it once for each channel"),
        (&["--command", "CLIENT REPLY OFF"], "the server does not answer after it"),
        (&["--command", "GET a", "--command", "MULTI", "--command", "SET a b"], "no EXEC or DISCARD follows it"),
        (&["--command", "MULTI", "--command", "EXEC", "--command-ratio", "0"], "no EXEC or DISCARD follows it"),
    ];
    for (arguments, reason) in cases {
        assert!(refusal(arguments).contains(reason), "{arguments:?}: {}", refusal(arguments));
    }
}
