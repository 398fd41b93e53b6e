//! The filter of system calls of the sandbox.

use pyo3::prelude::*;
use zerolap_system_calls::{Connections, filter};

use crate::errors::value_error;

#[pyfunction]
#[pyo3(signature = (*, opens_connections = true))]
pub(crate) fn system_call_filter(opens_connections: bool) -> PyResult<Vec<u8>> {
    filter(if opens_connections { Connections::Opened } else { Connections::OnlyAccepted }).map_err(value_error)
}
