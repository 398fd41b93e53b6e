//! The call graph of one request, and the mean of several seeds' graphs.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::sums::{Flow, FunctionKey, Own, Place, Sums};

/// Version of the JSON form.
pub const SCHEMA: &str = "zerolap.callgraph/1";

/// What one request executes, by function and call edge. All values are means per request and may be fractions, or
/// negative where a later request does less of something than an earlier one (growing tables, for example).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallGraph {
    /// [`SCHEMA`].
    pub schema: String,
    /// Source files, referred to by their index.
    pub files: Vec<String>,
    /// Sums over all functions.
    pub totals: Totals,
    /// Functions in the order of object, name and file.
    pub functions: Vec<Function>,
    /// Call edges in the order of caller and callee.
    pub edges: Vec<Edge>,
}

/// Sums over all functions, per request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Instructions executed.
    pub instructions: f64,
    /// System calls made.
    pub syscalls: f64,
}

/// A function: one name in one file of one object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// Symbol in its normal form ([`crate::symbol::normal_form`]).
    pub name: String,
    /// Index of the file where the function begins; none when the object has no line information.
    pub file: Option<usize>,
    /// Base name of the program or shared library.
    pub object: String,
    /// Instructions of the function itself, without its callees.
    pub instructions: f64,
    /// System calls of the function itself, without its callees.
    pub syscalls: f64,
    /// Calls over all incoming edges; 0 when it was entered from outside.
    pub calls: f64,
    /// File index, line and instructions of the function itself, for files in the source tree.
    pub lines: Vec<(usize, u32, f64)>,
}

/// All calls from one function to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// Index of the calling function.
    pub caller: usize,
    /// Index of the called function.
    pub callee: usize,
    /// Number of calls.
    pub calls: f64,
    /// Instructions of the callee and all that it calls, within these calls.
    pub instructions: f64,
    /// System calls of the callee and all that it calls, within these calls.
    pub syscalls: f64,
    /// File index, line and number of calls, for files in the source tree.
    pub lines: Vec<(usize, u32, f64)>,
}

/// Why bytes are not a call graph.
#[derive(Debug, Error)]
pub enum GraphError {
    /// Not JSON, or not of this shape.
    #[error("not a call graph: {0}")]
    Json(#[from] serde_json::Error),
    /// Written by another version.
    #[error("call graph of schema {found:?}, expected {SCHEMA:?}")]
    Schema {
        /// The schema that it names.
        found: String,
    },
    /// An index points past the end of its table.
    #[error("call graph refers to {table} {index}, of {length}")]
    Index {
        /// `file` or `function`.
        table: &'static str,
        /// The index.
        index: usize,
        /// Entries in the table.
        length: usize,
    },
}

impl CallGraph {
    /// The graph written by [`CallGraph::to_json`].
    ///
    /// # Errors
    /// When the bytes are no JSON of this shape and schema, or an index points nowhere.
    pub fn from_json(bytes: &[u8]) -> Result<Self, GraphError> {
        let graph: Self = serde_json::from_slice(bytes)?;
        graph.check()?;
        Ok(graph)
    }

    /// The graph as JSON, UTF-8.
    ///
    /// # Errors
    /// When memory for it cannot be had; the types themselves can all be written.
    pub fn to_json(&self) -> io::Result<Vec<u8>> {
        Ok(serde_json::to_vec(self)?)
    }

    pub(crate) fn check(&self) -> Result<(), GraphError> {
        if self.schema != SCHEMA {
            return Err(GraphError::Schema { found: self.schema.clone() });
        }
        let within = |table, index: usize, length| {
            if index < length { Ok(()) } else { Err(GraphError::Index { table, index, length }) }
        };
        for function in &self.functions {
            function.file.map_or(Ok(()), |file| within("file", file, self.files.len()))?;
        }
        for edge in &self.edges {
            within("function", edge.caller, self.functions.len())?;
            within("function", edge.callee, self.functions.len())?;
        }
        let lines_of_functions = self.functions.iter().flat_map(|function| &function.lines);
        let lines_of_edges = self.edges.iter().flat_map(|edge| &edge.lines);
        lines_of_functions.chain(lines_of_edges).try_for_each(|line| within("file", line.0, self.files.len()))
    }
}

/// The mean of several graphs, functions matched by name, file and object. A function, edge or line that a graph does
/// not have counts as 0 there. The mean of no graph is an empty graph.
///
/// # Errors
/// When a graph is inconsistent: of another schema, or with an index that points nowhere.
pub fn merge(graphs: &[CallGraph]) -> Result<CallGraph, GraphError> {
    let mut mean = Sums::default();
    for (before, graph) in graphs.iter().enumerate() {
        graph.check()?;
        // Running mean: graphs that are alike stay exactly what they are.
        let mut difference = of_graph(graph);
        difference.add(&mean, -1.0);
        mean.add(&difference, 1.0 / (before + 1) as f64);
    }
    Ok(mean.graph(1.0))
}

fn of_graph(graph: &CallGraph) -> Sums {
    let files: Vec<Arc<str>> = graph.files.iter().map(|file| Arc::from(file.as_str())).collect();
    let keys: Vec<FunctionKey> = (graph.functions.iter())
        .map(|function| FunctionKey {
            object: Arc::from(function.object.as_str()),
            name: Arc::from(function.name.as_str()),
            file: function.file.map(|file| files[file].clone()),
        })
        .collect();
    let places = |lines: &[(usize, u32, f64)]| -> BTreeMap<Place, f64> {
        lines.iter().map(|(file, line, value)| ((files[*file].clone(), *line), *value)).collect()
    };
    let mut sums = Sums::default();
    for (key, function) in keys.iter().zip(&graph.functions) {
        let (instructions, syscalls) = (function.instructions, function.syscalls);
        let own = Own { instructions, syscalls, lines: places(&function.lines) };
        sums.functions.entry(key.clone()).or_default().add(&own, 1.0);
    }
    for edge in &graph.edges {
        let (calls, instructions, syscalls) = (edge.calls, edge.instructions, edge.syscalls);
        let flow = Flow { calls, instructions, syscalls, lines: places(&edge.lines) };
        let ends = (keys[edge.caller].clone(), keys[edge.callee].clone());
        sums.edges.entry(ends).or_default().add(&flow, 1.0);
    }
    sums
}
