//! How connections are made, and how many.

use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketAddrV4, SocketType, bind, getsockname, listen, socket};

use crate::support::program::{Running, run};
use crate::support::scripted::{Directory, Scripted};
use crate::support::{first_processor, load, permitted_processors};

/// The processors that each thread of a process may use, by the threads' names.
fn processors(process: u32) -> Vec<(String, String)> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).expect("a process");
    let processors = |task: std::io::Result<std::fs::DirEntry>| {
        let path = task.expect("a task").path();
        let name = std::fs::read_to_string(path.join("comm")).expect("a file");
        let status = std::fs::read_to_string(path.join("status")).expect("a file");
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("a line");
        (name.trim().to_owned(), list.trim().to_owned())
    };
    tasks.map(processors).collect()
}

/// When the connections of one thread were accepted, counted from before the program was started.
fn accepted(arguments: &[&str]) -> Vec<Duration> {
    let server = Scripted::answering("+OK\r\n");
    let started = Instant::now();
    load(&server, &[&["-t", "1", "-c", "5", "-n", "1", "--command", "PING"], arguments].concat());
    server.records().iter().map(|record| record.accepted - started).collect()
}

#[test]
fn connections_come_apart_where_asked_to() {
    let micros = ["--thread-conn-start-min-jitter-micros", "60000", "--thread-conn-start-max-jitter-micros", "60000"];
    let times = accepted(&micros);
    for (pauses, time) in (1..).zip(&times) {
        assert!(*time >= pauses * Duration::from_millis(60), "{times:?}");
    }
    // Between 0 and 150 ms each, 5 of them: below 30 ms together once in 10,000 times.
    let drawn = accepted(&["--thread-conn-start-max-jitter-micros", "150000"]);
    assert!(drawn[4] >= Duration::from_millis(30), "{drawn:?}");
}

#[test]
fn nothing_is_sent_before_all_connections_are_there() {
    let server = Scripted::answering("+OK\r\n");
    let jitter = ["--thread-conn-start-min-jitter-micros", "100000", "--thread-conn-start-max-jitter-micros", "100000"];
    let started = Instant::now();
    load(&server, &[&["-t", "2", "-c", "4", "-n", "5", "--command", "PING"][..], &jitter].concat());
    let records = server.records();
    assert_eq!(records.len(), 8);
    let first_request = records.iter().flat_map(|record| &record.requests).map(|arrived| arrived.at).min();
    // No thread has its fourth connection earlier.
    assert!(first_request.expect("requests") - started >= Duration::from_millis(400));
}

/// A TCP socket on which nobody accepts, and whose backlog is full: further connections are not answered.
fn deaf() -> (u16, impl Sized) {
    let listener = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listen(&listener, 0).expect("it listens");
    let address = SocketAddrV4::try_from(getsockname(&listener).expect("an address")).expect("IPv4");
    let connect = || TcpStream::connect_timeout(&address.into(), Duration::from_millis(200));
    let waiting: Vec<TcpStream> = std::iter::from_fn(|| connect().ok()).take(8).collect();
    (address.port(), (listener, waiting))
}

#[test]
fn a_server_that_takes_no_connection_ends_the_run_after_the_timeout() {
    let (port, _keep) = deaf();
    let port = port.to_string();
    for name in ["--connection-timeout", "--connect-timeout"] {
        let started = Instant::now();
        let finished = run(&["-s", "127.0.0.1", "-p", &port, "-t", "1", "-c", "1", name, "1"]);
        assert_eq!(finished.code, Some(4), "{}", finished.stderr);
        assert!(finished.stderr.contains("cannot connect to tcp://127.0.0.1"), "{}", finished.stderr);
        assert!(started.elapsed() >= Duration::from_secs(1));
    }
}

#[test]
fn a_unix_socket_whose_backlog_stays_full_ends_the_run_after_the_timeout() {
    let directory = Directory::new("backlog");
    let listener = UnixListener::bind(directory.path("socket")).expect("a socket");
    listen(&listener, 0).expect("a shorter backlog");
    let _waiting = UnixStream::connect(directory.path("socket")).expect("the first one finds room");
    let started = Instant::now();
    let finished = run(&["-S", &directory.text("socket"), "-t", "1", "-c", "2", "--connect-timeout", "1"]);
    assert_eq!(finished.code, Some(4), "{}", finished.stderr);
    assert!(started.elapsed() >= Duration::from_secs(1));
}

#[test]
fn threads_are_pinned_in_turn() {
    let may_end = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&may_end);
    let server = Scripted::start(move |peer| {
        while peer.request().is_some() {
            while !shared.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(5));
            }
            peer.send(b"+OK\r\n");
        }
    });
    let port = server.port();
    let (free, first) = (permitted_processors(), first_processor());
    let shape = ["-s", "127.0.0.1", "-p", &port, "-t", "2", "-c", "1", "-n", "10", "--command", "PING"];
    for (arguments, expected) in [([].as_slice(), &free), (&["--cpus", &first], &first)] {
        may_end.store(false, Ordering::Relaxed);
        let before = server.requests().len();
        let running = Running::start(&[&shape[..], arguments].concat());
        while server.requests().len() == before {
            thread::sleep(Duration::from_millis(5));
        }
        let processors = processors(running.child.id());
        let of_load = processors.iter().filter(|(name, _)| name.starts_with("load-"));
        assert!(of_load.clone().all(|(_, list)| list == expected), "{processors:?}");
        assert_eq!(of_load.count(), 2, "{processors:?}");
        may_end.store(true, Ordering::Relaxed);
        assert_eq!(running.finish().code, Some(0));
    }
}
