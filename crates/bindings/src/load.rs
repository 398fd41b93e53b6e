//! The load generator's command line.

use std::ffi::OsString;

use pyo3::prelude::*;
use zerolap_load_arguments::describe;

use crate::errors::value_error;

/// JSON of what the arguments mean; none where they ask for a text.
#[pyfunction]
pub(crate) fn describe_load(arguments: Vec<OsString>) -> PyResult<Option<String>> {
    let description = describe(arguments).map_err(value_error)?;
    description.map(|description| serde_json::to_string(&description).map_err(value_error)).transpose()
}
