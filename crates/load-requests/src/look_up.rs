//! Which replies of a command show that it did not find what it asked for: one rule for all that counts misses.
//!
//! The rule of a command follows what Redis and Valkey document of its replies (`reply_schemas` in the descriptions of
//! their commands): a nil for a key that does not exist, a 0 for its length, a -2 for its time to live, ...

use zerolap_resp::{Leaves, Reply, ReplyKind, split_words};

/// What a reply shows of what was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The command looks nothing up, or is answered within a later reply.
    NoLookUp,
    /// Something was there.
    Found,
    /// Nothing was there.
    Nothing,
    /// The key or what was asked of it is not there, such as a member of a set: which of both does not show.
    NoMember,
    /// The key is not there or holds such a value, as a bit that is 0.
    EmptyValue,
    /// A script replied nil: it may have found nothing, or have nothing to reply.
    Unclear,
}

impl Answer {
    /// All of them, in the order of their discriminants.
    pub const ALL: [Self; 6] =
        [Self::NoLookUp, Self::Found, Self::Nothing, Self::NoMember, Self::EmptyValue, Self::Unclear];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoLookUp => "no_look_up",
            Self::Found => "found",
            Self::Nothing => "nothing",
            Self::NoMember => "no_member",
            Self::EmptyValue => "empty_value",
            Self::Unclear => "unclear",
        }
    }
}

/// What a command does with what it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It only reads.
    Reads,
    /// It takes it away, changes it or waits for it: where others write, whether something is there is a matter of who
    /// comes first.
    Takes,
    /// It takes it away and writes it elsewhere.
    Moves,
    /// Whatever a script does.
    Runs,
}

impl Role {
    /// The word for it in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Takes => "takes",
            Self::Moves => "moves",
            Self::Runs => "runs",
        }
    }
}

/// How the replies of one command are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookUp {
    /// What it does with what it finds.
    pub role: Role,
    form: Form,
    /// A reply of nothing else found nothing. An empty aggregate is one, whatever this is.
    nothing: Leaves,
    /// The same of a reply that may lack a member only.
    no_member: Leaves,
    /// The same of a reply that may be a value.
    empty_value: Leaves,
}

/// Where in a reply lies what was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    All,
    /// After a cursor; that it is 0 ends the search.
    AfterCursor,
    /// In the replies to a transaction's commands; nil if it was not carried out.
    Transaction,
    /// Perhaps nowhere: a script may reply nil to anything.
    Script,
}

const NIL: Leaves = Leaves::NIL;
const NIL_OR_ZERO: Leaves = Leaves::NIL.and(Leaves::ZERO);
const NIL_OR_MINUS_TWO: Leaves = Leaves::NIL.and(Leaves::MINUS_TWO);

impl LookUp {
    /// The rule of a command line, which may hold placeholders; none for a command that looks nothing up.
    #[must_use]
    pub fn of_line(line: &str) -> Option<Self> {
        let words = split_words(line.as_bytes()).ok()?;
        let words: Vec<&[u8]> = words.iter().map(AsRef::as_ref).collect();
        Self::of_words(&words)
    }

    /// The rule of a request with these words.
    #[must_use]
    pub fn of_words(words: &[&[u8]]) -> Option<Self> {
        let words: Vec<String> = words.iter().map(|word| String::from_utf8_lossy(word).to_ascii_uppercase()).collect();
        let (name, arguments) = words.split_first()?;
        let has = |option: &str| arguments.iter().skip(1).any(|argument| argument == option);
        match name.as_str() {
            "SET" if !has("GET") => None,
            // With a condition a 0 may be due to that.
            "EXPIRE" | "PEXPIRE" | "EXPIREAT" | "PEXPIREAT"
                if ["NX", "XX", "GT", "LT"].iter().any(|word| has(word)) =>
            {
                Some(Self::new(Role::Takes, NIL).or_no_member(Leaves::ZERO))
            }
            "SORT" | "GEORADIUS" | "GEORADIUSBYMEMBER" if has("STORE") || has("STOREDIST") => {
                Some(Self::new(Role::Reads, NIL).or_no_member(Leaves::ZERO))
            }
            "OBJECT" | "MEMORY" => {
                let is_of_key = ["ENCODING", "FREQ", "IDLETIME", "REFCOUNT", "USAGE"];
                let subcommand = arguments.first()?;
                is_of_key.contains(&subcommand.as_str()).then(|| Self::new(Role::Reads, NIL))
            }
            "XINFO" => Some(Self::new(Role::Reads, NIL)),
            name => Self::of_name(name),
        }
    }

    /// The rule of all requests of a command.
    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            _ if LOOKS_NOTHING_UP.contains(&name) => return None,
            "EVAL" | "EVALSHA" | "FCALL" | "EVAL_RO" | "EVALSHA_RO" | "FCALL_RO" => {
                Self { form: Form::Script, ..Self::new(Role::Runs, NIL) }
            }
            "EXEC" => Self { form: Form::Transaction, ..Self::new(Role::Runs, NIL) },
            "SCAN" | "HSCAN" | "SSCAN" | "ZSCAN" => Self { form: Form::AfterCursor, ..Self::new(Role::Reads, NIL) },
            "XAUTOCLAIM" => Self { form: Form::AfterCursor, ..Self::new(Role::Takes, NIL) },
            "EXISTS" | "TOUCH" | "STRLEN" | "LLEN" | "HLEN" | "HSTRLEN" | "SCARD" | "ZCARD" | "XLEN" | "PFCOUNT"
            | "XPENDING" | "FT.SEARCH" | "FT.AGGREGATE" => Self::new(Role::Reads, NIL_OR_ZERO),
            "TTL" | "PTTL" | "EXPIRETIME" | "PEXPIRETIME" | "HTTL" | "HPTTL" | "HEXPIRETIME" | "HPEXPIRETIME" => {
                Self::new(Role::Reads, NIL_OR_MINUS_TWO)
            }
            "TYPE" => Self::new(Role::Reads, NIL | Leaves::NO_TYPE),
            "SISMEMBER" | "SMISMEMBER" | "HEXISTS" | "ZCOUNT" | "ZLEXCOUNT" | "SINTERCARD" | "ZINTERCARD"
            | "SINTERSTORE" | "SUNIONSTORE" | "SDIFFSTORE" | "ZINTERSTORE" | "ZUNIONSTORE" | "ZDIFFSTORE"
            | "ZRANGESTORE" | "GEOSEARCHSTORE" | "BITOP" | "BF.EXISTS" | "BF.MEXISTS" | "CF.EXISTS" | "CF.MEXISTS" => {
                Self::new(Role::Reads, NIL).or_no_member(Leaves::ZERO)
            }
            "GETBIT" | "BITCOUNT" | "BITFIELD_RO" => Self::new(Role::Reads, NIL).or_empty_value(Leaves::ZERO),
            "BITPOS" => Self::new(Role::Reads, NIL).or_empty_value(Leaves::ZERO | Leaves::MINUS_ONE),
            "GETRANGE" | "SUBSTR" => Self::new(Role::Reads, NIL).or_empty_value(Leaves::EMPTY_TEXT),
            "LCS" => Self::new(Role::Reads, NIL).or_empty_value(Leaves::ZERO | Leaves::EMPTY_TEXT),
            "DEL" | "UNLINK" | "HDEL" | "SREM" | "ZREM" | "LREM" | "XDEL" | "EXPIRE" | "PEXPIRE" | "EXPIREAT"
            | "PEXPIREAT" => Self::new(Role::Takes, NIL_OR_ZERO),
            "LPUSHX" | "RPUSHX" | "SMOVE" => Self::new(Role::Moves, NIL_OR_ZERO),
            "LINSERT" => Self::new(Role::Moves, NIL_OR_ZERO).or_no_member(Leaves::MINUS_ONE),
            "HEXPIRE" | "HPEXPIRE" | "HEXPIREAT" | "HPEXPIREAT" | "HPERSIST" => {
                Self::new(Role::Takes, NIL_OR_MINUS_TWO)
            }
            "PERSIST" | "ZREMRANGEBYLEX" | "ZREMRANGEBYRANK" | "ZREMRANGEBYSCORE" => {
                Self::new(Role::Takes, NIL).or_no_member(Leaves::ZERO)
            }
            "LMOVE" | "BLMOVE" | "RPOPLPUSH" | "BRPOPLPUSH" | "SET" | "GETSET" => Self::new(Role::Moves, NIL),
            "LPOP" | "RPOP" | "BLPOP" | "BRPOP" | "LMPOP" | "BLMPOP" | "SPOP" | "ZPOPMIN" | "ZPOPMAX" | "BZPOPMIN"
            | "BZPOPMAX" | "ZMPOP" | "BZMPOP" | "GETDEL" | "HGETDEL" | "XREAD" | "XREADGROUP" | "XCLAIM" => {
                Self::new(Role::Takes, NIL)
            }
            // GET, MGET, HGETALL, LRANGE, ZSCORE, GEOPOS, RANDOMKEY, KEYS, ...; also commands of modules.
            _ => Self::new(Role::Reads, NIL),
        })
    }

    const fn new(role: Role, nothing: Leaves) -> Self {
        Self { role, form: Form::All, nothing, no_member: Leaves::NONE, empty_value: Leaves::NONE }
    }

    const fn or_no_member(self, no_member: Leaves) -> Self {
        Self { no_member, ..self }
    }

    const fn or_empty_value(self, empty_value: Leaves) -> Self {
        Self { empty_value, ..self }
    }

    /// What a reply shows; none of an error.
    #[must_use]
    #[inline]
    pub fn answer(self, reply: &Reply<'_>) -> Answer {
        // Most replies hold something, and are looked at no further.
        if matches!(reply.kind, ReplyKind::Bulk | ReplyKind::Integer) && matches!(reply.leaves, Leaves::VALUE) {
            return Answer::Found;
        }
        self.answer_of_other(reply)
    }

    #[inline(never)]
    fn answer_of_other(self, reply: &Reply<'_>) -> Answer {
        if reply.kind == ReplyKind::Error || matches!(reply.leaves, Leaves::QUEUED) {
            return Answer::NoLookUp;
        }
        let leaves = match self.form {
            Form::AfterCursor if matches!(reply.first, b"0" | b"0-0") => reply.leaves_after_first,
            Form::AfterCursor => return Answer::Found,
            Form::Transaction if reply.kind == ReplyKind::Nil || reply.elements == 0 => return Answer::NoLookUp,
            Form::All | Form::Script | Form::Transaction => reply.leaves,
        };
        if leaves.are_among(self.nothing) {
            if self.form == Form::Script { Answer::Unclear } else { Answer::Nothing }
        } else if leaves.are_among(self.nothing | self.no_member) {
            Answer::NoMember
        } else if leaves.are_among(self.nothing | self.empty_value) {
            Answer::EmptyValue
        } else {
            Answer::Found
        }
    }
}

/// Commands whose replies show nothing of what is there: those that write whatever was there before, and those that
/// concern no data. In alphabetical order.
const LOOKS_NOTHING_UP: &[&str] = &[
    "ACL",
    "APPEND",
    "ASKING",
    "AUTH",
    "BGREWRITEAOF",
    "BGSAVE",
    "BITFIELD",
    "CLIENT",
    "CLUSTER",
    "COMMAND",
    "CONFIG",
    "COPY",
    "DBSIZE",
    "DEBUG",
    "DECR",
    "DECRBY",
    "DISCARD",
    "ECHO",
    "FAILOVER",
    "FLUSHALL",
    "FLUSHDB",
    "FUNCTION",
    "GEOADD",
    "HELLO",
    "HINCRBY",
    "HINCRBYFLOAT",
    "HMSET",
    "HSET",
    "HSETEX",
    "HSETNX",
    "INCR",
    "INCRBY",
    "INCRBYFLOAT",
    "INFO",
    "LASTSAVE",
    "LATENCY",
    "LOLWUT",
    "LPUSH",
    "LSET",
    "LTRIM",
    "MIGRATE",
    "MODULE",
    "MONITOR",
    "MOVE",
    "MSET",
    "MSETEX",
    "MSETNX",
    "MULTI",
    "PFADD",
    "PFDEBUG",
    "PFMERGE",
    "PFSELFTEST",
    "PING",
    "PSETEX",
    "PSUBSCRIBE",
    "PSYNC",
    "PUBLISH",
    "PUBSUB",
    "PUNSUBSCRIBE",
    "QUIT",
    "READONLY",
    "READWRITE",
    "RENAME",
    "RENAMENX",
    "REPLCONF",
    "REPLICAOF",
    "RESET",
    "RESTORE",
    "RESTORE-ASKING",
    "ROLE",
    "RPUSH",
    "SADD",
    "SAVE",
    "SCRIPT",
    "SELECT",
    "SETBIT",
    "SETEX",
    "SETNX",
    "SETRANGE",
    "SHUTDOWN",
    "SLAVEOF",
    "SLOWLOG",
    "SPUBLISH",
    "SSUBSCRIBE",
    "SUBSCRIBE",
    "SUNSUBSCRIBE",
    "SWAPDB",
    "SYNC",
    "TIME",
    "UNSUBSCRIBE",
    "UNWATCH",
    "WAIT",
    "WAITAOF",
    "WATCH",
    "XACK",
    "XADD",
    "XCFGSET",
    "XGROUP",
    "XSETID",
    "XTRIM",
    "ZADD",
    "ZINCRBY",
];

#[cfg(test)]
mod tests {
    use super::*;
    use zerolap_resp::ReplyReader;

    fn answer(line: &str, reply: &str) -> Answer {
        let mut reader = ReplyReader::new();
        let mut bytes = reply.as_bytes();
        let reply = reader.next(&mut bytes).expect("a reply").expect("a whole reply");
        LookUp::of_line(line).map_or(Answer::NoLookUp, |rule| rule.answer(&reply))
    }

    #[test]
    fn names_are_in_order() {
        assert!(LOOKS_NOTHING_UP.is_sorted());
    }

    #[test]
    fn replies_about_what_is_not_there_found_nothing() {
        for (line, reply) in [
            ("GET __key__", "$-1\r\n"),
            ("get __key__", "_\r\n"),
            ("MGET a b", "*2\r\n$-1\r\n$-1\r\n"),
            ("HMGET h a b", "*2\r\n_\r\n_\r\n"),
            ("GEOPOS g a", "*1\r\n*-1\r\n"),
            ("HGETALL h", "*0\r\n"),
            ("HGETALL h", "%0\r\n"),
            ("HSCAN h 0", "*2\r\n$1\r\n0\r\n*0\r\n"),
            ("XAUTOCLAIM s g c 0 0-0", "*3\r\n$3\r\n0-0\r\n*0\r\n*0\r\n"),
            ("XPENDING s g", "*4\r\n:0\r\n$-1\r\n$-1\r\n*-1\r\n"),
            ("TTL k", ":-2\r\n"),
            ("HTTL h FIELDS 1 f", "*1\r\n:-2\r\n"),
            ("TYPE k", "+none\r\n"),
            ("STRLEN k", ":0\r\n"),
            ("OBJECT ENCODING k", "$-1\r\n"),
            ("EXPIRE k 100", ":0\r\n"),
            ("SREM s m", ":0\r\n"),
            ("LPOP l", "$-1\r\n"),
            ("SET k v GET", "$-1\r\n"),
            ("EXEC", "*2\r\n$-1\r\n*0\r\n"),
            ("JSON.GET k", "$-1\r\n"),
        ] {
            assert_eq!(answer(line, reply), Answer::Nothing, "{line} {reply:?}");
        }
    }

    #[test]
    fn what_may_have_another_reason_is_told_apart() {
        for (line, reply, expected) in [
            ("SISMEMBER s m", ":0\r\n", Answer::NoMember),
            ("SMISMEMBER s m n", "*2\r\n:0\r\n:0\r\n", Answer::NoMember),
            ("EXPIRE k 100 NX", ":0\r\n", Answer::NoMember),
            ("SINTERSTORE d a b", ":0\r\n", Answer::NoMember),
            ("GETBIT b 7", ":0\r\n", Answer::EmptyValue),
            ("BITPOS b 1", ":-1\r\n", Answer::EmptyValue),
            ("GETRANGE k 0 9", "$0\r\n\r\n", Answer::EmptyValue),
            ("EVAL x 1 k", "$-1\r\n", Answer::Unclear),
            ("EVAL x 1 k", "*0\r\n", Answer::Unclear),
        ] {
            assert_eq!(answer(line, reply), expected, "{line} {reply:?}");
        }
    }

    #[test]
    fn other_replies_are_no_misses() {
        for (line, reply) in [
            ("GET __key__", "$0\r\n\r\n"),
            ("MGET a b", "*2\r\n$-1\r\n$1\r\nx\r\n"),
            ("TTL k", ":-1\r\n"),
            ("TYPE k", "+string\r\n"),
            ("HSCAN h 0", "*2\r\n$1\r\n7\r\n*0\r\n"),
            ("HSCAN h 0", "*2\r\n$1\r\n0\r\n*2\r\n$1\r\nf\r\n$0\r\n\r\n"),
            ("SISMEMBER s m", ":1\r\n"),
            ("EXEC", "*2\r\n$-1\r\n+OK\r\n"),
        ] {
            assert_eq!(answer(line, reply), Answer::Found, "{line} {reply:?}");
        }
    }

    #[test]
    fn writes_and_transactions_look_nothing_up() {
        for (line, reply) in [
            ("SADD s m", ":0\r\n"),
            ("HSET h f v", ":0\r\n"),
            ("SETNX k v", ":0\r\n"),
            ("SET k v NX", "$-1\r\n"),
            ("ZADD z NX INCR 1 m", "$-1\r\n"),
            ("INCRBY k 0", ":0\r\n"),
            ("PUBLISH c m", ":0\r\n"),
            ("CONFIG GET nothing", "*0\r\n"),
            ("GET k", "+QUEUED\r\n"),
            ("GET k", "-WRONGTYPE x\r\n"),
            ("EXEC", "*-1\r\n"),
        ] {
            assert_eq!(answer(line, reply), Answer::NoLookUp, "{line} {reply:?}");
        }
    }
}
