//! Listeners at the redis-server of the PATH, where there is one.

use rustix::process::{Resource, getrlimit};
use serde_json::{Value, json};

use crate::support::Real;
use crate::support::cluster::Cluster;
use crate::support::program::run;

const KEYS: [&str; 6] = ["--key-prefix", "bench:", "--key-minimum", "1", "--key-maximum", "10"];

fn count(document: &Value, kind: &str) -> u64 {
    document["listeners"]["messages"][kind].as_u64().expect("a count")
}

#[test]
fn every_subscriber_gets_every_message() {
    let Some(server) = Real::start(&[]) else { return };
    let publish = ["-t", "1", "-c", "2", "-n", "100", "--command", "PUBLISH __key__ __data__"];
    for protocol in ["resp2", "resp3"] {
        // 20 listeners on 10 channels, two channels each: each channel has 4 of them.
        let listen = ["--listen", "SUBSCRIBE __key__ __key__", "--listeners", "20", "-P", protocol];
        let document = server.load(&[&publish[..], &KEYS, &listen].concat());
        assert_eq!((count(&document, "message"), &document["listeners"]["connections"]), (800, &json!(20)));
        let listen =
            ["--listen", "PSUBSCRIBE bench:*", "--listen", "SUBSCRIBE nothing", "--listeners", "2", "-P", protocol];
        let document = server.load(&[&publish[..], &KEYS, &listen].concat());
        assert_eq!((count(&document, "pmessage"), count(&document, "message")), (200, 0));
    }
}

#[test]
fn sharded_channels_are_listened_to() {
    let Some(server) = Real::start(&[]) else { return };
    if server.ask("COMMAND INFO SSUBSCRIBE").starts_with("*1") && server.ask("SPUBLISH a b").starts_with('-') {
        println!("skipped: the server has no sharded channels");
        return;
    }
    let publish = ["-t", "1", "-c", "1", "-n", "50", "--command", "SPUBLISH a __data__"];
    let document = server.load(&[&publish[..], &["--listen", "SSUBSCRIBE a b", "--listeners", "3"]].concat());
    assert_eq!(count(&document, "smessage"), 150);
}

#[test]
fn in_a_cluster_sharded_channels_are_listened_to_where_they_are() {
    let Some(cluster) = Cluster::start() else { return };
    let port = cluster.port(0).to_string();
    let server = ["-s", "127.0.0.1", "-p", &port, "--cluster-mode", "--json-out-file", "-"];
    let publish = ["-t", "1", "-c", "1", "-n", "100", "--command", "SPUBLISH __key__ x"];
    let listen = ["--listen", "SSUBSCRIBE __key__", "--listeners", "10"];
    let document = run(&[&server[..], &publish, &KEYS, &listen].concat()).document();
    assert_eq!((count(&document, "smessage"), &document["succeeded"]), (100, &json!(100)));
}

#[test]
fn changes_of_keys_are_pushed_to_those_who_track_them() {
    let Some(server) = Real::start(&[]) else { return };
    let set = ["-t", "1", "-c", "1", "-n", "40", "--command", "SET __key__ x", "-P", "resp3"];
    let listen = ["--listen", "CLIENT TRACKING ON BCAST PREFIX bench:", "--listeners", "4"];
    let document = server.load(&[&set[..], &KEYS, &listen].concat());
    let invalidations = count(&document, "invalidate");
    // The server reports several changes together.
    assert!((4..=160).contains(&invalidations), "{invalidations}");
    // RESP2 has no pushes: the server takes the command and reports nothing.
    let set = ["-t", "1", "-c", "1", "-n", "40", "--command", "SET __key__ x"];
    let document = server.load(&[&set[..], &KEYS, &listen].concat());
    assert_eq!(count(&document, "invalidate"), 0);
    let wrong = ["--listen", "CLIENT TRACKING MAYBE"];
    let finished = server.run(&[&set[..], &wrong].concat());
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert!(finished.stderr.contains("refused \"CLIENT TRACKING MAYBE\": ERR"), "{}", finished.stderr);
}

#[test]
fn listeners_may_be_other_users() {
    let Some(server) = Real::start(&[]) else { return };
    let user = |name, channels| server.call(&["ACL", "SETUSER", name, "on", ">pw", channels, "+subscribe"]);
    assert_eq!((user("ann", "&bench:1"), user("bob", "&bench:2")), ("OK".to_owned(), "OK".to_owned()));
    let publish =
        ["-t", "1", "-c", "1", "-n", "30", "--command", "PUBLISH bench:1 x", "--command", "PUBLISH bench:2 x"];
    let listen = ["--listen", "SUBSCRIBE bench:1", "--listen", "SUBSCRIBE bench:2", "--listeners", "4"];
    let users = ["--listen-authenticate", "ann:pw", "--listen-authenticate", "bob:pw"];
    let document = server.load(&[&publish[..], &listen, &users].concat());
    assert_eq!(count(&document, "message"), 60);
    let crossed = ["--listen-authenticate", "bob:pw", "--listen-authenticate", "ann:pw"];
    let finished = server.run(&[&publish[..], &listen, &crossed].concat());
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert!(finished.stderr.contains("NOPERM"), "{}", finished.stderr);
}

#[test]
fn five_thousand_listeners_hear_what_one_client_publishes() {
    let most = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    let Some(server) = Real::start(&["--maxclients", "6000"]) else { return };
    if most < 6_100 {
        println!("skipped: only {most} open files are allowed");
        return;
    }
    let publish = ["-t", "1", "-c", "1", "-n", "20", "--command", "PUBLISH news x"];
    let document = server.load(&[&publish[..], &["--listen", "SUBSCRIBE news", "--listeners", "5000"]].concat());
    assert_eq!((count(&document, "message"), &document["listeners"]["disconnects"]), (100_000, &json!(0)));
}

#[test]
fn listeners_that_the_server_drops_are_counted() {
    let Some(server) = Real::start(&[]) else { return };
    let kill = ["-t", "1", "-c", "1", "-n", "1", "--command", "CLIENT KILL TYPE pubsub"];
    let document = server.load(&[&kill[..], &["--listen", "SUBSCRIBE a", "--listeners", "3"]].concat());
    let listeners = &document["listeners"];
    assert_eq!((&listeners["connections"], &listeners["disconnects"]), (&json!(3), &json!(3)));
    assert_eq!(document["succeeded"], 1);
}
