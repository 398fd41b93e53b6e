//! Where the server is, in one word.

use std::path::PathBuf;

use crate::numbers::number;
use zerolap_load_requests::Credentials;

/// The parts of a URI; none where it does not have them.
#[derive(Debug)]
pub(crate) struct Uri {
    pub(crate) is_tls: bool,
    pub(crate) credentials: Option<Credentials>,
    pub(crate) place: Place,
}

/// Where to connect to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Tcp { host: Option<String>, port: Option<u16>, database: Option<u32> },
    Unix(PathBuf),
}

/// `redis://`, `rediss://` or `unix://`, then `USER:PASSWORD@` or `PASSWORD@`, then `HOST:PORT/DATABASE` or a path.
pub(crate) fn uri(text: &str) -> Result<Uri, String> {
    let (scheme, rest) = text.split_once("://").ok_or("expected redis://, rediss:// or unix://")?;
    let is_unix = match scheme {
        "redis" | "rediss" => false,
        "unix" => true,
        _ => return Err("expected redis://, rediss:// or unix://".to_owned()),
    };
    // A path may hold an @, and begins with a slash; a password may too, but a host may not.
    let split = if is_unix && rest.starts_with('/') { None } else { rest.rsplit_once('@') };
    let (user_info, rest) = split.map_or((None, rest), |(user_info, rest)| (Some(user_info), rest));
    let place = if is_unix { unix(rest)? } else { tcp(rest)? };
    Ok(Uri { is_tls: scheme == "rediss", credentials: user_info.map(credentials).transpose()?, place })
}

fn unix(path: &str) -> Result<Place, String> {
    if path.starts_with('/') {
        Ok(Place::Unix(PathBuf::from(path)))
    } else {
        Err("expected an absolute path after unix://".to_owned())
    }
}

fn tcp(rest: &str) -> Result<Place, String> {
    let (host_port, database) = rest.split_once('/').unwrap_or((rest, ""));
    // The address of IPv6 stands in brackets, for its colons.
    let (host, port) = match host_port.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((host, "")) => (host, None),
        Some((host, port)) => (host, Some(port.strip_prefix(':').ok_or("expected a colon after ]")?)),
        None => host_port.split_once(':').map_or((host_port, None), |(host, port)| (host, Some(port))),
    };
    Ok(Place::Tcp {
        host: (!host.is_empty()).then(|| host.to_owned()),
        port: port.map(|port| number(port, 1..=u16::MAX).map_err(|reason| format!("port: {reason}"))).transpose()?,
        database: match database {
            "" => None,
            text => Some(number(text, 0..=u32::from(u16::MAX)).map_err(|reason| format!("database: {reason}"))?),
        },
    })
}

fn credentials(user_info: &str) -> Result<Credentials, String> {
    let (user, password) = user_info.split_once(':').unwrap_or(("", user_info));
    let user = decoded(user)?;
    Ok(Credentials { user: (!user.is_empty()).then_some(user), password: decoded(password)? })
}

/// Resolves `%40` and the like; a percent sign without two hexadecimal digits stays one.
fn decoded(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = match after {
            [high, low, ..] if *first == b'%' => hexadecimal(*high).zip(hexadecimal(*low)),
            _ => None,
        };
        bytes.push(code.map_or(*first, |(high, low)| high << 4 | low));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).map_err(|_| "user and password must be UTF-8".to_owned())
}

fn hexadecimal(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Place, uri};

    fn place(host: &str, port: u16, database: u32) -> Place {
        Place::Tcp { host: Some(host.to_owned()), port: Some(port), database: Some(database) }
    }

    fn user_and_password(text: &str) -> Option<(Option<String>, String)> {
        let credentials = uri(text).ok().and_then(|uri| uri.credentials);
        credentials.map(|credentials| (credentials.user, credentials.password))
    }

    #[test]
    fn all_of_a_uri_is_read() {
        let read = uri("rediss://bob:secret@db.example:7000/3").expect("a URI");
        assert!(read.is_tls);
        assert_eq!(read.place, place("db.example", 7000, 3));
        assert_eq!(uri("redis://[::1]:6380/0").expect("a URI").place, place("::1", 6380, 0));
        let nothing = Place::Tcp { host: None, port: None, database: None };
        assert_eq!(uri("redis://").expect("a URI").place, nothing);
        assert_eq!(uri("unix:///run/a@b.sock").expect("a URI").place, Place::Unix(PathBuf::from("/run/a@b.sock")));
    }

    #[test]
    fn user_and_password_may_hold_what_separates() {
        let user = |name: &str, password: &str| Some((Some(name.to_owned()), password.to_owned()));
        assert_eq!(user_and_password("redis://bob:a%40b%3ac@host"), user("bob", "a@b:c"));
        assert_eq!(user_and_password("redis://bob:a@b@host"), user("bob", "a@b"));
        assert_eq!(user_and_password("redis://bob:100%@host"), user("bob", "100%"));
        assert_eq!(user_and_password("redis://secret@host"), Some((None, "secret".to_owned())));
        assert_eq!(user_and_password("redis://:secret@host"), Some((None, "secret".to_owned())));
        assert_eq!(user_and_password("unix://bob:secret@/run/x"), user("bob", "secret"));
        assert_eq!(user_and_password("redis://host"), None);
    }

    #[test]
    fn what_is_no_uri_is_refused() {
        for wrong in ["", "host:6379", "http://host", "redis://host:0", "redis://host/x", "redis://[::1]x", "unix://x"]
        {
            assert!(uri(wrong).is_err(), "{wrong:?}");
        }
    }
}
