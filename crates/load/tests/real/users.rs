//! Users and their permissions at the redis-server of the PATH, where there is one.

use serde_json::json;

use crate::support::program::run;
use crate::support::{Real, commands};

/// A server with a password that holds colons, and with the user `reader`, who may read keys `open:*`.
fn start() -> Option<Real> {
    let server = Real::start(&["--requirepass", "pass:with:colon"])?;
    let mut client = server.client();
    assert_eq!(client.call(&["AUTH", "pass:with:colon"]), "OK");
    let reader = ["ACL", "SETUSER", "reader", "on", ">secret:too", "~open:*", "+@read", "+select", "+hello", "+multi"];
    assert_eq!(client.call(&reader), "OK");
    assert_eq!(client.call(&["SET", "open:1", "value"]), "OK");
    Some(server)
}

const SHAPE: [&str; 6] = ["-t", "2", "-c", "2", "-n", "6"];

#[test]
fn a_password_may_hold_colons() {
    let Some(server) = start() else { return };
    let as_default = [&SHAPE[..], &["--command", "SET key 1", "-a", ":pass:with:colon"]].concat();
    let document = server.load(&as_default);
    assert_eq!((&document["succeeded"], &document["settings"]["user"]), (&json!(24), &json!(null)));
    let as_user = server.load(&[&SHAPE[..], &["--command", "GET open:1", "-a", "reader:secret:too"]].concat());
    assert_eq!((&as_user["hits"], &as_user["settings"]["user"]), (&json!(24), &json!("reader")));
}

#[test]
fn wrong_passwords_users_and_cut_ones_end_with_4() {
    let Some(server) = start() else { return };
    for credentials in ["reader:secret", "nobody:secret:too", ":reader:secret:too", "pass:with:colon", "wrong"] {
        let finished = server.run(&[&SHAPE[..], &["--command", "GET open:1", "-a", credentials]].concat());
        assert_eq!(finished.code, Some(4), "{credentials}: {}", finished.stderr);
        assert!(finished.stderr.contains("refused AUTH: WRONGPASS"), "{credentials}: {}", finished.stderr);
        assert!(!finished.stderr.contains(credentials), "a password is shown: {}", finished.stderr);
        assert_eq!(finished.stdout, "");
    }
    assert_eq!(server.call(&["GET", "open:1"]), "-NOAUTH Authentication required.");
}

#[test]
fn what_a_user_may_not_do_is_counted_by_code() {
    let Some(server) = start() else { return };
    let lines = commands(&["GET open:1", "SET open:1 x", "GET shut:1"]);
    let document = server.load(&[&SHAPE[..], &lines, &["-a", "reader:secret:too"]].concat());
    assert_eq!((&document["hits"], &document["errors"]), (&json!(8), &json!({"NOPERM": 16})));
    let first_errors = [1, 2].map(|command: usize| document["commands"][command]["first_error"].clone());
    for error in first_errors {
        assert!(error.as_str().is_some_and(|text| text.starts_with("NOPERM ")), "{error}");
    }
    assert_eq!(document["commands"][0]["first_error"], json!(null));
}

#[test]
fn a_check_ends_at_the_first_command_that_is_not_permitted() {
    let Some(server) = start() else { return };
    let lines = commands(&["GET open:1", "SET open:1 x"]);
    let finished = server.run(&[&SHAPE[..], &lines, &["-a", "reader:secret:too", "--check"]].concat());
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert!(finished.stderr.contains("refused \"SET open:1 x\": NOPERM"), "{}", finished.stderr);
}

#[test]
fn a_uri_names_user_password_and_database() {
    let Some(server) = start() else { return };
    let uri = format!("unix://default:pass%3Awith:colon@{}", server.socket());
    let document =
        run(&[&SHAPE[..], &["--uri", &uri, "--select-db", "3", "--command", "SET key 1", "--json-out-file", "-"]]
            .concat())
        .document();
    assert_eq!((&document["succeeded"], &document["settings"]["database"]), (&json!(24), &json!(3)));
    let mut client = server.client();
    client.call(&["AUTH", "pass:with:colon"]);
    assert_eq!(client.call(&["EXISTS", "key"]), "0");
    client.call(&["SELECT", "3"]);
    assert_eq!(client.call(&["GET", "key"]), "1");
}

#[test]
fn a_database_that_does_not_exist_ends_with_4() {
    let Some(server) = Real::start(&["--databases", "2"]) else { return };
    let finished = server.run(&[&SHAPE[..], &["--command", "PING", "--select-db", "2"]].concat());
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert!(finished.stderr.contains("refused SELECT: ERR"), "{}", finished.stderr);
}
