//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use lexopt::{Arg, Parser, ValueExt};

use crate::escapes::unescape;
use crate::stalls::Stalls;

const HELP: &str = r"Answers every request with the same reply, at known times, until standard input ends.

  --port N             port of 127.0.0.1 to listen on; 0, the default, is any
  --cpu N              processor to run on
  --delay-us N         each reply is written so long after its request was read
  --stall-every-s S    every S seconds since the first request ...
  --stall-ms M         ... no reply is written for M milliseconds
  --reply TEXT         the reply, with \r \n \t \\ \xHH; +OK\r\n by default
  --error-every N      every Nth reply is the error instead
  --error TEXT         the error; -ERR scripted\r\n by default
  --close-after N      a connection is closed after N replies ...
  --reset              ... by a reset
  --record FILE        write when each request was read and its reply written, in nanoseconds of CLOCK_MONOTONIC:
                       pairs of little-endian 64-bit numbers in order of arrival, 0 where no reply was written
";

/// What the command line asks for.
pub(crate) enum Invocation {
    /// To print this text.
    Print(&'static str),
    /// To serve.
    Serve(Box<Options>),
}

/// How to answer.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) port: u16,
    pub(crate) cpu: Option<usize>,
    pub(crate) delay: Duration,
    pub(crate) stalls: Option<Stalls>,
    pub(crate) reply: Vec<u8>,
    pub(crate) error: Vec<u8>,
    pub(crate) error_every: Option<u64>,
    pub(crate) close_after: Option<u64>,
    pub(crate) closes_by_reset: bool,
    pub(crate) record: Option<PathBuf>,
}

/// Reads the command line of this process.
///
/// # Errors
/// When it asks for something that is not known or makes no sense.
pub(crate) fn parse() -> Result<Invocation, lexopt::Error> {
    let mut options = Options {
        port: 0,
        cpu: None,
        delay: Duration::ZERO,
        stalls: None,
        reply: b"+OK\r\n".to_vec(),
        error: b"-ERR scripted\r\n".to_vec(),
        error_every: None,
        close_after: None,
        closes_by_reset: false,
        record: None,
    };
    let (mut stall_every, mut stall) = (None, None);
    let mut parser = Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("help") => return Ok(Invocation::Print(HELP)),
            Arg::Long("port") => options.port = parser.value()?.parse()?,
            Arg::Long("cpu") => options.cpu = Some(parser.value()?.parse()?),
            Arg::Long("delay-us") => options.delay = Duration::from_micros(parser.value()?.parse()?),
            Arg::Long("stall-every-s") => stall_every = Some(parser.value()?.parse_with(seconds)?),
            Arg::Long("stall-ms") => stall = Some(Duration::from_millis(parser.value()?.parse()?)),
            Arg::Long("reply") => options.reply = parser.value()?.parse_with(unescape)?,
            Arg::Long("error-every") => options.error_every = Some(parser.value()?.parse_with(positive)?),
            Arg::Long("error") => options.error = parser.value()?.parse_with(unescape)?,
            Arg::Long("close-after") => options.close_after = Some(parser.value()?.parse_with(positive)?),
            Arg::Long("reset") => options.closes_by_reset = true,
            Arg::Long("record") => options.record = Some(parser.value()?.into()),
            _ => return Err(argument.unexpected()),
        }
    }
    options.stalls = match (stall_every, stall) {
        (None, None) => None,
        (Some(every), Some(length)) => Some(Stalls::new(every, length)?),
        _ => return Err("--stall-every-s and --stall-ms need each other".into()),
    };
    if options.closes_by_reset && options.close_after.is_none() {
        return Err("--reset needs --close-after".into());
    }
    Ok(Invocation::Serve(Box::new(options)))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number of seconds")?;
    Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}

fn positive(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|&number| number > 0).ok_or_else(|| "expected a positive number".to_owned())
}
