//! Where the server is, and how to speak to it.

use std::path::PathBuf;

use zerolap_load_requests::{Credentials, Endpoint, IpVersion, Protocol, Server, Tls, TlsVersion};

use super::uri::{Place, Uri, uri};
use crate::UsageError;
use crate::needs::{Given, Need};
use crate::numbers::number;
use crate::table::{Argument, Preset, put};
use crate::warnings::Warnings;

const TLS: Need =
    Need::Condition { is_met: |line| line.settings.server.tls.is_some(), otherwise: "--tls is not given" };
const HOST_NAME: Need = Need::Condition {
    is_met: |line| matches!(line.settings.server.endpoint, Endpoint::Tcp { .. }),
    otherwise: "a unix socket has no name",
};

pub(crate) static ARGUMENTS: &[Argument] = &[
    Argument::value(&["server", "host"], &['s', 'h'], "HOST", "name or address", |draft, text| {
        put(&mut draft.server.host, Ok(text.to_owned()))
    })
    .default("localhost"),
    Argument::value(&["port"], &['p'], "PORT", "TCP port", |draft, text| {
        put(&mut draft.server.port, number(text, 1..=u16::MAX))
    })
    .default("6379"),
    Argument::value(&["unix-socket"], &['S'], "PATH", "unix socket, in place of host and port", |draft, text| {
        put(&mut draft.server.unix_socket, Ok(PathBuf::from(text)))
    }),
    Argument::value(
        &["uri"],
        &['u'],
        "URI",
        "address, credentials and database together: redis://USER:PASSWORD@HOST:PORT/DATABASE, rediss://... for TLS, \
         or unix://USER:PASSWORD@/PATH; all parts but the scheme are optional, and override the other arguments; \
         write %40 for an @ in a password",
        |draft, text| put(&mut draft.server.uri, uri(text)),
    )
    .secret(),
    Argument::switch(&["ipv4"], &['4'], "only IPv4 addresses of the host", |draft| {
        draft.server.ip_version = Some(IpVersion::V4);
    })
    .needs(&[HOST_NAME]),
    Argument::switch(&["ipv6"], &['6'], "only IPv6 addresses of the host", |draft| {
        draft.server.ip_version = Some(IpVersion::V6);
    })
    .needs(&[HOST_NAME]),
    Argument::value(
        &["protocol"],
        &['P'],
        "redis|resp2|resp3",
        "version of the protocol: redis is the server's default, resp2 and resp3 are requested with HELLO",
        |draft, text| put(&mut draft.server.protocol, protocol(text)),
    )
    .default("redis"),
    Argument::value(
        &["authenticate"],
        &['a'],
        "PASSWORD|USER:PASSWORD",
        "credentials; write a password that contains a colon as :PASSWORD",
        |draft, text| put(&mut draft.server.credentials, Ok(credentials(text))),
    )
    .secret(),
    Argument::value(&["select-db"], &[], "NUMBER", "database, also of all recorded commands", |draft, text| {
        put(&mut draft.server.database, number(text, 0..=u32::from(u16::MAX)))
    })
    .default("0"),
    Argument::switch(
        &["cluster-mode"],
        &[],
        "the server is a node of a cluster: send each request to the node that holds its key",
        |draft| draft.server.is_cluster = true,
    ),
    Argument::switch(
        &["replica-reads"],
        &[],
        "send read-only commands to the replicas of the server, or of the cluster's nodes",
        |draft| draft.server.replica_reads = true,
    )
    .own(),
    Argument::switch(&["tls"], &[], "encrypt", |draft| draft.server.tls.is_on = true),
    Argument::value(&["cert"], &[], "FILE", "certificate of the client, for --tls (PEM)", |draft, text| {
        put(&mut draft.server.tls.certificate, Ok(PathBuf::from(text)))
    })
    .needs(&[TLS]),
    Argument::value(
        &["key"],
        &[],
        "FILE",
        "private key of the client, for --cert (PEM; default: in the same file)",
        |draft, text| put(&mut draft.server.tls.key, Ok(PathBuf::from(text))),
    )
    .needs(&[TLS, Need::Argument(&["cert"])]),
    Argument::value(
        &["cacert"],
        &[],
        "FILE",
        "authorities to trust, for --tls (PEM; default: those of the system)",
        |draft, text| put(&mut draft.server.tls.authorities, Ok(PathBuf::from(text))),
    )
    .needs(&[
        TLS,
        Need::Condition {
            is_met: |line| !line.given.has("tls-skip-verify"),
            otherwise: "with --tls-skip-verify any certificate is accepted",
        },
    ]),
    Argument::switch(&["tls-skip-verify"], &[], "accept any certificate of the server", |draft| {
        draft.server.tls.skip_verify = true;
    })
    .needs(&[TLS]),
    Argument::value(
        &["tls-protocols"],
        &[],
        "LIST",
        "versions of TLS, of TLSv1.2 and TLSv1.3 (default: both)",
        |draft, text| {
            draft.server.tls.versions = tls_versions(text)?;
            Ok(())
        },
    )
    .needs(&[TLS]),
    Argument::value(
        &["sni"],
        &[],
        "NAME",
        "expected name in the server's certificate, instead of the host",
        |draft, text| put(&mut draft.server.tls.server_name, Ok(text.to_owned())),
    )
    .needs(&[TLS]),
];

#[derive(Debug, Default)]
pub(crate) struct ServerDraft {
    pub(crate) host: Preset<String>,
    pub(crate) port: Preset<u16>,
    pub(crate) unix_socket: Option<PathBuf>,
    pub(crate) uri: Option<Uri>,
    pub(crate) ip_version: Option<IpVersion>,
    pub(crate) protocol: Preset<Protocol>,
    pub(crate) credentials: Option<Credentials>,
    pub(crate) database: Preset<u32>,
    pub(crate) is_cluster: bool,
    pub(crate) replica_reads: bool,
    pub(crate) tls: TlsDraft,
}

impl ServerDraft {
    /// The database that the URI names, if it does.
    pub(crate) fn database_of_uri(&self) -> Option<u32> {
        match self.uri.as_ref()?.place {
            Place::Tcp { database, .. } => database,
            Place::Unix { .. } => None,
        }
    }

    pub(crate) fn finish(mut self, given: &Given, warnings: &mut Warnings) -> Result<Server, UsageError> {
        if let Some(uri) = self.uri.take() {
            self.take_uri(uri, given, warnings)?;
        }
        let endpoint = match self.unix_socket {
            Some(_) if given.has_any(&["server", "port"]) => {
                return Err(UsageError::Conflict("--unix-socket excludes --server and --port"));
            }
            Some(path) => Endpoint::Unix(path),
            None => Endpoint::Tcp { host: self.host.get().clone(), port: *self.port.get() },
        };
        let is_unix = matches!(endpoint, Endpoint::Unix(_));
        let database = *self.database.get();
        if self.is_cluster && is_unix {
            return Err(UsageError::Conflict("--cluster-mode needs a TCP port: nodes are known by host and port"));
        }
        if self.is_cluster && database > 0 {
            return Err(UsageError::Conflict("--cluster-mode excludes --select-db: a cluster has only database 0"));
        }
        Ok(Server {
            endpoint,
            ip_version: self.ip_version,
            credentials: self.credentials,
            protocol: *self.protocol.get(),
            database,
            tls: self.tls.finish(),
            is_cluster: self.is_cluster,
            replica_reads: self.replica_reads,
        })
    }

    /// The URI takes precedence over the other arguments, as in memtier.
    fn take_uri(&mut self, uri: Uri, given: &Given, warnings: &mut Warnings) -> Result<(), UsageError> {
        let mut replace = |is_set: bool, name: &str| {
            warnings.without_effect(is_set && given.has(name), &format!("--{name}"), "--uri sets it too");
        };
        replace(uri.credentials.is_some(), "authenticate");
        self.credentials = uri.credentials.or(self.credentials.take());
        self.tls.is_on |= uri.is_tls;
        match uri.place {
            Place::Unix(path) => {
                replace(true, "unix-socket");
                self.unix_socket = Some(path);
                if given.has_any(&["server", "port"]) {
                    return Err(UsageError::Conflict("--uri with a unix socket excludes --server and --port"));
                }
            }
            Place::Tcp { host, port, database } => {
                if self.unix_socket.is_some() {
                    return Err(UsageError::Conflict("--unix-socket excludes --uri"));
                }
                replace(host.is_some(), "server");
                replace(port.is_some(), "port");
                replace(database.is_some(), "select-db");
                self.host.set_if_some(host);
                self.port.set_if_some(port);
                self.database.set_if_some(database);
            }
        }
        Ok(())
    }
}

#[derive(Debug, Default)]
pub(crate) struct TlsDraft {
    pub(crate) is_on: bool,
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
    pub(crate) authorities: Option<PathBuf>,
    pub(crate) skip_verify: bool,
    pub(crate) versions: Vec<TlsVersion>,
    pub(crate) server_name: Option<String>,
}

impl TlsDraft {
    pub(crate) fn finish(self) -> Option<Tls> {
        if !self.is_on {
            return None;
        }
        let Self { certificate, key, authorities, skip_verify, versions, server_name, .. } = self;
        let key = certificate.as_ref().map(|certificate| key.unwrap_or_else(|| certificate.clone()));
        Some(Tls { certificate, key, authorities, skip_verify, server_name, versions })
    }
}

/// A version of the protocol.
fn protocol(text: &str) -> Result<Protocol, String> {
    match text {
        "redis" => Ok(Protocol::AsIs),
        "resp2" => Ok(Protocol::Resp2),
        "resp3" => Ok(Protocol::Resp3),
        "memcache_text" | "memcache_binary" => Err("this program does not speak memcached's protocols".to_owned()),
        _ => Err("expected redis, resp2 or resp3".to_owned()),
    }
}

/// Versions of TLS, such as `TLSv1.2,TLSv1.3`.
fn tls_versions(text: &str) -> Result<Vec<TlsVersion>, String> {
    let mut versions = Vec::new();
    for word in text.split(',') {
        let version = match word.to_ascii_lowercase().as_str() {
            "tlsv1.2" => TlsVersion::V1_2,
            "tlsv1.3" => TlsVersion::V1_3,
            "tlsv1" | "tlsv1.1" => {
                return Err(format!("{word} is no longer secure (RFC 8996) and not built in; use TLSv1.2 or TLSv1.3"));
            }
            _ => return Err("expected TLSv1.2, TLSv1.3 or both with a comma".to_owned()),
        };
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    Ok(versions)
}

/// `PASSWORD`, `USER:PASSWORD`, or `:PASSWORD` for one that holds a colon.
pub(super) fn credentials(text: &str) -> Credentials {
    let (user, password) = text.split_once(':').unwrap_or(("", text));
    Credentials { user: (!user.is_empty()).then(|| user.to_owned()), password: password.to_owned() }
}

#[cfg(test)]
mod tests {
    use zerolap_load_requests::TlsVersion;

    use super::{credentials, protocol, tls_versions};

    #[test]
    fn credentials_are_split_at_the_first_colon() {
        let split = |text| {
            let credentials = credentials(text);
            (credentials.user, credentials.password)
        };
        assert_eq!(split("secret"), (None, "secret".to_owned()));
        assert_eq!(split("bob:secret:x"), (Some("bob".to_owned()), "secret:x".to_owned()));
        assert_eq!(split(":with:colon"), (None, "with:colon".to_owned()));
    }

    #[test]
    fn what_is_not_spoken_is_refused_with_a_reason() {
        assert!(protocol("memcache_text").is_err_and(|reason| reason.contains("memcached")));
        assert!(protocol("resp4").is_err());
        assert_eq!(tls_versions("TLSv1.3,tlsv1.2,TLSv1.3"), Ok(vec![TlsVersion::V1_3, TlsVersion::V1_2]));
        assert!(tls_versions("TLSv1.2,TLSv1.1").is_err_and(|reason| reason.contains("TLSv1.1 is no longer secure")));
        assert!(["", "TLSv1.4", "TLSv1.2,"].iter().all(|text| tls_versions(text).is_err()));
    }
}
