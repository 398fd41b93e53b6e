//! A redis-server of the test's own, on a unix socket.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A running server; it ends when this is dropped.
pub struct Real {
    child: Child,
    directory: PathBuf,
}

impl Real {
    /// Starts the redis-server of the PATH; none, with the reason printed, where there is none.
    pub fn start(options: &[&str]) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("zerolap-load-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let socket = directory.join("socket");
        let spawned = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"])
            .arg(&socket)
            .arg("--dir")
            .arg(&directory)
            .args(options)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let child = match spawned {
            Ok(child) => child,
            Err(error) => {
                println!("skipped: redis-server cannot be started: {error}");
                return None;
            }
        };
        let server = Self { child, directory };
        let started = Instant::now();
        while UnixStream::connect(server.socket()).is_err() {
            assert!(started.elapsed() < Duration::from_secs(10), "the server does not listen");
            thread::sleep(Duration::from_millis(10));
        }
        Some(server)
    }

    pub fn socket(&self) -> String {
        self.directory.join("socket").display().to_string()
    }

    /// Sends one inline command; returns its one-line reply.
    pub fn ask(&self, line: &str) -> String {
        let mut stream = UnixStream::connect(self.socket()).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("an option");
        stream.write_all(format!("{line}\r\n").as_bytes()).expect("it reads");
        let mut reply = Vec::new();
        while !reply.ends_with(b"\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("a reply");
            reply.push(byte[0]);
        }
        String::from_utf8_lossy(&reply).trim().to_owned()
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        // Whatever is left is in a temporary directory.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
