//! Requests that cannot be sent among others on a connection: the server answers them with no reply or with several, or
//! the connection is another one afterwards.

/// Commands of which the last argument is a time limit; 0 stands for none.
const LIMIT_IS_LAST: [&[u8]; 8] =
    [b"BLPOP", b"BRPOP", b"BRPOPLPUSH", b"BLMOVE", b"BZPOPMIN", b"BZPOPMAX", b"WAIT", b"WAITAOF"];
/// Commands of which the first argument is such a limit.
const LIMIT_IS_FIRST: [&[u8]; 2] = [b"BLMPOP", b"BZMPOP"];
const REDACTED: &[u8] = b"(redacted)";
/// Commands whose passwords MONITOR does not show.
const WITH_PASSWORDS: [&[u8]; 5] = [b"AUTH", b"HELLO", b"MIGRATE", b"CONFIG", b"ACL"];

/// Why a request of these words cannot be one of many on a connection; none if it can.
#[must_use]
pub fn why_not_among_others(words: &[Vec<u8>]) -> Option<&'static str> {
    let is = |index: usize, name: &[u8]| words.get(index).is_some_and(|word| word.eq_ignore_ascii_case(name));
    let is_any = |names: &[&[u8]]| names.iter().any(|name| is(0, name));
    if is_any(&[b"SUBSCRIBE", b"PSUBSCRIBE", b"SSUBSCRIBE"]) {
        return Some("the server answers it once for each channel, and then sends messages: use --listen for it");
    }
    if is_any(&[b"UNSUBSCRIBE", b"PUNSUBSCRIBE", b"SUNSUBSCRIBE"]) {
        return Some("the server answers it once for each channel, not once for each request");
    }
    if is_any(&[b"MONITOR", b"SYNC", b"PSYNC", b"REPLCONF"]) {
        return Some("the server sends a stream after it, not one reply for each request");
    }
    if is(0, b"CLIENT") && is(1, b"REPLY") && (is(2, b"OFF") || is(2, b"SKIP")) {
        return Some("the server does not answer after it, so that nothing can be measured");
    }
    if is(0, b"QUIT") {
        return Some("the server closes the connection after it");
    }
    if is(0, b"SHUTDOWN") {
        return Some("the server ends without a reply");
    }
    if is(0, b"RESET") {
        return Some("it undoes what prepares the connection: password, protocol and database");
    }
    if is_any(&WITH_PASSWORDS) && words.iter().skip(1).any(|word| word == REDACTED) {
        return Some("the server does not record passwords: give --authenticate");
    }
    None
}

/// Whether a request of these words waits for other clients without any limit of time.
#[must_use]
pub fn waits_without_limit(words: &[Vec<u8>]) -> bool {
    let Some((name, arguments)) = words.split_first() else { return false };
    let is_any = |names: &[&[u8]]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
    let limit = if is_any(&LIMIT_IS_LAST) {
        arguments.last()
    } else if is_any(&LIMIT_IS_FIRST) {
        arguments.first()
    } else if is_any(&[b"XREAD", b"XREADGROUP"]) {
        // What follows STREAMS are names and identifiers.
        let options = arguments.split(|word| word.eq_ignore_ascii_case(b"STREAMS")).next().unwrap_or_default();
        let block = options.iter().position(|word| word.eq_ignore_ascii_case(b"BLOCK"));
        block.and_then(|at| options.get(at + 1))
    } else {
        None
    };
    let seconds = limit.and_then(|limit| std::str::from_utf8(limit).ok()?.parse::<f64>().ok());
    seconds.is_some_and(|seconds| seconds == 0.0)
}

#[cfg(test)]
mod tests {
    use zerolap_resp::split_words;

    use super::{waits_without_limit, why_not_among_others};

    #[test]
    fn what_has_no_reply_of_its_own_is_refused() {
        let why = |line: &str| why_not_among_others(&split_words(line.as_bytes()).expect("words"));
        for line in [
            "SUBSCRIBE a b",
            "psubscribe a*",
            "ssubscribe a",
            "UNSUBSCRIBE",
            "punsubscribe a",
            "SUNSUBSCRIBE a",
            "monitor",
            "SYNC",
            "PSYNC ? -1",
            "REPLCONF ACK 1",
            "client reply Off",
            "CLIENT REPLY skip",
            "QUIT",
            "shutdown nosave",
            "RESET",
            "AUTH (redacted)",
            "HELLO 3 AUTH (redacted) (redacted)",
        ] {
            assert!(why(line).is_some(), "{line}");
        }
        for line in [
            "GET SUBSCRIBE",
            "CLIENT REPLY ON",
            "CLIENT SETINFO LIB-NAME x",
            "CLIENT TRACKING ON",
            "HELLO 3",
            "HELLO 2 SETNAME x",
            "AUTH secret",
            "SET k (redacted)",
            "PUBLISH a b",
            "DEBUG SLEEP 1",
            "PUBSUB CHANNELS",
            "",
        ] {
            assert_eq!(why(line), None, "{line}");
        }
    }

    #[test]
    fn what_may_wait_for_ever_is_known() {
        let waits = |line: &str| waits_without_limit(&split_words(line.as_bytes()).expect("words"));
        for line in [
            "BLPOP a b 0",
            "brpop a 0.0",
            "BLMOVE a b LEFT RIGHT 0",
            "BZPOPMIN a 0",
            "BLMPOP 0 1 a LEFT",
            "BZMPOP 0 1 a MIN",
            "XREAD COUNT 1 BLOCK 0 STREAMS s $",
            "xreadgroup GROUP g c block 0 STREAMS s >",
            "WAIT 1 0",
            "WAITAOF 1 0 0",
        ] {
            assert!(waits(line), "{line}");
        }
        for line in [
            "BLPOP a 1",
            "BLPOP 0 1",
            "BLMPOP 1 1 a LEFT COUNT 0",
            "XREAD COUNT 0 STREAMS BLOCK 0",
            "XREAD BLOCK",
            "WAIT 0 100",
            "LRANGE a 0 0",
            "BLPOP __key__ __data__",
            "BLPOP",
            "",
        ] {
            assert!(!waits(line), "{line}");
        }
    }
}
