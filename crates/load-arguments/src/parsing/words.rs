//! Words and letters that stand for something.

use zerolap_load_requests::{Arrivals, Credentials, KeyPattern, Protocol, RecordingOrder, TlsVersion};

/// How a range of lengths is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SizePattern {
    Random,
    ByKey,
}

/// A version of the protocol.
pub(crate) fn protocol(text: &str) -> Result<Protocol, String> {
    match text {
        "redis" => Ok(Protocol::AsIs),
        "resp2" => Ok(Protocol::Resp2),
        "resp3" => Ok(Protocol::Resp3),
        "memcache_text" | "memcache_binary" => Err("this program does not speak memcached's protocols".to_owned()),
        _ => Err("expected redis, resp2 or resp3".to_owned()),
    }
}

/// Versions of TLS, such as `TLSv1.2,TLSv1.3`.
pub(crate) fn tls_versions(text: &str) -> Result<Vec<TlsVersion>, String> {
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

/// A letter of a key pattern.
pub(crate) fn key_pattern(text: &str) -> Result<KeyPattern, String> {
    match text {
        "R" => Ok(KeyPattern::Random),
        "S" => Ok(KeyPattern::Sequential),
        "P" => Ok(KeyPattern::Parallel),
        "G" => Ok(KeyPattern::Gaussian),
        "Z" => Ok(KeyPattern::Zipf),
        _ => Err("expected R (random), S (sequential), P (parallel), G (gaussian) or Z (zipf)".to_owned()),
    }
}

/// Two letters such as `R:S`; P on both sides or none.
pub(crate) fn key_patterns(text: &str) -> Result<(KeyPattern, KeyPattern), String> {
    let (sets, gets) = text.split_once(':').ok_or_else(|| "expected two letters such as R:R".to_owned())?;
    let patterns = (key_pattern(sets)?, key_pattern(gets)?);
    if (patterns.0 == KeyPattern::Parallel) == (patterns.1 == KeyPattern::Parallel) {
        Ok(patterns)
    } else {
        Err("P goes for both SET and GET or for none".to_owned())
    }
}

/// How a range of lengths is used.
pub(crate) fn size_pattern(text: &str) -> Result<SizePattern, String> {
    match text {
        "R" => Ok(SizePattern::Random),
        "S" => Ok(SizePattern::ByKey),
        _ => Err("expected R (random) or S (by the place of the key in its range)".to_owned()),
    }
}

/// In which order recorded commands are sent.
pub(crate) fn recording_order(text: &str) -> Result<RecordingOrder, String> {
    match text {
        "S" => Ok(RecordingOrder::Sequential),
        "R" => Ok(RecordingOrder::Random),
        _ => Err("expected S (sequential) or R (random)".to_owned()),
    }
}

/// How due requests follow each other.
pub(crate) fn arrivals(text: &str) -> Result<Arrivals, String> {
    match text {
        "fixed" => Ok(Arrivals::Fixed),
        "poisson" => Ok(Arrivals::Poisson),
        _ => Err("expected fixed or poisson".to_owned()),
    }
}

/// Whether commands are reported line by line.
pub(crate) fn is_by_line(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "command" => Ok(false),
        "line" => Ok(true),
        _ => Err("expected command or line".to_owned()),
    }
}

/// `PASSWORD`, `USER:PASSWORD`, or `:PASSWORD` for one that holds a colon.
pub(crate) fn credentials(text: &str) -> Credentials {
    let (user, password) = text.split_once(':').unwrap_or(("", text));
    Credentials { user: (!user.is_empty()).then(|| user.to_owned()), password: password.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{credentials, key_patterns, protocol, tls_versions};
    use zerolap_load_requests::{KeyPattern, TlsVersion};

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
    fn parallel_goes_for_both_commands_or_none() {
        assert_eq!(key_patterns("G:Z"), Ok((KeyPattern::Gaussian, KeyPattern::Zipf)));
        assert_eq!(key_patterns("P:P"), Ok((KeyPattern::Parallel, KeyPattern::Parallel)));
        assert!(["P:R", "S:P", "R", "R:", "RR:R", "r:r", "R:R:R"].iter().all(|text| key_patterns(text).is_err()));
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
