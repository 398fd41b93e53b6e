//! Call graphs and binaries.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use zerolap_profile::callgrind::{self, Dump};
use zerolap_profile::graph::{self, CallGraph};
use zerolap_profile::identity::{self, Executed, Trial};
use zerolap_profile::window::{Window, per_request, per_tick};
use zerolap_profile::{binary, functions, structs};

use crate::errors::{binary_error, dump_error, os_error, value_error};

fn read_dump(path: &str) -> PyResult<Dump> {
    let file = File::open(path).map_err(|error| os_error(&error, path))?;
    callgrind::read(BufReader::new(file)).map_err(|error| dump_error(&error, path))
}

fn json(graph: &CallGraph) -> PyResult<Vec<u8>> {
    graph.to_json().map_err(value_error)
}

#[pyfunction]
pub(crate) fn call_graph<'py>(
    py: Python<'py>,
    small: &str,
    large: &str,
    requests_small: u64,
    requests_large: u64,
    source_root: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.detach(|| {
        let (small, large) = (read_dump(small)?, read_dump(large)?);
        let small = Window { dump: &small, requests: requests_small };
        let large = Window { dump: &large, requests: requests_large };
        json(&per_request(small, large, source_root).map_err(value_error)?)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

#[pyfunction]
pub(crate) fn timer_graph<'py>(
    py: Python<'py>,
    requests: &str,
    timers: &str,
    requests_alone: u64,
    requests_beside: u64,
    ticks: u64,
    source_root: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.detach(|| {
        let (requests, timers) = (read_dump(requests)?, read_dump(timers)?);
        let requests = Window { dump: &requests, requests: requests_alone };
        let timers = Window { dump: &timers, requests: requests_beside };
        json(&per_tick(requests, timers, ticks, source_root).map_err(value_error)?)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn merge_call_graphs(py: Python<'_>, graphs: Vec<PyBackedBytes>) -> PyResult<Bound<'_, PyBytes>> {
    let bytes = py.detach(|| {
        let graphs: Result<Vec<CallGraph>, _> = graphs.iter().map(|bytes| CallGraph::from_json(bytes)).collect();
        json(&graph::merge(&graphs.map_err(value_error)?).map_err(value_error)?)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn executed<'py>(
    py: Python<'py>,
    before: &str,
    windows: [Vec<String>; 3],
    requests: [u64; 3],
    object: &str,
    program: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.detach(|| {
        let before = read_dump(before)?;
        let mut read = [Vec::new(), Vec::new(), Vec::new()];
        for (kind, paths) in windows.iter().enumerate() {
            read[kind] = paths.iter().map(|path| read_dump(path)).collect::<PyResult<Vec<_>>>()?;
        }
        let [pipelined, alone, timers] = read.each_ref().map(|dumps| dumps.iter().collect::<Vec<_>>());
        let trial = Trial { before: &before, windows: [&pipelined, &alone, &timers], requests, object };
        let executed = identity::executed(&trial, Path::new(program)).map_err(|error| binary_error(&error, program))?;
        executed.to_json().map_err(value_error)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn compare_executed(py: Python<'_>, base: PyBackedBytes, head: PyBackedBytes) -> PyResult<String> {
    py.detach(|| {
        let base = Executed::from_json(&base).map_err(value_error)?;
        let head = Executed::from_json(&head).map_err(value_error)?;
        serde_json::to_string(&identity::compare(&base, &head)).map_err(value_error)
    })
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn executed_digest(py: Python<'_>, executed: PyBackedBytes) -> PyResult<Option<String>> {
    py.detach(|| Ok(identity::canonical_digest(&Executed::from_json(&executed).map_err(value_error)?)))
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn executed_functions(py: Python<'_>, executed: PyBackedBytes) -> PyResult<Vec<String>> {
    py.detach(|| {
        let executed = Executed::from_json(&executed).map_err(value_error)?;
        Ok(executed.functions().map(str::to_owned).collect())
    })
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn executed_beginning_with(
    py: Python<'_>,
    executed: PyBackedBytes,
    beginnings: Vec<String>,
) -> PyResult<Vec<(String, usize, f64)>> {
    py.detach(|| {
        let executed = Executed::from_json(&executed).map_err(value_error)?;
        let beginnings: Vec<&str> = beginnings.iter().map(String::as_str).collect();
        let counts = executed.beginning_with(&beginnings);
        Ok(counts.into_iter().map(|((function, beginning), times)| (function.to_owned(), beginning, times)).collect())
    })
}

#[pyclass(frozen, get_all, module = "zerolap._core")]
pub(crate) struct BinaryFacts {
    build_id: String,
    compiler: String,
    flags: String,
    stripped: bool,
    debug_lines: bool,
    exported_functions: usize,
    compile_directory: String,
    static_executable: bool,
    image: String,
}

#[pymethods]
impl BinaryFacts {
    fn __repr__(&self) -> String {
        let Self { build_id, compiler, flags, .. } = self;
        format!("BinaryFacts(build_id={build_id:?}, compiler={compiler:?}, flags={flags:?})")
    }
}

#[pyfunction]
pub(crate) fn binary_facts(py: Python<'_>, path: &str) -> PyResult<BinaryFacts> {
    let facts = py.detach(|| binary::facts(Path::new(path))).map_err(|error| binary_error(&error, path))?;
    Ok(BinaryFacts {
        build_id: facts.build_id,
        compiler: facts.compiler,
        flags: facts.flags,
        stripped: facts.stripped,
        debug_lines: facts.debug_lines,
        exported_functions: facts.exported_functions,
        compile_directory: facts.compile_directory,
        static_executable: facts.static_executable,
        image: facts.image,
    })
}

#[pyfunction]
pub(crate) fn source_functions(
    py: Python<'_>,
    path: &str,
    source_root: &str,
) -> PyResult<Vec<(String, String, u32, u32)>> {
    let functions = py
        .detach(|| functions::source_functions(Path::new(path), source_root))
        .map_err(|error| binary_error(&error, path))?;
    Ok(functions.into_iter().map(|f| (f.file, f.name, f.first_line, f.last_line)).collect())
}

/// The name of a function, the digest of its code, the names in it, and the functions that are inlined into it.
type NamedCode = (identity::FunctionName, String, Vec<String>, Vec<identity::FunctionName>);

#[pyfunction]
pub(crate) fn function_code(py: Python<'_>, path: &str, source_root: &str) -> PyResult<Vec<NamedCode>> {
    let code = py
        .detach(|| identity::function_code(Path::new(path), source_root))
        .map_err(|error| binary_error(&error, path))?;
    let code = code.map_err(value_error)?;
    Ok(code.into_iter().map(|(name, code)| (name, code.digest, code.names, code.inlined)).collect())
}

#[pyfunction]
pub(crate) fn code_lines(
    py: Python<'_>,
    path: &str,
    source_root: &str,
    files: Vec<String>,
) -> PyResult<Vec<(String, Vec<u32>)>> {
    let files = files.into_iter().collect();
    let lines = py
        .detach(|| functions::code_lines(Path::new(path), source_root, &files))
        .map_err(|error| binary_error(&error, path))?;
    Ok(lines.into_iter().collect())
}

#[pyfunction]
pub(crate) fn structures(
    py: Python<'_>,
    path: &str,
    source_root: &str,
) -> PyResult<Vec<(String, String, u64, String)>> {
    let structures =
        py.detach(|| structs::structures(Path::new(path), source_root)).map_err(|error| binary_error(&error, path))?;
    Ok(structures.into_iter().map(|s| (s.file, s.name, s.bytes, members_text(&s.members))).collect())
}

fn members_text(members: &[(String, u64)]) -> String {
    members.iter().map(|(name, at)| format!("{name}@{at}")).collect::<Vec<_>>().join(" ")
}
