//! A server in this process: it records what it gets and answers by a script.

pub mod cluster;
mod peer;
pub mod stream;

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

pub use peer::Peer;
use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketAddrV4, SocketType, bind, getsockname, socket};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use stream::Stream;

/// The arguments of one request.
pub type Request = Vec<String>;

/// What happened on one connection.
#[derive(Debug, Clone)]
pub struct Record {
    pub accepted: Instant,
    pub requests: Vec<Arrived>,
    /// Bytes of these requests.
    pub bytes_received: usize,
    pub bytes_sent: usize,
}

/// A request and when it was read.
#[derive(Debug, Clone)]
pub struct Arrived {
    pub at: Instant,
    pub request: Request,
}

type Log = Arc<Mutex<Vec<Record>>>;

/// A listening server. Its threads end when their clients do.
pub struct Scripted {
    /// Of TCP; 0 on a unix socket.
    port: u16,
    /// Connections in the order they were accepted.
    log: Log,
}

impl Scripted {
    /// Serves each connection with `script`, in a thread of its own; the connection closes when the script returns.
    pub fn start(script: impl Fn(&mut Peer) + Send + Sync + 'static) -> Self {
        Self::serve(TcpListener::bind("127.0.0.1:0").expect("a port"), script)
    }

    /// The same on a TCP socket that already listens.
    pub fn serve(listener: TcpListener, script: impl Fn(&mut Peer) + Send + Sync + 'static) -> Self {
        let port = listener.local_addr().expect("an address").port();
        let accept = move || {
            let stream: TcpStream = listener.accept().expect("a connection").0;
            stream.set_nodelay(true).expect("an option");
            Stream::Tcp(stream)
        };
        Self { port, log: accept_all(accept, script) }
    }

    /// The same on a new unix socket.
    pub fn start_on(path: &Path, script: impl Fn(&mut Peer) + Send + Sync + 'static) -> Self {
        let listener = UnixListener::bind(path).expect("a socket");
        let accept = move || Stream::Unix(listener.accept().expect("a connection").0);
        Self { port: 0, log: accept_all(accept, script) }
    }

    /// As [`Self::start`], encrypted.
    pub fn start_encrypted(config: ServerConfig, script: impl Fn(&mut Peer) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let config = Arc::new(config);
        let accept = move || {
            let stream = listener.accept().expect("a connection").0;
            let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
            Stream::Tls(Box::new(StreamOwned::new(connection, stream)))
        };
        Self { port, log: accept_all(accept, script) }
    }

    /// Answers each request with `reply`.
    pub fn answering(reply: &'static str) -> Self {
        Self::replying(move |_, _| reply.to_owned())
    }

    /// Answers each request with what `reply` makes of it and of its number on its connection.
    pub fn replying(reply: impl Fn(&Request, usize) -> String + Send + Sync + 'static) -> Self {
        Self::start(move |peer| peer.serve(&reply))
    }

    pub fn port(&self) -> String {
        self.port.to_string()
    }

    /// What happened on each connection.
    pub fn records(&self) -> Vec<Record> {
        self.log.lock().expect("the log").clone()
    }

    /// Requests of each connection.
    pub fn connections(&self) -> Vec<Vec<Request>> {
        let requests = |record: Record| record.requests.into_iter().map(|arrived| arrived.request).collect();
        self.records().into_iter().map(requests).collect()
    }

    /// All requests.
    pub fn requests(&self) -> Vec<Request> {
        self.connections().concat()
    }

    /// The keys (second arguments) of all requests, as numbers after `prefix`.
    pub fn keys(&self, prefix: &str) -> Vec<u64> {
        self.requests().iter().map(|request| key(request, prefix)).collect()
    }

    /// Bytes of all requests that were read, and of all replies that were written.
    pub fn bytes(&self) -> (usize, usize) {
        let records = self.records();
        let received = records.iter().map(|record| record.bytes_received).sum();
        (received, records.iter().map(|record| record.bytes_sent).sum())
    }
}

fn accept_all(accept: impl Fn() -> Stream + Send + 'static, script: impl Fn(&mut Peer) + Send + Sync + 'static) -> Log {
    let log = Log::default();
    let (script, shared_log) = (Arc::new(script), Arc::clone(&log));
    thread::spawn(move || {
        loop {
            let stream = accept();
            let mut connections = shared_log.lock().expect("the log");
            let mut peer = Peer::new(stream, connections.len(), Arc::clone(&shared_log));
            connections.push(Record {
                accepted: Instant::now(),
                requests: Vec::new(),
                bytes_received: 0,
                bytes_sent: 0,
            });
            drop(connections);
            let script = Arc::clone(&script);
            thread::spawn(move || script(&mut peer));
        }
    });
    log
}

/// A port on which nobody but the test listens: of those that are free at the moment, tests beside this one take some.
pub struct Port {
    address: SocketAddrV4,
    /// Keeps the port, and refuses connections as long as the test does not listen.
    _bound: OwnedFd,
}

impl Port {
    pub fn new() -> Self {
        let bound = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        // Who sets it too may listen beside a socket that is only bound, as listeners of the standard library do.
        set_socket_reuseaddr(&bound, true).expect("an option");
        bind(&bound, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = SocketAddrV4::try_from(getsockname(&bound).expect("an address")).expect("IPv4");
        Self { address, _bound: bound }
    }

    /// As on a command line.
    pub fn number(&self) -> String {
        self.address.port().to_string()
    }

    pub fn listen(&self) -> TcpListener {
        TcpListener::bind(self.address).expect("the port")
    }
}

/// The second argument, as a number after `prefix`.
pub fn key(request: &Request, prefix: &str) -> u64 {
    let digits = request[1].strip_prefix(prefix).expect("the prefix");
    digits.parse().expect("a decimal id")
}

/// A directory of the test's own, for sockets and files; it is removed when this is dropped.
pub struct Directory(PathBuf);

impl Directory {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("zerolap-load-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// As [`Self::path`], for a command line.
    pub fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Whatever is left is in a temporary directory.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
