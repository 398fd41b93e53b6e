//! From names to addresses.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use zerolap_load_measure::LoadError;
use zerolap_load_requests::{Endpoint, IpVersion};

/// Something that a socket can connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// All addresses of `endpoint`, at least one, of the given version if one is given.
///
/// # Errors
/// When it has none.
pub(crate) fn resolve(endpoint: &Endpoint, version: Option<IpVersion>) -> Result<Vec<Address>, LoadError> {
    let (host, port) = match endpoint {
        Endpoint::Unix(path) => return Ok(vec![Address::Unix(path.clone())]),
        Endpoint::Tcp { host, port } => (host, *port),
    };
    let failed = |source| LoadError::Resolve { endpoint: endpoint.clone(), source };
    let all = (host.as_str(), port).to_socket_addrs().map_err(failed)?;
    let wanted = all.filter(|address| match version {
        None => true,
        Some(IpVersion::V4) => address.is_ipv4(),
        Some(IpVersion::V6) => address.is_ipv6(),
    });
    let addresses: Vec<Address> = wanted.map(Address::Tcp).collect();
    if addresses.is_empty() {
        return Err(failed(std::io::Error::new(std::io::ErrorKind::NotFound, "the name has no such address")));
    }
    Ok(addresses)
}
