//! Errors of the crates as Python exceptions: what the system refuses is an `OSError`, everything else a `ValueError`.

use std::fmt::Display;
use std::io;

use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyValueError};
use zerolap_profile::{binary::BinaryError, callgrind::ReadError, perf::StacksError};

pyo3::create_exception!(
    zerolap._core,
    ZeroSideError,
    PyValueError,
    "One side of a comparison is 0 in all samples, the other is not."
);

pub(crate) fn value_error(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The subclass of `OSError` that the error's number calls for, with the file's name.
pub(crate) fn os_error(error: &io::Error, path: &str) -> PyErr {
    match error.raw_os_error() {
        Some(number) => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((number, text, path.to_owned()))
        }
        None => PyOSError::new_err(format!("{path}: {error}")),
    }
}

pub(crate) fn dump_error(error: &ReadError, path: &str) -> PyErr {
    match error {
        ReadError::Io(error) => os_error(error, path),
        other => value_error(format_args!("{path}: {other}")),
    }
}

pub(crate) fn binary_error(error: &BinaryError, path: &str) -> PyErr {
    match error {
        BinaryError::Io(error) => os_error(error, path),
        other => value_error(format_args!("{path}: {other}")),
    }
}

pub(crate) fn stacks_error(error: &StacksError, path: &str) -> PyErr {
    match error {
        StacksError::Io(error) => os_error(error, path),
        other => value_error(format_args!("{path}: {other}")),
    }
}
