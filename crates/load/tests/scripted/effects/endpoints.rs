//! Where connections lead to, and what prepares them.

use std::net::TcpListener;

use crate::support::load;
use crate::support::program::run;
use crate::support::scripted::{Directory, Peer, Scripted};

const ONCE: [&str; 8] = ["-t", "1", "-c", "2", "-n", "3", "--command", "PING"];

fn answer(peer: &mut Peer) {
    peer.serve(|_, _| "+OK\r\n".to_owned());
}

/// What a connection sends before its PINGs.
fn setup(arguments: &[&str]) -> Vec<String> {
    let server = Scripted::answering("+OK\r\n");
    let document = load(&server, &[&ONCE[..], arguments].concat());
    let connections = server.connections();
    assert_eq!(document["lab"]["requests"], 6, "what prepares connections is no request");
    assert_eq!(connections.len(), 2);
    assert_eq!(connections[0], connections[1]);
    let (before, pings) = connections[0].split_at(connections[0].len() - 3);
    assert!(pings.iter().all(|request| request == &["PING"]));
    before.iter().map(|request| request.join(" ")).collect()
}

#[test]
fn connections_are_prepared_by_user_then_protocol_then_database() {
    assert_eq!(setup(&[]), Vec::<String>::new());
    assert_eq!(setup(&["--select-db", "3"]), ["SELECT 3"]);
    assert_eq!(setup(&["--protocol", "redis", "--select-db", "0"]), Vec::<String>::new());
    assert_eq!(setup(&["--protocol", "resp2"]), ["HELLO 2"]);
    assert_eq!(setup(&["-P", "resp3"]), ["HELLO 3"]);
    assert_eq!(setup(&["-a", "secret"]), ["AUTH secret"]);
    let all = ["--select-db", "7", "--protocol", "resp3", "--authenticate", "bob:secret"];
    assert_eq!(setup(&all), ["AUTH bob secret", "HELLO 3", "SELECT 7"]);
}

#[test]
fn what_prepares_a_connection_may_be_refused() {
    for (arguments, name) in [(["--select-db", "99"], "SELECT"), (["-P", "resp3"], "HELLO")] {
        let server = Scripted::answering("-ERR DB index is out of range\r\n");
        let port = server.port();
        let finished = run(&[&["-s", "127.0.0.1", "-p", &port], &ONCE[..], &arguments].concat());
        assert_eq!(finished.code, Some(4));
        assert!(finished.stderr.contains(&format!("refused {name}: ERR DB index")), "{}", finished.stderr);
        assert!(server.requests().iter().all(|request| request[0] == name), "nothing was sent after it");
    }
}

#[test]
fn replies_to_hello_may_be_maps_or_arrays() {
    for hello in ["%2\r\n+server\r\n+redis\r\n+proto\r\n:3\r\n", "*4\r\n+server\r\n+redis\r\n+proto\r\n:2\r\n"] {
        let server = Scripted::replying(
            move |request, _| {
                if request[0] == "HELLO" { hello.to_owned() } else { "_\r\n".to_owned() }
            },
        );
        let document = load(&server, &[&ONCE[..], &["-P", "resp3"]].concat());
        assert_eq!((&document["lab"]["requests"], &document["lab"]["nils"]), (&6.into(), &6.into()));
    }
}

#[test]
fn a_unix_socket_takes_the_place_of_host_and_port() {
    let directory = Directory::new("unix");
    let socket = directory.text("socket");
    let server = Scripted::start_on(&directory.path("socket"), answer);
    let uri = format!("unix://{socket}");
    for (number, arguments) in [["-S", &socket], ["--unix-socket", &socket], ["-u", &uri]].iter().enumerate() {
        let finished = run(&[&arguments[..], &ONCE, &["--json-out-file", "-"]].concat());
        assert_eq!(finished.document()["requests"], 6);
        assert_eq!(finished.json()["configuration"]["unix socket"], socket.as_str());
        assert_eq!(server.requests().len(), 6 * (number + 1));
    }
}

#[test]
fn a_uri_says_all_of_it() {
    let server = Scripted::answering("+OK\r\n");
    let uri = format!("redis://bob:p%40ss@127.0.0.1:{}/5", server.port());
    let finished = run(&[&["--uri", &uri], &ONCE[..], &["--json-out-file", "-"]].concat());
    assert_eq!(finished.document()["requests"], 6);
    assert!(!finished.stdout.contains("p@ss") && !finished.stdout.contains("p%40ss"), "passwords are not shown");
    let expected = [["AUTH", "bob", "p@ss"].as_slice(), &["SELECT", "5"], &["PING"], &["PING"], &["PING"]];
    assert!(server.connections().iter().all(|requests| requests == &expected));
}

#[test]
fn host_and_port_have_several_names() {
    let server = Scripted::answering("+OK\r\n");
    let port = server.port();
    for arguments in [["-h", "127.0.0.1", "-p", &port], ["--host", "localhost", "--port", &port]] {
        assert_eq!(run(&[&arguments[..], &ONCE].concat()).code, Some(0));
    }
    assert_eq!(server.requests().len(), 12);
}

#[test]
fn the_kind_of_address_can_be_chosen() {
    let server = Scripted::answering("+OK\r\n");
    let port = server.port();
    let finished = run(&[&["-s", "localhost", "-p", &port, "-4", "--json-out-file", "-"], &ONCE[..]].concat());
    assert_eq!(finished.document()["requests"], 6);
    assert_eq!(finished.json()["configuration"]["address family"], "AF_INET");
    let finished = run(&[&["-s", "127.0.0.1", "-p", &port, "--ipv6"], &ONCE[..]].concat());
    assert_eq!(finished.code, Some(4), "127.0.0.1 is no address of IPv6");
    assert_eq!(server.requests().len(), 6);

    let listener = match TcpListener::bind("[::1]:0") {
        Ok(listener) => listener,
        Err(error) => return println!("skipped: there is no IPv6 here: {error}"),
    };
    let server = Scripted::serve(listener, answer);
    let port = server.port();
    for arguments in [["-s", "::1", "-p", &port, "-6"].as_slice(), &["-s", "::1", "-p", &port]] {
        let finished = run(&[arguments, &ONCE, &["--json-out-file", "-"]].concat());
        assert_eq!(finished.document()["requests"], 6);
    }
    let uri = format!("redis://[::1]:{port}");
    assert_eq!(run(&[&["-u", &uri], &ONCE[..]].concat()).code, Some(0));
    assert_eq!(server.requests().len(), 18);
    assert_eq!(run(&[&["-s", "::1", "-p", &port, "--ipv4"], &ONCE[..]].concat()).code, Some(4));
}
