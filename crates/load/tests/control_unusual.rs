//! Slices where connections change, or where requests go to several nodes.

mod support;

use support::program::Session;
use support::scripted::Scripted;
use support::scripted::cluster::{commands, even, start};

#[test]
fn a_connection_that_a_slice_used_up_is_made_anew_for_the_next() {
    let server = Scripted::answering("+OK\r\n");
    let port = server.port();
    let shape = ["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "1", "--reconnect-interval", "10"];
    let (mut session, _) = Session::start(&[&shape[..], &["--command", "PING"]].concat());
    for _ in 0..3 {
        assert_eq!(session.slice(10)["requests"], 10);
    }
    assert_eq!(server.connections().iter().map(Vec::len).collect::<Vec<_>>(), [10, 10, 10]);
}

#[test]
fn paced_slices_of_a_cluster_have_their_exact_size() {
    let nodes = start(even(3), |_, _, _| "+OK\r\n".to_owned());
    let port = nodes[0].port();
    let shape = ["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "2", "--pipeline", "4", "--cluster-mode"];
    let (mut session, _) = Session::start(&[&shape[..], &["--command", "GET __key__"]].concat());
    let mut total = 0;
    for requests in [3, 7, 40] {
        session.send(&format!("{{\"do\":\"slice\",\"requests\":{requests},\"per_second\":2000}}"));
        let event = session.event().expect("an event");
        assert_eq!(event["requests"], requests, "{event}");
        total += requests;
        let arrived: usize = nodes.iter().map(|node| commands(node).len()).sum();
        assert_eq!(arrived, total);
    }
}
