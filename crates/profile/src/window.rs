//! What one request executes: the difference of two windows of one process.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use thiserror::Error;

use crate::callgrind::{Cost, Dump, FunctionNames, NameId};
use crate::graph::CallGraph;
use crate::pin_library::remove_pin_library;
use crate::source_root::SourceRoot;
use crate::sums::{Flow, FunctionKey, Own, Sums};
use crate::symbol;

/// What callgrind writes for a file that it does not know.
const UNKNOWN: &str = "???";

/// A dump and the number of requests it covers.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// What was executed.
    pub dump: &'a Dump,
    /// Requests answered meanwhile.
    pub requests: u64,
}

/// Why there is no difference.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WindowError {
    /// The larger window does not have more requests than the smaller.
    #[error("the large window has {large} requests, not more than the small window's {small}")]
    Requests {
        /// Requests of the small window.
        small: u64,
        /// Requests of the large window.
        large: u64,
    },
    /// A window has no ticks, or there are no requests to subtract.
    #[error("{ticks} ticks and {requests} requests give no tick's cost")]
    Ticks {
        /// Ticks of the window with timers.
        ticks: u64,
        /// Requests of the window without.
        requests: u64,
    },
}

/// The call graph of one request: (X(large) - X(small)) / (requests of large - requests of small), for every function,
/// line and edge. What both windows do once, whatever the number of requests, is thereby gone.
///
/// `source_root` is the directory that the server was built from; lines are given for files within.
///
/// # Errors
/// When the large window has no more requests than the small one.
pub fn per_request(small: Window<'_>, large: Window<'_>, source_root: &str) -> Result<CallGraph, WindowError> {
    let requests = (large.requests.checked_sub(small.requests).filter(|requests| *requests > 0))
        .ok_or(WindowError::Requests { small: small.requests, large: large.requests })?;
    let root = SourceRoot::new(source_root);
    let whole = WholeFunctions::of(&[small.dump, large.dump]);
    let [mut difference, mut subtracted] = [large.dump, small.dump].map(|dump| sums(dump, &whole, &root));
    remove_pin_library(&mut difference);
    remove_pin_library(&mut subtracted);
    difference.add(&subtracted, -1.0);
    Ok(difference.graph(requests as f64))
}

/// The call graph of one tick of the server's timers: what a window with `ticks` of them executes beyond its requests,
/// which cost as much as those of a window without. What requests cost varies, so values may be negative.
///
/// # Errors
/// When there are no ticks, or no requests to subtract.
pub fn per_tick(
    requests: Window<'_>,
    timers: Window<'_>,
    ticks: u64,
    source_root: &str,
) -> Result<CallGraph, WindowError> {
    if ticks == 0 || requests.requests == 0 {
        return Err(WindowError::Ticks { ticks, requests: requests.requests });
    }
    let root = SourceRoot::new(source_root);
    let whole = WholeFunctions::of(&[requests.dump, timers.dump]);
    let [mut rest, mut of_requests] = [timers.dump, requests.dump].map(|dump| sums(dump, &whole, &root));
    remove_pin_library(&mut rest);
    remove_pin_library(&mut of_requests);
    rest.add(&of_requests, -(timers.requests as f64) / requests.requests as f64);
    Ok(rest.graph(ticks as f64))
}

/// Where functions begin that have their name without suffix, by object and name.
///
/// The clone or piece of a function (`f.part.0`) may begin with an inlined line of a header, so that its file is not
/// the function's. It is one with the only function of its name in the object, wherever that begins.
#[derive(Default)]
struct WholeFunctions(HashMap<(String, String), BTreeSet<String>>);

impl WholeFunctions {
    fn of(dumps: &[&Dump]) -> Self {
        let mut whole = Self::default();
        for dump in dumps {
            for function in &dump.functions {
                let symbol = dump.name(function.symbol);
                if !symbol::is_piece(symbol) {
                    let key = (dump.name(function.object).to_owned(), symbol::normal_form(symbol).to_owned());
                    whole.0.entry(key).or_default().insert(dump.name(function.file).to_owned());
                }
            }
        }
        whole
    }

    fn file_of<'a>(&'a self, dump: &'a Dump, function: FunctionNames) -> &'a str {
        let own = dump.name(function.file);
        let symbol = dump.name(function.symbol);
        if !symbol::is_piece(symbol) {
            return own;
        }
        let key = (dump.name(function.object).to_owned(), symbol::normal_form(symbol).to_owned());
        match self.0.get(&key) {
            Some(files) if files.len() == 1 && !files.contains(own) => files.first().map_or(own, String::as_str),
            _ => own,
        }
    }
}

/// The sums of all costs of a dump.
fn sums(dump: &Dump, whole: &WholeFunctions, root: &SourceRoot) -> Sums {
    let mut files = Files { dump, root, known: HashMap::new() };
    let keys: Vec<FunctionKey> = (dump.functions.iter())
        .map(|function| FunctionKey {
            object: Arc::from(base_name(dump.name(function.object))),
            name: Arc::from(symbol::normal_form(dump.name(function.symbol))),
            file: Some(whole.file_of(dump, *function))
                .filter(|file| *file != UNKNOWN)
                .map(|file| Arc::from(root.file_name(file).name)),
        })
        .collect();
    let symbol = |function: u32| symbol::without_recursion(dump.name(dump.functions[function as usize].symbol));

    let mut own: Vec<Own> = vec![Own::default(); keys.len()];
    for line in &dump.own {
        let sum = &mut own[line.function as usize];
        let (instructions, syscalls) = numbers(line.cost);
        sum.instructions += instructions;
        sum.syscalls += syscalls;
        if let Some(file) = files.inside(line.file) {
            *sum.lines.entry((file, line.line)).or_default() += instructions;
        }
    }
    let mut flows: BTreeMap<(u32, u32), Flow> = BTreeMap::new();
    for call in &dump.calls {
        let split =
            keys[call.caller as usize] == keys[call.callee as usize] && symbol(call.caller) != symbol(call.callee);
        if split {
            continue;
        }
        let flow = flows.entry((call.caller, call.callee)).or_default();
        let (instructions, syscalls) = numbers(call.inclusive);
        let calls = call.calls as f64;
        flow.calls += calls;
        flow.instructions += instructions;
        flow.syscalls += syscalls;
        if let Some(file) = files.inside(call.file) {
            *flow.lines.entry((file, call.line)).or_default() += calls;
        }
    }

    let mut sums = Sums::default();
    for (key, own) in keys.iter().zip(&own) {
        sums.functions.entry(key.clone()).or_default().add(own, 1.0);
    }
    for ((caller, callee), flow) in &flows {
        let ends = (keys[*caller as usize].clone(), keys[*callee as usize].clone());
        sums.edges.entry(ends).or_default().add(flow, 1.0);
    }
    sums
}

fn numbers(cost: Cost) -> (f64, f64) {
    (cost.instructions as f64, cost.syscalls as f64)
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

struct Files<'a> {
    dump: &'a Dump,
    root: &'a SourceRoot,
    known: HashMap<NameId, Option<Arc<str>>>,
}

impl Files<'_> {
    /// The file's name in the graphs' form when it lies in the source tree.
    fn inside(&mut self, file: NameId) -> Option<Arc<str>> {
        let name = || {
            let file = self.root.file_name(self.dump.name(file));
            file.inside.then(|| Arc::from(file.name))
        };
        self.known.entry(file).or_insert_with(name).clone()
    }
}
