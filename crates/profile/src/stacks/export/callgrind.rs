//! The format of callgrind's profiles: <https://valgrind.org/docs/manual/cl-format.html>.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use super::{Exported, ExportedSide, REQUESTS, plain};
use crate::stacks::profile::inclusive;

/// The object of threads, which are written as functions that call the roots of their stacks.
const THREAD: &str = "[thread]";
/// What the format has for a name that is not known.
const UNKNOWN: &str = "???";

/// What functions are told apart by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Function {
    object: String,
    file: String,
    name: String,
}

/// What a function has of its own, and in calls by the number of the function that is called.
#[derive(Default)]
struct Costs {
    own: f64,
    calls: BTreeMap<usize, f64>,
}

/// One side: costs of functions and of their calls, on line 0, as lines of callers are not recorded. A recursive call
/// counts once for a stack. How often functions were called is not known.
pub(super) fn write(exported: &Exported<'_>, side: &ExportedSide) -> String {
    let functions = Functions::of(exported);
    let costs = functions.costs(exported, side);
    let whole = |samples: f64| exported.whole_cost(side, samples);
    let total = costs.iter().map(|costs| whole(costs.own)).fold(0, i64::saturating_add);
    let (event, unit) = match side.cpu_ns_per_op {
        Some(_) if exported.is_of_waits() => {
            ("Nanoseconds", format!("nanoseconds off the processor of {REQUESTS} requests"))
        }
        Some(_) => ("Nanoseconds", format!("CPU nanoseconds of {REQUESTS} requests")),
        None if exported.is_of_waits() => ("Nanoseconds", "nanoseconds off the processor".to_owned()),
        None => ("Samples", "samples".to_owned()),
    };
    let mut text = format!(
        "# callgrind format\nversion: 1\ncreator: zerolap\ncmd: {}\ndesc: Costs: {unit}\n\
         desc: Calls: their number is not known, each is written as 1\n\
         positions: line\nevents: {event}\nsummary: {total}\n",
        known(&format!("{}, {}", exported.title, side.name))
    );
    let mut names = Names { functions: &functions.all, ..Names::default() };
    for (number, costs) in costs.iter().enumerate() {
        if costs.own <= 0.0 && costs.calls.is_empty() {
            continue;
        }
        text.push('\n');
        names.write(&mut text, number, ["ob", "fl", "fn"]);
        // Writing to a String does not fail.
        let _ = writeln!(text, "0 {}", whole(costs.own));
        for (called, samples) in &costs.calls {
            names.write(&mut text, *called, ["cob", "cfi", "cfn"]);
            let _ = writeln!(text, "calls=1 0\n0 {}", whole(*samples));
        }
    }
    let _ = writeln!(text, "\ntotals: {total}");
    text
}

/// The functions of a profile, and which of them each frame and each thread is.
struct Functions {
    all: Vec<Function>,
    of_frame: Vec<usize>,
    of_thread: Vec<usize>,
}

impl Functions {
    fn of(exported: &Exported<'_>) -> Self {
        let mut all = Vec::new();
        let mut numbers: HashMap<Function, usize> = HashMap::new();
        let mut number = |object: &str, file: &str, name: &str| {
            let function = Function { object: known(object), file: known(file), name: known(name) };
            *numbers.entry(function.clone()).or_insert_with(|| {
                all.push(function);
                all.len() - 1
            })
        };
        let of_frame = (exported.profile.frames.iter())
            .map(|frame| number(&frame.object, frame.file.as_deref().unwrap_or_default(), &frame.function))
            .collect();
        let of_thread = exported.profile.threads.iter().map(|thread| number(THREAD, "", thread)).collect();
        Self { all, of_frame, of_thread }
    }

    fn costs(&self, exported: &Exported<'_>, side: &ExportedSide) -> Vec<Costs> {
        let parents = &exported.profile.nodes.parent;
        let own = &exported.profile.sides[side.side].own;
        let calls: Vec<(usize, usize)> = (0..own.len()).map(|node| self.call(exported, node)).collect();
        let mut costs: Vec<Costs> = self.all.iter().map(|_| Costs::default()).collect();
        for (node, samples) in inclusive(parents, own).into_iter().enumerate() {
            let (from, to) = calls[node];
            costs[to].own += own[node];
            // The cost of a call within itself is in that of the outer one.
            if samples > 0.0 && !callers(parents, node).any(|above| calls[above] == calls[node]) {
                *costs[from].calls.entry(to).or_default() += samples;
            }
        }
        costs
    }

    /// The functions that call and that are called in a node; a thread calls its roots.
    fn call(&self, exported: &Exported<'_>, node: usize) -> (usize, usize) {
        let nodes = &exported.profile.nodes;
        let caller = match usize::try_from(nodes.parent[node]) {
            Ok(parent) => self.of_frame[nodes.frame[parent]],
            Err(_) => self.of_thread[nodes.thread[node]],
        };
        (caller, self.of_frame[nodes.frame[node]])
    }
}

/// The nodes above a node, the nearest first.
fn callers(parents: &[i64], node: usize) -> impl Iterator<Item = usize> {
    let above = move |node: usize| usize::try_from(parents[node]).ok();
    std::iter::successors(above(node), move |node| above(*node))
}

/// Numbers that stand for names once they are written. A function has its own, as functions of one name differ by
/// their files.
#[derive(Default)]
struct Names<'a> {
    functions: &'a [Function],
    objects: HashMap<&'a str, usize>,
    files: HashMap<&'a str, usize>,
    is_written: HashMap<usize, usize>,
}

impl Names<'_> {
    /// Writes object, file and name of a function, each after its key.
    fn write(&mut self, text: &mut String, number: usize, keys: [&str; 3]) {
        let functions = self.functions;
        let Function { object, file, name } = &functions[number];
        let [object_key, file_key, name_key] = keys;
        let object = reference(&mut self.objects, object.as_str(), object);
        let file = reference(&mut self.files, file.as_str(), file);
        let name = reference(&mut self.is_written, number, name);
        // Writing to a String does not fail.
        let _ = writeln!(text, "{object_key}={object}\n{file_key}={file}\n{name_key}={name}");
    }
}

/// The number of a name, which follows it the first time.
fn reference<K: std::hash::Hash + Eq>(numbers: &mut HashMap<K, usize>, key: K, name: &str) -> String {
    let next = numbers.len() + 1;
    let number = *numbers.entry(key).or_insert(next);
    if number == next { format!("({number}) {name}") } else { format!("({number})") }
}

/// A name that is one line and not empty: an empty one after a number would refer to another.
fn known(name: &str) -> String {
    let name = plain(name);
    let name = name.trim();
    if name.is_empty() { UNKNOWN.to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{of_side, planted};
    use super::super::{Format, export};

    const EXPECTED: &str = "\
# callgrind format
version: 1
creator: zerolap
cmd: get-100B, base
desc: Costs: samples
desc: Calls: their number is not known, each is written as 1
positions: line
events: Samples
summary: 100

ob=(1) server
fl=(1) server.c
fn=(1) main
0 10
cob=(1)
cfi=(1)
cfn=(2) get; 5_
calls=1 0
0 60

ob=(1)
fl=(1)
fn=(2)
0 60

ob=(1)
fl=(2) ???
fn=(3) <script>
0 30

ob=(2) [thread]
fl=(2)
fn=(4) main
0 0
cob=(1)
cfi=(1)
cfn=(1)
calls=1 0
0 70

ob=(2)
fl=(2)
fn=(5) bio;1_
0 0
cob=(1)
cfi=(2)
cfn=(3)
calls=1 0
0 30

totals: 100
";

    fn text(exported: &super::Exported<'_>) -> String {
        String::from_utf8(export(exported, Format::Callgrind).expect("exported")).expect("text")
    }

    #[test]
    fn functions_have_their_own_costs_and_those_of_their_calls() {
        let planted = planted();
        assert_eq!(text(&of_side(&planted, 0, None)), EXPECTED);
        let of_time = text(&of_side(&planted, 0, Some(2.0)));
        assert!(of_time.contains("events: Nanoseconds\nsummary: 2000000\n"));
        assert!(of_time.contains("desc: Costs: CPU nanoseconds of 1000000 requests\n"));
        let waits = crate::stacks::Profile { events: vec!["off-cpu".to_owned()], ..planted };
        assert!(text(&of_side(&waits, 0, None)).contains("desc: Costs: nanoseconds off the processor\n"));
        let of_requests = text(&of_side(&waits, 0, Some(2.0)));
        assert!(of_requests.contains("desc: Costs: nanoseconds off the processor of 1000000 requests\n"));
    }

    #[test]
    fn a_recursion_counts_once() {
        let mut planted = planted();
        // main calls itself twice, below it what it has itself.
        planted.nodes.thread = vec![0; 4];
        planted.nodes.parent = vec![-1, 0, 1, 2];
        planted.nodes.frame = vec![0, 0, 0, 1];
        planted.sides[0].own = vec![10.0, 20.0, 30.0, 40.0];
        let written = text(&of_side(&planted, 0, None));
        let of_main = "fn=(1) main\n0 60\n\
                       cob=(1)\ncfi=(1)\ncfn=(1)\ncalls=1 0\n0 90\n\
                       cob=(1)\ncfi=(1)\ncfn=(2) get; 5_\ncalls=1 0\n0 40\n";
        assert!(written.contains(of_main), "{written}");
    }

    #[test]
    fn names_stay_on_their_lines_and_are_never_empty() {
        let mut planted = planted();
        planted.frames[0].function = "\n  ".to_owned();
        planted.frames[1].function = "x\r\nfn=(1) y\ntotals: 9".to_owned();
        planted.frames[2].object = "(7)".to_owned();
        let written = text(&of_side(&planted, 0, None));
        assert_eq!(written.matches("\ntotals: ").count(), 1);
        assert!(written.contains("fn=(1) _\n"), "{written}");
        assert!(written.contains("cfn=(2) x__fn=(1) y_totals: 9\n"), "{written}");
        assert!(written.contains("ob=(2) (7)\n"), "{written}");
    }
}
