//! The load generator's command line.

use std::ffi::OsString;

use pyo3::prelude::*;
use zerolap_load::arguments;

use crate::errors::value_error;

/// JSON of what the arguments mean; none where they ask for a text.
#[pyfunction]
pub(crate) fn describe_load(arguments: Vec<OsString>) -> PyResult<Option<String>> {
    let description = arguments::describe(arguments).map_err(value_error)?;
    description.map(|description| serde_json::to_string(&description).map_err(value_error)).transpose()
}
