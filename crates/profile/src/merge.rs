//! The mean over seeds.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::graph::{CallGraph, GraphError};
use crate::sums::{Flow, FunctionKey, Own, Place, Sums};

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
