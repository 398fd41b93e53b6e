//! The load generator's command line.

use std::ffi::OsString;

use pyo3::prelude::*;
use zerolap_load_arguments::describe;
use zerolap_load_requests::{Answer, LookUp};
use zerolap_resp::ReplyReader;

use crate::errors::value_error;

/// JSON of what the arguments mean; none where they ask for a text.
#[pyfunction]
pub(crate) fn describe_load(arguments: Vec<OsString>) -> PyResult<Option<String>> {
    let description = describe(arguments).map_err(value_error)?;
    description.map(|description| serde_json::to_string(&description).map_err(value_error)).transpose()
}

/// What the bytes of a reply to a request with these words show of what was looked for, as the load generator counts
/// it: the name of an `Answer`.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn answer_of(words: Vec<Vec<u8>>, reply: &[u8]) -> PyResult<&'static str> {
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    let mut bytes = reply;
    let mut reader = ReplyReader::new();
    let reply = reader.next(&mut bytes).map_err(value_error)?.ok_or_else(|| value_error("the reply is incomplete"))?;
    let answer = LookUp::of_words(&words).map_or(Answer::NoLookUp, |rule| rule.answer(&reply));
    Ok(answer.name())
}

/// What a command line does with what it finds, as the load generator reports it; none if it looks nothing up.
#[pyfunction]
pub(crate) fn look_up_role(line: &str) -> Option<&'static str> {
    LookUp::of_line(line).map(|rule| rule.role.name())
}
