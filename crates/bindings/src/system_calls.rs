//! The filter of system calls of the sandbox.

use pyo3::prelude::*;

use crate::errors::value_error;

#[pyfunction]
pub(crate) fn system_call_filter() -> PyResult<Vec<u8>> {
    zerolap_system_calls::filter().map_err(value_error)
}
