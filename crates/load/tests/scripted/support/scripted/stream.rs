//! A connection over TCP, encrypted or not, or over a unix socket.

use std::io::{Read, Result, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use rustls::{ServerConnection, StreamOwned};

/// What both sides agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encryption {
    pub version: String,
    pub name: Option<String>,
    pub has_certificate: bool,
}

pub enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Stream {
    pub fn set_read_timeout(&self, time: Option<Duration>) -> Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(time),
            Self::Unix(stream) => stream.set_read_timeout(time),
            Self::Tls(stream) => stream.sock.set_read_timeout(time),
        }
    }

    /// The version of TLS, the name that was asked for and whether the client showed a certificate; none without TLS.
    pub fn encryption(&self) -> Option<Encryption> {
        let Self::Tls(stream) = self else { return None };
        let connection = &stream.conn;
        Some(Encryption {
            version: format!("{:?}", connection.protocol_version()?),
            name: connection.server_name().map(str::to_owned),
            has_certificate: connection.peer_certificates().is_some(),
        })
    }

    /// Makes it end with a reset instead of an end of the stream.
    pub fn reset_on_close(&self) {
        let Self::Tcp(stream) = self else { panic!("only TCP knows resets") };
        set_socket_linger(stream, Some(Duration::ZERO)).expect("an option");
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> Result<()> {
        if let Self::Tls(stream) = self { stream.flush() } else { Ok(()) }
    }
}
