//! Values that are read are compared with what was written.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::program::run;
use crate::support::scripted::{Request, Scripted, cluster};
use crate::support::{load, multiset};

type Store = Arc<Mutex<HashMap<String, String>>>;

const KEYS: [&str; 4] = ["--key-minimum", "1", "--key-maximum", "40"];

/// What a server with this store answers.
fn answer(store: &Store, request: &Request) -> String {
    let mut store = store.lock().expect("the store");
    match request[0].to_uppercase().as_str() {
        "SET" | "MSET" => {
            store.extend(request[1..].chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())));
            "+OK\r\n".to_owned()
        }
        "SETEX" => {
            store.insert(request[1].clone(), request[3].clone());
            "+OK\r\n".to_owned()
        }
        "GET" => match store.get(&request[1]) {
            Some(value) => format!("${}\r\n{value}\r\n", value.len()),
            None => "$-1\r\n".to_owned(),
        },
        _ => "-ERR unknown\r\n".to_owned(),
    }
}

fn server(store: &Store) -> Scripted {
    let store = Arc::clone(store);
    Scripted::replying(move |request, _| answer(&store, request))
}

/// Runs with these arguments more; returns what is reported of all values, and of each command.
fn verify(server: &Scripted, arguments: &[&str]) -> (Value, Vec<Value>) {
    let shape = ["--verify", "-t", "2", "-c", "2", "--pipeline", "8"];
    let document = load(server, &[&shape[..], &KEYS, arguments].concat());
    let counts = |part: &Value| json!([part["compared"], part["mismatches"]]);
    let commands = document["lab"]["commands"].as_array().expect("commands").iter().map(counts).collect();
    assert_eq!(document["lab"]["warnings"], json!([]));
    (counts(&document["lab"]), commands)
}

/// Writes all 40 keys.
fn fill(store: &Store, arguments: &[&str]) {
    let write = ["-n", "allkeys", "--ratio", "1:0", "--key-pattern", "P:P"];
    verify(&server(store), &[&write[..], arguments].concat());
    assert_eq!(store.lock().expect("the store").len(), 40);
}

#[test]
fn what_is_read_back_in_the_same_run_is_what_was_written() {
    let store = Store::default();
    let (total, commands) = verify(&server(&store), &["-n", "500", "--ratio", "1:1", "-d", "20"]);
    let compared = total[0].as_u64().expect("a count");
    assert!((800..=1000).contains(&compared), "{compared}: nearly all keys are soon there");
    assert_eq!((total, commands), (json!([compared, 0]), vec![json!([null, null]), json!([compared, 0])]));
    let store = store.lock().expect("the store");
    assert!(store.values().all(|value| value.len() == 20));
    assert_eq!(multiset(store.values()).len(), store.len(), "each key has a value of its own");
}

#[test]
fn a_later_run_that_only_reads_knows_what_must_be_there() {
    for sizes in [&["-d", "7"][..], &["--data-size-range", "1-90"], &["--data-size-list", "3:1,60:2"]] {
        let store = Store::default();
        fill(&store, sizes);
        let reading = ["-n", "100", "--seed", "9", "--command", "GET __key__", "--command-key-pattern", "Z"];
        let (total, _) = verify(&server(&store), &[&reading[..], sizes].concat());
        assert_eq!(total, json!([400, 0]), "{sizes:?}");
        let (total, _) = verify(&server(&store), &[&reading[..], &["-d", "91"]].concat());
        assert_eq!(total, json!([400, 400]), "other lengths than {sizes:?}");
    }
}

#[test]
fn a_value_that_is_not_that_of_its_key_is_a_mismatch() {
    let reading = ["-n", "40", "-t", "1", "-c", "1", "--command", "GET __key__", "--command-key-pattern", "S"];
    let changes: [fn(&mut HashMap<String, String>); 4] = [
        |store| store.get_mut("memtier-7").expect("a value").replace_range(31..32, "~"),
        |store| store.get_mut("memtier-7").expect("a value").truncate(31),
        |store| store.get_mut("memtier-7").expect("a value").push('x'),
        |store| {
            let other = store["memtier-8"].clone();
            store.insert("memtier-7".to_owned(), other);
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let store = Store::default();
        fill(&store, &[]);
        change(&mut store.lock().expect("the store"));
        let more = ["--command", "ECHO __key__"];
        let reading = ["-n", "40", "--command", "GET __key__", "--command-key-pattern", "P"];
        let (total, commands) = verify(&server(&store), &[&reading[..], &more].concat());
        assert_eq!(total, json!([80, 2]), "change {number}");
        assert_eq!(commands, [json!([80, 2]), json!([null, null])]);
    }
    let store = Store::default();
    fill(&store, &[]);
    store.lock().expect("the store").remove("memtier-3");
    let (total, _) = verify(&server(&store), &reading);
    assert_eq!(total, json!([39, 0]), "a value that is not there is not a wrong one");
}

#[test]
fn the_summary_tells_mismatches_if_there_are_any() {
    let server = Scripted::answering("$1\r\n~\r\n");
    let arguments =
        ["-s", "127.0.0.1", "-p", &server.port(), "-t", "1", "-c", "1", "-n", "3", "--command", "GET __key__"];
    let stdout = |arguments: &[&str]| run(arguments).stdout;
    let summary = stdout(&[&arguments[..], &["--verify"]].concat());
    assert!(summary.contains("3 mismatches: values that are not those of their keys"), "{summary}");
    assert!(!stdout(&arguments).contains("mismatch"));
    let document = load(&server, &arguments[4..]);
    assert_eq!(document["lab"]["mismatches"], json!(null), "nothing is compared without being asked");
}

#[test]
fn replies_may_be_cut_anywhere_and_come_between_push_frames() {
    let store = Store::default();
    fill(&store, &[]);
    let server = Scripted::start(move |peer| {
        while let Some(request) = peer.request()
            && peer.send_apart(format!(">2\r\n+invalidate\r\n$3\r\nabc\r\n{}", answer(&store, &request)).as_bytes())
        {
        }
    });
    let (total, _) = verify(&server, &["-n", "20", "--command", "GET __key__"]);
    assert_eq!(total, json!([80, 0]));
}

#[test]
fn a_value_that_is_far_too_long_is_a_mismatch_and_the_next_is_checked_again() {
    let store = Store::default();
    fill(&store, &[]);
    store.lock().expect("the store").insert("memtier-7".to_owned(), "x".repeat(1 << 21));
    let reading = ["-n", "40", "--command", "GET __key__", "--command-key-pattern", "P"];
    let (total, _) = verify(&server(&store), &reading);
    assert_eq!(total, json!([160, 4]));
}

#[test]
fn the_key_of_a_value_is_the_whole_argument_that_stands_last_before_it() {
    let store = Store::default();
    let writing = ["--command", "MSET a:__key__ __data__ __key__:b __data__", "--command-key-pattern", "P"];
    verify(&server(&store), &[&["-n", "allkeys"][..], &writing].concat());
    let reading = ["--command", "get a:__key__", "--command", "GET __key__:b"];
    let (total, commands) = verify(&server(&store), &[&["-n", "80"][..], &reading].concat());
    // Each walk of 40 keys writes 20 of each kind; all that are there are right.
    assert_eq!(total[1], json!(0));
    assert!(commands.iter().all(|command| command[0].as_u64().is_some_and(|count| count > 40)), "{commands:?}");
}

#[test]
fn what_is_written_before_the_measurement_or_expires_is_compared_too() {
    let store = Store::default();
    let (total, _) = verify(&server(&store), &["--prefill", "-n", "20", "--ratio", "0:1"]);
    assert_eq!(total, json!([80, 0]));
    let store = Store::default();
    let (total, _) = verify(&server(&store), &["--prefill", "-n", "40", "--ratio", "1:1", "--expiry-range", "100-200"]);
    assert_eq!(total, json!([80, 0]));
}

#[test]
fn values_of_a_cluster_are_compared_too() {
    let store = Store::default();
    fill(&store, &[]);
    store.lock().expect("the store").insert("memtier-9".to_owned(), "~".to_owned());
    let nodes = cluster::start(cluster::even(3), move |_, _, request| answer(&store, request));
    let reading = ["--cluster-mode", "-n", "40", "--command", "GET __key__", "--command-key-pattern", "S"];
    let (total, _) = verify(&nodes[0], &reading);
    assert_eq!(total, json!([160, 4]));
}
