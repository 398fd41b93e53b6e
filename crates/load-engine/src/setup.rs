//! What is said on a connection before the first request.

use zerolap_resp::write_request;

use zerolap_load_requests::{Protocol, Server};

/// Requests that prepare a connection, all sent at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Setup {
    pub(crate) bytes: Vec<u8>,
    /// What each of them is called.
    pub(crate) names: Vec<&'static str>,
}

impl Setup {
    /// Authentication, version of the protocol and database, as far as they are asked for.
    pub(crate) fn new(server: &Server) -> Self {
        let mut setup = Self::default();
        if let Some(credentials) = &server.credentials {
            let mut arguments: Vec<&[u8]> = vec![b"AUTH"];
            arguments.extend(credentials.user.as_ref().map(String::as_bytes));
            arguments.push(credentials.password.as_bytes());
            setup.push("AUTH", &arguments);
        }
        match server.protocol {
            Protocol::AsIs => {}
            Protocol::Resp2 => setup.push("HELLO", &[b"HELLO", b"2"]),
            Protocol::Resp3 => setup.push("HELLO", &[b"HELLO", b"3"]),
        }
        if server.database > 0 {
            setup.push("SELECT", &[b"SELECT", server.database.to_string().as_bytes()]);
        }
        setup
    }

    /// Adds a request.
    pub(crate) fn push(&mut self, name: &'static str, arguments: &[&[u8]]) {
        write_request(arguments, &mut self.bytes);
        self.names.push(name);
    }
}
