//! Errors that name the node to ask instead.

use zerolap_resp::{Reply, ReplyKind};

use super::SLOTS;
use zerolap_load_requests::Endpoint;

/// Where a request belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redirect {
    pub(crate) slot: u16,
    pub(crate) endpoint: Endpoint,
    /// Whether only this request belongs there, after an ASKING; all of the slot's otherwise.
    pub(crate) is_ask: bool,
}

impl Redirect {
    /// What `reply` asks for; none if it is no redirection. A node that names no host means its own, `asked`.
    pub(crate) fn read(reply: &Reply<'_>, asked: &Endpoint) -> Option<Self> {
        if reply.kind != ReplyKind::Error || !matches!(reply.code, b"MOVED" | b"ASK") {
            return None;
        }
        let text = std::str::from_utf8(reply.text).ok()?;
        let mut words = text.split(' ').skip(1);
        let slot = words.next()?.parse().ok().filter(|slot| usize::from(*slot) < SLOTS)?;
        let (host, port) = words.next()?.trim().rsplit_once(':')?;
        let host = match (host, asked) {
            ("" | "?", Endpoint::Tcp { host, .. }) => host.clone(),
            (host, _) => host.to_owned(),
        };
        let endpoint = Endpoint::Tcp { host, port: port.parse().ok()? };
        Some(Self { slot, endpoint, is_ask: reply.code == b"ASK" })
    }
}

#[cfg(test)]
mod tests {
    use zerolap_resp::{Reply, ReplyKind};

    use super::Redirect;
    use zerolap_load_requests::Endpoint;

    fn read(text: &str) -> Option<Redirect> {
        let code = text.split(' ').next().unwrap_or_default().as_bytes();
        let reply = Reply { kind: ReplyKind::Error, code, text: text.as_bytes(), first: b"", elements: 0 };
        Redirect::read(&reply, &Endpoint::Tcp { host: "seed".to_owned(), port: 1 })
    }

    #[test]
    fn hosts_may_be_missing_or_hold_colons() {
        let to = |host: &str, is_ask| Redirect {
            slot: 3999,
            endpoint: Endpoint::Tcp { host: host.to_owned(), port: 6381 },
            is_ask,
        };
        assert_eq!(read("MOVED 3999 127.0.0.1:6381"), Some(to("127.0.0.1", false)));
        assert_eq!(read("ASK 3999 ::1:6381"), Some(to("::1", true)));
        assert_eq!(read("MOVED 3999 :6381"), Some(to("seed", false)));
        for other in
            ["MOVED", "MOVED x y:1", "MOVED 1 y", "MOVED 70000 y:1", "MOVED 16384 y:1", "ERR 3999 127.0.0.1:6381"]
        {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
