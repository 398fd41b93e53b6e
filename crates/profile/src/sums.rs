//! Sums by function and call edge, under names that mean the same in every window and seed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::graph::{CallGraph, Edge, Function, SCHEMA, Totals};

/// Values closer to 0 than this are what rounding left of 0.
const TINY: f64 = 1e-9;

/// A source line: file name in the graphs' form, line from 1.
pub(crate) type Place = (Arc<str>, u32);

/// What makes two functions of different dumps the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FunctionKey {
    pub(crate) object: Arc<str>,
    pub(crate) name: Arc<str>,
    pub(crate) file: Option<Arc<str>>,
}

/// Costs of a function itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct Own {
    pub(crate) instructions: f64,
    pub(crate) syscalls: f64,
    pub(crate) lines: BTreeMap<Place, f64>,
}

/// Calls of an edge and their inclusive costs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flow {
    pub(crate) calls: f64,
    pub(crate) instructions: f64,
    pub(crate) syscalls: f64,
    pub(crate) lines: BTreeMap<Place, f64>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Sums {
    pub(crate) functions: BTreeMap<FunctionKey, Own>,
    pub(crate) edges: BTreeMap<(FunctionKey, FunctionKey), Flow>,
}

impl Own {
    pub(crate) fn add(&mut self, other: &Self, factor: f64) {
        self.instructions += other.instructions * factor;
        self.syscalls += other.syscalls * factor;
        add_lines(&mut self.lines, &other.lines, factor);
    }
}

impl Flow {
    pub(crate) fn add(&mut self, other: &Self, factor: f64) {
        self.calls += other.calls * factor;
        self.instructions += other.instructions * factor;
        self.syscalls += other.syscalls * factor;
        add_lines(&mut self.lines, &other.lines, factor);
    }
}

fn add_lines(lines: &mut BTreeMap<Place, f64>, other: &BTreeMap<Place, f64>, factor: f64) {
    for (place, value) in other {
        *lines.entry(place.clone()).or_default() += value * factor;
    }
}

impl Sums {
    /// Adds the other sums, each value times `factor`.
    pub(crate) fn add(&mut self, other: &Self, factor: f64) {
        for (key, own) in &other.functions {
            self.functions.entry(key.clone()).or_default().add(own, factor);
        }
        for (ends, flow) in &other.edges {
            self.edges.entry(ends.clone()).or_default().add(flow, factor);
        }
    }

    /// The graph of all values divided by `divisor`, without those that are 0.
    pub(crate) fn graph(&self, divisor: f64) -> CallGraph {
        let share = |value: f64| kept(value / divisor).unwrap_or(0.0);
        let edges: Vec<_> = (self.edges.iter())
            .filter(|(_, flow)| [flow.calls, flow.instructions, flow.syscalls].into_iter().any(|v| share(v) != 0.0))
            .collect();
        let ends: BTreeSet<&FunctionKey> = edges.iter().flat_map(|((caller, callee), _)| [caller, callee]).collect();
        let nothing = Own::default();
        let mut functions: BTreeMap<&FunctionKey, &Own> = ends.iter().map(|key| (*key, &nothing)).collect();
        for (key, own) in &self.functions {
            if share(own.instructions) != 0.0 || share(own.syscalls) != 0.0 || ends.contains(key) {
                functions.insert(key, own);
            }
        }

        let files = Files::of(&functions, edges.iter().map(|(_, flow)| *flow));
        let lines = |lines: &BTreeMap<Place, f64>| files.lines(lines, divisor);
        let index: BTreeMap<&FunctionKey, usize> = functions.keys().enumerate().map(|(at, key)| (*key, at)).collect();
        let mut functions: Vec<Function> = (functions.iter())
            .map(|(key, own)| Function {
                name: key.name.to_string(),
                file: key.file.as_ref().and_then(|file| files.index(file)),
                object: key.object.to_string(),
                instructions: share(own.instructions),
                syscalls: share(own.syscalls),
                calls: 0.0,
                lines: lines(&own.lines),
            })
            .collect();
        let edges: Vec<Edge> = (edges.iter())
            .map(|((caller, callee), flow)| Edge {
                caller: index[caller],
                callee: index[callee],
                calls: share(flow.calls),
                instructions: share(flow.instructions),
                syscalls: share(flow.syscalls),
                lines: lines(&flow.lines),
            })
            .collect();
        for edge in &edges {
            functions[edge.callee].calls += edge.calls;
        }
        let totals = Totals {
            instructions: functions.iter().map(|function| function.instructions).sum(),
            syscalls: functions.iter().map(|function| function.syscalls).sum(),
        };
        CallGraph { schema: SCHEMA.to_owned(), files: files.names(), totals, functions, edges }
    }
}

fn kept(value: f64) -> Option<f64> {
    (value.abs() >= TINY).then_some(value)
}

/// The files that a graph names, in order.
struct Files<'a>(BTreeMap<&'a str, usize>);

impl<'a> Files<'a> {
    fn of(functions: &BTreeMap<&'a FunctionKey, &'a Own>, flows: impl Iterator<Item = &'a Flow>) -> Self {
        let of_functions = functions.keys().filter_map(|key| key.file.as_deref());
        let of_lines = functions.values().flat_map(|own| own.lines.keys());
        let of_calls = flows.flat_map(|flow| flow.lines.keys());
        let names: BTreeSet<&str> = of_functions.chain(of_lines.chain(of_calls).map(|(file, _)| &**file)).collect();
        Self(names.into_iter().enumerate().map(|(index, name)| (name, index)).collect())
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.0.get(name).copied()
    }

    fn lines(&self, lines: &BTreeMap<Place, f64>, divisor: f64) -> Vec<(usize, u32, f64)> {
        (lines.iter())
            .filter_map(|((file, line), value)| Some((self.index(file)?, *line, kept(value / divisor)?)))
            .collect()
    }

    fn names(&self) -> Vec<String> {
        self.0.keys().map(|name| (*name).to_owned()).collect()
    }
}
