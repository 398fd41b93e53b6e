//! Slices on demand: JSON lines in, JSON lines out.
//!
//! | in | out |
//! |---|---|
//! | (all connections are up) | `{"event":"ready","connections":N}` |
//! | `{"do":"slice","requests":N}` | `{"event":"slice", ...result}` once every reply is in |
//! | `{"do":"slice","requests":N,"per_second":R}` | the same, at that rate over all connections; latencies are response times, and `schedule` has service times and slip |
//! | `{"do":"stop"}`, or the end of input | nothing |
//! | anything else, or trouble with a connection | `{"event":"error","message":"..."}`, and that is the end |

use std::io::{self, BufRead, Write};
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use crate::error::ProgramError;
use zerolap_load_engine::{Crew, Watch};
use zerolap_load_measure::Outcome;
use zerolap_load_output::SliceRecord;
use zerolap_load_requests::{Amount, Arrivals, Pace, Settings, Unit, Work};

#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
enum Order {
    Slice { requests: u64, per_second: Option<NonZeroU64> },
    Stop {},
}

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Event<'event> {
    Ready { connections: usize },
    Slice(&'event SliceRecord),
    Error { message: String },
}

/// Connects and carries out the orders in the lines of `input`, until they end. Returns all slices together.
///
/// # Errors
/// When a line is no order, or a connection does not hold. The error has been written to `output` as an event then.
pub fn serve(settings: Settings, input: impl BufRead, mut output: impl Write) -> Result<Outcome, ProgramError> {
    let served = converse(settings, input, &mut output);
    if let Err(error) = &served {
        // Where the output is the trouble, this fails like what went before; the error itself is returned.
        let _ = send(&mut output, &Event::Error { message: error.to_string() });
    }
    served
}

fn converse(settings: Settings, input: impl BufRead, output: &mut impl Write) -> Result<Outcome, ProgramError> {
    let mut crew = Crew::connect(settings, &Watch::default())?;
    let mut total = Outcome::empty(crew.settings().commands.len());
    send(output, &Event::Ready { connections: crew.settings().connections() })?;
    for (index, line) in input.split(b'\n').enumerate() {
        let line = line.map_err(ProgramError::ReadInput)?;
        let bad_line = |error: serde_json::Error| ProgramError::BadLine { line: index + 1, reason: error.to_string() };
        match parse_order(&line).map_err(bad_line)? {
            Order::Stop {} => break,
            Order::Slice { requests, per_second } => {
                let pace = |per_second| Pace { per_second, arrivals: Arrivals::Fixed, unit: Unit::Pipeline };
                let work = Work { amount: Amount::Total(requests), pace: per_second.map(pace) };
                let mut outcome = crew.run(work)?;
                if let Some(failure) = outcome.failure.take() {
                    return Err(failure.into());
                }
                total.append(&outcome);
                send(output, &Event::Slice(&SliceRecord::new(&crew.settings().commands, work.pace, &outcome)))?;
            }
        }
    }
    Ok(total)
}

/// Reads an order. An object is asked for first, since serde also takes an array for an enumeration with a tag.
fn parse_order(line: &[u8]) -> Result<Order, serde_json::Error> {
    let members = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(line)?;
    Order::deserialize(serde_json::Value::Object(members))
}

/// Whether a line is an order.
pub(crate) fn is_order(line: &[u8]) -> bool {
    parse_order(line).is_ok()
}

fn send(output: &mut impl Write, event: &Event<'_>) -> Result<(), ProgramError> {
    let line = serde_json::to_vec(event).map_err(io::Error::from);
    let written = line.and_then(|mut line| {
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()
    });
    written.map_err(ProgramError::standard_output)
}
