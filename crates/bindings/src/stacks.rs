//! Stacks that perf sampled.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use zerolap_profile::perf;
use zerolap_profile::stacks::{self, Exported, ExportedSide, Format, Part, Profile, Stacks};

use crate::errors::{stacks_error, value_error};

fn read_table(bytes: &[u8]) -> PyResult<Stacks> {
    Stacks::from_json(bytes).map_err(value_error)
}

#[pyfunction]
#[pyo3(signature = (path, source_root, original=None))]
pub(crate) fn read_stacks<'py>(
    py: Python<'py>,
    path: &str,
    source_root: &str,
    original: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.detach(|| {
        let table = perf::read_stacks(Path::new(path), source_root, original.map(Path::new))
            .map_err(|error| stacks_error(&error, path))?;
        table.to_json().map_err(value_error)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

#[pyfunction]
pub(crate) fn read_waits<'py>(
    py: Python<'py>,
    path: &str,
    source_root: &str,
    windows: Vec<(u64, u64)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let windows: Vec<Range<u64>> = windows.into_iter().map(|(begin, end)| begin..end).collect();
    let bytes = py.detach(|| {
        let table =
            perf::read_waits(Path::new(path), source_root, &windows).map_err(|error| stacks_error(&error, path))?;
        table.to_json().map_err(value_error)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn merge_stacks(py: Python<'_>, tables: Vec<PyBackedBytes>) -> PyResult<Bound<'_, PyBytes>> {
    let bytes = py.detach(|| {
        let tables: PyResult<Vec<Stacks>> = tables.iter().map(|bytes| read_table(bytes)).collect();
        stacks::merge(&tables?).map_err(value_error)?.to_json().map_err(value_error)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn fold_stacks(py: Python<'_>, table: PyBackedBytes) -> PyResult<String> {
    py.detach(|| stacks::fold(&read_table(&table)?).map_err(value_error))
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn stack_tree(py: Python<'_>, table: PyBackedBytes) -> PyResult<Bound<'_, PyBytes>> {
    let bytes = py.detach(|| {
        let table = read_table(&table)?;
        stacks::tree(&table).map_err(value_error)?.to_json().map_err(value_error)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn source_lines(py: Python<'_>, table: PyBackedBytes) -> PyResult<Vec<(String, u32)>> {
    py.detach(|| {
        let table = read_table(&table)?;
        Ok(table.source_lines().into_iter().map(|(file, line)| (file.to_owned(), line)).collect())
    })
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn with_line_texts(
    py: Python<'_>,
    table: PyBackedBytes,
    texts: HashMap<(String, u32), String>,
) -> PyResult<Bound<'_, PyBytes>> {
    let bytes = py.detach(|| {
        let mut table = read_table(&table)?;
        table.add_texts(&texts);
        table.to_json().map_err(value_error)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// Thread, function, file, own and inclusive samples.
type FunctionRow = (String, String, Option<String>, u64, u64);

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn function_samples(py: Python<'_>, table: PyBackedBytes) -> PyResult<Vec<FunctionRow>> {
    py.detach(|| {
        let table = read_table(&table)?;
        let functions = stacks::by_function(&table).map_err(value_error)?;
        let row =
            |f: stacks::FunctionSamples| (table.threads[f.thread].name.clone(), f.function, f.file, f.own, f.inclusive);
        Ok(functions.into_iter().map(row).collect())
    })
}

/// Side, case, weight, tables.
type PartTables = (usize, usize, f64, Vec<PyBackedBytes>);

fn read_parts(parts: &[PartTables]) -> PyResult<Vec<Part>> {
    let read = |(side, case, weight, tables): &PartTables| {
        let tables: PyResult<Vec<Stacks>> = tables.iter().map(|bytes| read_table(bytes)).collect();
        Ok(Part { side: *side, case: *case, weight: *weight, tables: tables? })
    };
    parts.iter().map(read).collect()
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn stack_profile(py: Python<'_>, parts: Vec<PartTables>, least_share: f64) -> PyResult<Bound<'_, PyBytes>> {
    let bytes = py.detach(|| {
        let profile = stacks::profile(&read_parts(&parts)?, least_share).map_err(value_error)?;
        serde_json::to_vec(&profile).map_err(value_error)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn functions_by_case(py: Python<'_>, parts: Vec<PartTables>, most: usize) -> PyResult<Bound<'_, PyBytes>> {
    let bytes = py.detach(|| {
        let costs = stacks::functions_by_case(&read_parts(&parts)?, most).map_err(value_error)?;
        serde_json::to_vec(&costs).map_err(value_error)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn function_lines<'py>(
    py: Python<'py>,
    parts: Vec<PartTables>,
    function: &str,
    file: Option<&str>,
    object: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.detach(|| {
        let lines = stacks::annotation(&read_parts(&parts)?, function, file, object).map_err(value_error)?;
        serde_json::to_vec(&lines).map_err(value_error)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn export_profile<'py>(
    py: Python<'py>,
    profile: PyBackedBytes,
    format: &str,
    title: String,
    sides: Vec<(usize, String, Option<f64>)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let format = match format {
        "speedscope" => Format::Speedscope,
        "firefox" => Format::Firefox,
        "pprof" => Format::Pprof,
        "folded" => Format::Folded,
        "callgrind" => Format::Callgrind,
        "svg" => Format::Svg,
        other => return Err(value_error(format!("no format of profiles: {other}"))),
    };
    let bytes = py.detach(|| {
        let profile: Profile = serde_json::from_slice(&profile).map_err(value_error)?;
        let side = |(side, name, cpu_ns_per_op)| ExportedSide { side, name, cpu_ns_per_op };
        let exported = Exported { profile: &profile, title, sides: sides.into_iter().map(side).collect() };
        stacks::export(&exported, format).map_err(value_error)
    })?;
    Ok(PyBytes::new(py, &bytes))
}
