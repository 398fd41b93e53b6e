//! A server in this process: it records what it gets and answers by a script.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The arguments of one request.
pub type Request = Vec<String>;

/// A listening server. Its threads end when their clients do.
pub struct Scripted {
    port: u16,
    /// Requests of each connection, in the order the connections were accepted.
    log: Arc<Mutex<Vec<Vec<Request>>>>,
}

impl Scripted {
    /// Serves each connection with `script`, in a thread of its own; the connection closes when the script returns.
    pub fn start(script: impl Fn(&mut Peer) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (script, shared_log) = (Arc::new(script), Arc::clone(&log));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.expect("a connection");
                stream.set_nodelay(true).expect("an option");
                let mut connections = shared_log.lock().expect("the log");
                let mut peer =
                    Peer { stream, buffer: Vec::new(), connection: connections.len(), log: Arc::clone(&shared_log) };
                connections.push(Vec::new());
                let script = Arc::clone(&script);
                thread::spawn(move || script(&mut peer));
            }
        });
        Self { port, log }
    }

    /// Answers each request with `reply`.
    pub fn answering(reply: &'static str) -> Self {
        Self::start(move |peer| while peer.request().is_some() && peer.send(reply.as_bytes()) {})
    }

    pub fn port(&self) -> String {
        self.port.to_string()
    }

    /// Requests of each connection.
    pub fn connections(&self) -> Vec<Vec<Request>> {
        self.log.lock().expect("the log").clone()
    }

    /// All requests.
    pub fn requests(&self) -> Vec<Request> {
        self.connections().concat()
    }

    /// The keys (second arguments) of all requests, as numbers after `prefix`.
    pub fn keys(&self, prefix: &str) -> Vec<u64> {
        self.requests().iter().map(|request| key(request, prefix)).collect()
    }
}

/// The second argument, as a number after `prefix`.
pub fn key(request: &Request, prefix: &str) -> u64 {
    let digits = request[1].strip_prefix(prefix).expect("the prefix");
    digits.parse().expect("a decimal id")
}

/// The server's side of one connection.
pub struct Peer {
    stream: TcpStream,
    buffer: Vec<u8>,
    connection: usize,
    log: Arc<Mutex<Vec<Vec<Request>>>>,
}

impl Peer {
    /// The next request, recorded; none when the client has closed.
    pub fn request(&mut self) -> Option<Request> {
        self.request_until(None)
    }

    /// As [`Self::request`], but none also when there is no request for so long.
    pub fn request_within(&mut self, time: Duration) -> Option<Request> {
        self.request_until(Some(time))
    }

    fn request_until(&mut self, time: Option<Duration>) -> Option<Request> {
        self.stream.set_read_timeout(time).expect("an option");
        loop {
            if let Some((request, length)) = parse(&self.buffer) {
                self.buffer.drain(..length);
                self.log.lock().expect("the log")[self.connection].push(request.clone());
                return Some(request);
            }
            let mut bytes = [0; 16 * 1024];
            match self.stream.read(&mut bytes) {
                Ok(length) if length > 0 => self.buffer.extend_from_slice(&bytes[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => return None,
            }
        }
    }

    /// Sends bytes; false when the client has closed.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Sends each byte by itself.
    pub fn send_apart(&mut self, bytes: &[u8]) -> bool {
        bytes.chunks(1).all(|byte| {
            thread::sleep(Duration::from_micros(200));
            self.send(byte)
        })
    }

    /// Says nothing until the client closes.
    pub fn stay_silent(&mut self) {
        while self.request().is_some() {}
    }
}

/// The first request in `bytes` and its length; none if it is not complete. Written apart from the code under test.
fn parse(bytes: &[u8]) -> Option<(Request, usize)> {
    let mut at = 0;
    let count = header(bytes, &mut at, b'*')?;
    let mut request = Vec::with_capacity(count);
    for _ in 0..count {
        let length = header(bytes, &mut at, b'$')?;
        let body = bytes.get(at..at + length)?;
        request.push(body.iter().map(|&byte| char::from(byte)).collect());
        assert_eq!(bytes.get(at + length..at + length + 2)?, b"\r\n");
        at += length + 2;
    }
    Some((request, at))
}

fn header(bytes: &[u8], at: &mut usize, marker: u8) -> Option<usize> {
    let rest = &bytes[*at..];
    let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
    assert_eq!(rest[0], marker);
    *at += end + 2;
    Some(std::str::from_utf8(&rest[1..end]).expect("digits").parse().expect("a number"))
}
