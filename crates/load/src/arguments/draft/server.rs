//! Where the server is.

use std::path::PathBuf;

use super::tls::TlsDraft;
use super::{UsageError, Warnings};
use crate::arguments::values::{Place, Uri};
use zerolap_load_requests::{Credentials, Endpoint, IpVersion, Protocol, Server};

#[derive(Debug, Default)]
pub(in crate::arguments) struct ServerDraft {
    pub(in crate::arguments) host: Option<String>,
    pub(in crate::arguments) port: Option<u16>,
    pub(in crate::arguments) unix_socket: Option<PathBuf>,
    pub(in crate::arguments) uri: Option<Uri>,
    pub(in crate::arguments) ip_version: Option<IpVersion>,
    pub(in crate::arguments) protocol: Protocol,
    pub(in crate::arguments) credentials: Option<Credentials>,
    pub(in crate::arguments) database: Option<u32>,
    pub(in crate::arguments) is_cluster: bool,
    pub(in crate::arguments) replica_reads: bool,
    pub(in crate::arguments) tls: TlsDraft,
}

impl ServerDraft {
    pub(super) fn finish(mut self, warnings: &mut Warnings) -> Result<Server, UsageError> {
        if let Some(uri) = self.uri.take() {
            self.take_uri(uri, warnings)?;
        }
        let endpoint = match (self.unix_socket, self.host, self.port) {
            (Some(path), None, None) => Endpoint::Unix(path),
            (Some(_), ..) => return Err(UsageError::Conflict("--unix-socket excludes --server and --port")),
            (None, host, port) => {
                let host = host.unwrap_or_else(|| "localhost".to_owned());
                Endpoint::Tcp { host, port: port.unwrap_or(6379) }
            }
        };
        let is_unix = matches!(endpoint, Endpoint::Unix(_));
        let database = self.database.unwrap_or(0);
        if self.is_cluster && is_unix {
            return Err(UsageError::Conflict("--cluster-mode needs a TCP port: nodes are known by host and port"));
        }
        if self.is_cluster && database > 0 {
            return Err(UsageError::Conflict("--cluster-mode excludes --select-db: a cluster has only database 0"));
        }
        warnings.without_effect(is_unix && self.ip_version.is_some(), "--ipv4 or --ipv6", "a unix socket has no name");
        Ok(Server {
            endpoint,
            ip_version: self.ip_version,
            credentials: self.credentials,
            protocol: self.protocol,
            database,
            tls: self.tls.finish(warnings),
            is_cluster: self.is_cluster,
            replica_reads: self.replica_reads,
        })
    }

    /// What the URI says goes before the other arguments, as in memtier.
    fn take_uri(&mut self, uri: Uri, warnings: &mut Warnings) -> Result<(), UsageError> {
        let mut replace =
            |is_both: bool, argument: &str| warnings.without_effect(is_both, argument, "--uri says it too");
        replace(self.credentials.is_some() && uri.credentials.is_some(), "--authenticate");
        self.credentials = uri.credentials.or(self.credentials.take());
        self.tls.is_on |= uri.is_tls;
        match uri.place {
            Place::Unix(path) => {
                replace(self.unix_socket.is_some(), "--unix-socket");
                self.unix_socket = Some(path);
                if self.host.is_some() || self.port.is_some() {
                    return Err(UsageError::Conflict("--uri with a unix socket excludes --server and --port"));
                }
            }
            Place::Tcp { host, port, database } => {
                if self.unix_socket.is_some() {
                    return Err(UsageError::Conflict("--unix-socket excludes --uri"));
                }
                replace(self.host.is_some() && host.is_some(), "--server");
                replace(self.port.is_some() && port.is_some(), "--port");
                replace(self.database.is_some() && database.is_some(), "--select-db");
                self.host = host.or(self.host.take());
                self.port = port.or(self.port);
                self.database = database.or(self.database);
            }
        }
        Ok(())
    }
}
