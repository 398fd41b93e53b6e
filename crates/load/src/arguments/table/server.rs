//! Where the server is, and how to speak to it.

use std::path::PathBuf;

use super::{Argument, put};
use crate::arguments::values::{credentials, number, protocol, tls_versions, uri};
use zerolap_load_requests::IpVersion;

pub(super) static ARGUMENTS: &[Argument] = &[
    Argument::value(&["server", "host"], &['s', 'h'], "HOST", "name or address (default localhost)", |draft, text| {
        put(&mut draft.server.host, Ok(text.to_owned()))
    }),
    Argument::value(&["port"], &['p'], "PORT", "TCP port (default 6379)", |draft, text| {
        put(&mut draft.server.port, number(text, 1..=u16::MAX))
    }),
    Argument::value(&["unix-socket"], &['S'], "PATH", "unix socket, in place of host and port", |draft, text| {
        put(&mut draft.server.unix_socket, Ok(PathBuf::from(text)))
    }),
    Argument::value(
        &["uri"],
        &['u'],
        "URI",
        "all of it in one: redis://USER:PASSWORD@HOST:PORT/DATABASE, rediss://... for TLS, or \
         unix://USER:PASSWORD@/PATH; what may be left out is everything but the scheme, and what it says goes before \
         the other arguments; %40 stands for an @ in a password",
        |draft, text| put(&mut draft.server.uri, uri(text)),
    )
    .secret(),
    Argument::switch(&["ipv4"], &['4'], "only IPv4 addresses of the host", |draft| {
        draft.server.ip_version = Some(IpVersion::V4);
    }),
    Argument::switch(&["ipv6"], &['6'], "only IPv6 addresses of the host", |draft| {
        draft.server.ip_version = Some(IpVersion::V6);
    }),
    Argument::value(
        &["protocol"],
        &['P'],
        "redis|resp2|resp3",
        "version of the protocol; resp2 and resp3 are asked for with HELLO (default redis: what the server starts with)",
        |draft, text| {
            draft.server.protocol = protocol(text)?;
            Ok(())
        },
    ),
    Argument::value(
        &["authenticate"],
        &['a'],
        "PASSWORD|USER:PASSWORD",
        "authenticate; a password that holds a colon is written :PASSWORD",
        |draft, text| put(&mut draft.server.credentials, Ok(credentials(text))),
    )
    .secret(),
    Argument::value(&["select-db"], &[], "NUMBER", "database (default 0)", |draft, text| {
        put(&mut draft.server.database, number(text, 0..=u32::from(u16::MAX)))
    }),
    Argument::switch(
        &["cluster-mode"],
        &[],
        "the server is a node of a cluster: send each request to the node that holds its key",
        |draft| draft.server.is_cluster = true,
    ),
    Argument::switch(
        &["replica-reads"],
        &[],
        "send requests of commands that only read to the replicas of the server, or of the cluster's nodes",
        |draft| draft.server.replica_reads = true,
    )
    .own(),
    Argument::switch(&["tls"], &[], "encrypt", |draft| draft.server.tls.is_on = true),
    Argument::value(&["cert"], &[], "FILE", "certificate of the client, for --tls (PEM)", |draft, text| {
        put(&mut draft.server.tls.certificate, Ok(PathBuf::from(text)))
    }),
    Argument::value(
        &["key"],
        &[],
        "FILE",
        "private key of the client, for --cert (PEM; default: in the same file)",
        |draft, text| put(&mut draft.server.tls.key, Ok(PathBuf::from(text))),
    ),
    Argument::value(
        &["cacert"],
        &[],
        "FILE",
        "authorities to trust, for --tls (PEM; default: those of the system)",
        |draft, text| put(&mut draft.server.tls.authorities, Ok(PathBuf::from(text))),
    ),
    Argument::switch(&["tls-skip-verify"], &[], "take any certificate of the server", |draft| {
        draft.server.tls.skip_verify = true;
    }),
    Argument::value(
        &["tls-protocols"],
        &[],
        "LIST",
        "versions of TLS, of TLSv1.2 and TLSv1.3 (default: both)",
        |draft, text| {
            draft.server.tls.versions = tls_versions(text)?;
            Ok(())
        },
    ),
    Argument::value(
        &["sni"],
        &[],
        "NAME",
        "name that the server's certificate must have, in place of the host",
        |draft, text| put(&mut draft.server.tls.server_name, Ok(text.to_owned())),
    ),
];
