//! One profile of many stack tables: of several cases, on one side or two, each case with a weight.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{Frame, Stacks, TableError};

/// The name of the frame that stands for what was too small to be kept.
pub const PRUNED: &str = "[other]";

/// What a case contributes to a side.
#[derive(Debug, Clone)]
pub struct Part {
    /// Index of the side.
    pub side: usize,
    /// Index of the case.
    pub case: usize,
    /// How much all samples of the case count on this side, in the unit of the other parts.
    pub weight: f64,
    /// The case's tables; their samples count alike.
    pub tables: Vec<Stacks>,
}

/// A call tree with weights by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The events of the tables, each once.
    pub events: Vec<String>,
    /// Names of the threads, referred to by their index.
    pub threads: Vec<String>,
    /// The functions, referred to by their index.
    pub frames: Vec<Frame>,
    /// In how many cases each function has samples, its own or below it.
    pub frame_cases: Vec<usize>,
    /// The calls; a node's parent comes before it and is -1 at the roots.
    pub nodes: Calls,
    /// The sides, in the order of their indexes.
    pub sides: Vec<Side>,
    /// Number of nodes that were too small to be kept.
    pub pruned_nodes: usize,
    /// Number of samples of each part.
    pub part_samples: Vec<u64>,
}

/// The nodes of a call tree, by column.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// Index of the thread.
    pub thread: Vec<usize>,
    /// Index of the node of the caller.
    pub parent: Vec<i64>,
    /// Index of the frame.
    pub frame: Vec<usize>,
}

/// What one side has in each node, without the nodes below.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Number of samples.
    pub samples: u64,
    /// Number of samples that were lost.
    pub lost: u64,
    /// Samples by node, weighted so that their sum is the number of samples.
    pub own: Vec<f64>,
    /// The variance of each: a sample that counts `s` adds `s` squared, as the count of a Poisson process does.
    pub variance: Vec<f64>,
    /// The share of this side that is in nodes that were too small to be kept.
    pub pruned_share: f64,
}

/// Merges parts into one profile. A node below `least_share` of all sides, callees included, becomes part of a node
/// [`PRUNED`] below its caller.
///
/// # Errors
/// When a table is inconsistent, or the samples are too many to be counted.
pub fn profile(parts: &[Part], least_share: f64) -> Result<Profile, TableError> {
    let mut growing = Growing { files: Files::of(parts), ..Growing::default() };
    let sides = parts.iter().map(|part| part.side + 1).max().unwrap_or(0);
    let part_samples = samples_of(parts)?;
    growing.sides = vec![Side::default(); sides];
    let scales = scales(parts, &part_samples, sides)?;
    for (part, scale) in parts.iter().zip(scales) {
        for table in &part.tables {
            growing.add(table, part, scale)?;
        }
    }
    Ok(Profile { part_samples, ..growing.finish(least_share) })
}

fn samples_of(parts: &[Part]) -> Result<Vec<u64>, TableError> {
    let sum = |part: &Part| part.tables.iter().try_fold(0_u64, |sum, table| sum.checked_add(table.samples));
    parts.iter().map(|part| sum(part).ok_or(TableError::Overflow)).collect()
}

/// How much a sample of each part counts: in proportion to the part's weight, and so that those of a side sum up to
/// its number of samples.
pub(super) fn scales(parts: &[Part], samples: &[u64], sides: usize) -> Result<Vec<f64>, TableError> {
    let mut of_sides = vec![(0_u64, 0.0); sides];
    for (part, samples) in parts.iter().zip(samples) {
        let (all, weight) = &mut of_sides[part.side];
        *all = all.checked_add(*samples).ok_or(TableError::Overflow)?;
        *weight += if *samples == 0 { 0.0 } else { part.weight };
    }
    let scale = |(part, samples): (&Part, &u64)| {
        let (all, weight) = of_sides[part.side];
        if *samples == 0 || weight <= 0.0 { 0.0 } else { part.weight / *samples as f64 * all as f64 / weight }
    };
    Ok(parts.iter().zip(samples).map(scale).collect())
}

/// The files of functions, by function and object. Not all builds of a program have line information: a function
/// that has one file wherever its file is known has it everywhere.
#[derive(Default)]
struct Files(HashMap<(String, String), Option<String>>);

impl Files {
    fn of(parts: &[Part]) -> Self {
        let mut files: HashMap<(String, String), Option<String>> = HashMap::new();
        for frame in parts.iter().flat_map(|part| &part.tables).flat_map(|table| &table.frames) {
            let Some(file) = &frame.file else { continue };
            let key = (frame.function.clone(), frame.object.clone());
            let known = files.entry(key).or_insert_with(|| Some(file.clone()));
            if known.as_ref() != Some(file) {
                *known = None;
            }
        }
        Self(files)
    }

    fn named(&self, frame: &Frame) -> Frame {
        let mut named = frame.clone();
        if named.file.is_none() {
            let key = (frame.function.clone(), frame.object.clone());
            named.file = self.0.get(&key).cloned().flatten();
        }
        named
    }
}

#[derive(Default)]
struct Growing {
    files: Files,
    events: BTreeSet<String>,
    threads: Vec<String>,
    thread_numbers: HashMap<String, usize>,
    frames: Vec<Frame>,
    frame_numbers: HashMap<Frame, usize>,
    cases: HashSet<(usize, usize)>,
    nodes: Calls,
    known: HashMap<(usize, i64, usize), usize>,
    sides: Vec<Side>,
}

impl Growing {
    fn add(&mut self, table: &Stacks, part: &Part, scale: f64) -> Result<(), TableError> {
        table.check()?;
        self.events.insert(table.event.clone());
        let threads: Vec<usize> = table.threads.iter().map(|thread| self.thread(&thread.name)).collect();
        let named: Vec<Frame> = table.frames.iter().map(|frame| self.files.named(frame)).collect();
        let frames: Vec<usize> = named.iter().map(|frame| self.frame(frame)).collect();
        let mut is_used = vec![false; frames.len()];
        // Neighbours in a table begin alike: only the rest of a stack has to be looked up.
        let mut path: Vec<(usize, usize)> = Vec::new();
        let mut last_thread = usize::MAX;
        for stack in &table.stacks {
            if stack.thread != last_thread {
                path.clear();
                last_thread = stack.thread;
            }
            let common = path.iter().zip(&stack.frames).take_while(|((frame, _), other)| frame == *other).count();
            path.truncate(common);
            for frame in &stack.frames[common..] {
                let parent = path.last().map_or(-1, |(_, node)| node.cast_signed() as i64);
                path.push((*frame, self.node(threads[stack.thread], parent, frames[*frame])));
                is_used[*frame] = true;
            }
            if let Some((_, leaf)) = path.last() {
                let weight = stack.samples as f64 * scale;
                let side = &mut self.sides[part.side];
                side.own[*leaf] += weight;
                side.variance[*leaf] += weight * scale;
            }
        }
        let side = &mut self.sides[part.side];
        side.samples = side.samples.checked_add(table.samples).ok_or(TableError::Overflow)?;
        side.lost = side.lost.checked_add(table.lost).ok_or(TableError::Overflow)?;
        let used = frames.iter().zip(is_used).filter(|(_, is_used)| *is_used);
        self.cases.extend(used.map(|(frame, _)| (*frame, part.case)));
        Ok(())
    }

    fn thread(&mut self, name: &str) -> usize {
        if let Some(known) = self.thread_numbers.get(name) {
            return *known;
        }
        self.threads.push(name.to_owned());
        self.thread_numbers.insert(name.to_owned(), self.threads.len() - 1);
        self.threads.len() - 1
    }

    fn frame(&mut self, frame: &Frame) -> usize {
        if let Some(known) = self.frame_numbers.get(frame) {
            return *known;
        }
        self.frames.push(frame.clone());
        self.frame_numbers.insert(frame.clone(), self.frames.len() - 1);
        self.frames.len() - 1
    }

    fn node(&mut self, thread: usize, parent: i64, frame: usize) -> usize {
        if let Some(known) = self.known.get(&(thread, parent, frame)) {
            return *known;
        }
        let number = self.nodes.thread.len();
        self.nodes.thread.push(thread);
        self.nodes.parent.push(parent);
        self.nodes.frame.push(frame);
        for side in &mut self.sides {
            side.own.push(0.0);
            side.variance.push(0.0);
        }
        self.known.insert((thread, parent, frame), number);
        number
    }

    fn finish(mut self, least_share: f64) -> Profile {
        let is_kept = self.kept(least_share);
        let other = if is_kept.iter().all(|kept| *kept) { usize::MAX } else { self.frame(&pruned_frame()) };
        let mut kept = Growing { sides: vec![Side::default(); self.sides.len()], ..Growing::default() };
        let mut places: Vec<usize> = Vec::with_capacity(is_kept.len());
        for (node, is_large) in is_kept.iter().enumerate() {
            let parent = self.nodes.parent[node];
            let above = usize::try_from(parent).ok();
            let new_parent = above.map_or(-1, |above| places[above].cast_signed() as i64);
            let place = if *is_large {
                kept.node(self.nodes.thread[node], new_parent, self.nodes.frame[node])
            } else {
                // What is below a small node joins it.
                let joined = above.filter(|above| !is_kept[*above]).map(|above| places[above]);
                joined.unwrap_or_else(|| kept.node(self.nodes.thread[node], new_parent, other))
            };
            places.push(place);
            for (side, of) in kept.sides.iter_mut().zip(&self.sides) {
                side.own[place] += of.own[node];
                side.variance[place] += of.variance[node];
                side.pruned_share += if *is_large { 0.0 } else { of.own[node] / (of.samples.max(1) as f64) };
            }
        }
        for (side, of) in kept.sides.iter_mut().zip(&self.sides) {
            (side.samples, side.lost) = (of.samples, of.lost);
            side.own.iter_mut().chain(&mut side.variance).for_each(|value| *value = rounded(*value));
        }
        let pruned_nodes = is_kept.iter().filter(|kept| !**kept).count();
        self.named(kept, pruned_nodes)
    }

    /// The profile of the nodes that are kept, with the frames that they have.
    fn named(self, kept: Growing, pruned_nodes: usize) -> Profile {
        let mut of_frame = vec![0; self.frames.len()];
        for (frame, _) in &self.cases {
            of_frame[*frame] += 1;
        }
        let mut numbers = vec![usize::MAX; self.frames.len()];
        let (mut frames, mut frame_cases, mut nodes) = (Vec::new(), Vec::new(), kept.nodes);
        for frame in &mut nodes.frame {
            if numbers[*frame] == usize::MAX {
                numbers[*frame] = frames.len();
                frames.push(self.frames[*frame].clone());
                frame_cases.push(of_frame[*frame]);
            }
            *frame = numbers[*frame];
        }
        let events = self.events.into_iter().collect();
        let (threads, sides) = (self.threads, kept.sides);
        Profile { events, threads, frames, frame_cases, nodes, sides, pruned_nodes, part_samples: Vec::new() }
    }

    /// Which nodes have a share that is large enough, callees included.
    fn kept(&self, least_share: f64) -> Vec<bool> {
        let mut is_kept = vec![false; self.nodes.parent.len()];
        for side in &self.sides {
            let inclusive = inclusive(&self.nodes.parent, &side.own);
            let least = side.samples as f64 * least_share;
            for (is_kept, weight) in is_kept.iter_mut().zip(inclusive) {
                *is_kept |= weight > 0.0 && weight >= least;
            }
        }
        is_kept
    }
}

/// What nodes have with all that is below them.
pub(super) fn inclusive(parent: &[i64], own: &[f64]) -> Vec<f64> {
    let mut sums = own.to_vec();
    for node in (0..sums.len()).rev() {
        if let Ok(above) = usize::try_from(parent[node]) {
            sums[above] += sums[node];
        }
    }
    sums
}

fn pruned_frame() -> Frame {
    Frame { function: PRUNED.to_owned(), file: None, object: PRUNED.to_owned(), inlined: false }
}

/// To four decimals, which are more than samples are known to.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// What functions cost in each case, by side.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FunctionsByCase {
    /// The functions of all cases, the costliest first: by the sum over cases of their largest own share of a side.
    pub functions: Vec<FunctionCosts>,
    /// Number of all functions, of which those above are some.
    pub all: usize,
    /// Number of samples of each part.
    pub samples: Vec<u64>,
}

/// What a function costs in each case, as shares of the case's samples on a side.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FunctionCosts {
    /// As in [`Frame::function`].
    pub function: String,
    /// As in [`Frame::file`].
    pub file: Option<String>,
    /// As in [`Frame::object`].
    pub object: String,
    /// The shares without callees, by part; a part in which the function has no samples has none.
    pub own: Vec<Option<f64>>,
    /// The shares with callees, in which a recursion counts once.
    pub inclusive: Vec<Option<f64>>,
}

/// The functions with the largest costs over all parts, weighted, and their shares in each part.
///
/// # Errors
/// When a table is inconsistent.
pub fn functions_by_case(parts: &[Part], most: usize) -> Result<FunctionsByCase, TableError> {
    type Key = (String, Option<String>, String);
    let files = Files::of(parts);
    let mut numbers: HashMap<Key, usize> = HashMap::new();
    let mut costs: Vec<(Frame, Vec<(f64, f64)>)> = Vec::new();
    let mut totals = vec![0.0; parts.len()];
    for (place, part) in parts.iter().enumerate() {
        for table in &part.tables {
            table.check()?;
            totals[place] += table.samples as f64;
            let frames: Vec<usize> = (table.frames.iter())
                .map(|frame| {
                    let frame = files.named(frame);
                    // As on the page: where the file is known, the object is not what sets functions apart.
                    let object = if frame.file.is_some() { String::new() } else { frame.object.clone() };
                    *numbers.entry((frame.function.clone(), frame.file.clone(), object)).or_insert_with(|| {
                        costs.push((frame, vec![(0.0, 0.0); parts.len()]));
                        costs.len() - 1
                    })
                })
                .collect();
            // A function counts once for a stack: the number of the stack that it was counted for last.
            let mut counted = vec![usize::MAX; costs.len()];
            for (number, stack) in table.stacks.iter().enumerate() {
                let samples = stack.samples as f64;
                for frame in stack.frames.iter().map(|frame| frames[*frame]) {
                    if counted[frame] != number {
                        counted[frame] = number;
                        costs[frame].1[place].1 += samples;
                    }
                }
                if let Some(leaf) = stack.frames.last() {
                    costs[frames[*leaf]].1[place].0 += samples;
                }
            }
        }
    }
    let weight = |costs: &[(f64, f64)]| -> f64 {
        let of_part = |((own, _), (part, total)): (&(f64, f64), (&Part, &f64))| own / total.max(1.0) * part.weight;
        costs.iter().zip(parts.iter().zip(&totals)).map(of_part).sum()
    };
    let all = costs.len();
    costs.sort_by(|left, right| weight(&right.1).total_cmp(&weight(&left.1)).then_with(|| left.0.cmp(&right.0)));
    let share = |samples: f64, total: f64| (samples > 0.0).then(|| (samples / total * 1e6).round() / 1e6);
    let functions = (costs.into_iter().take(most))
        .map(|(Frame { function, file, object, .. }, costs)| FunctionCosts {
            function,
            file,
            object,
            own: costs.iter().zip(&totals).map(|((own, _), total)| share(*own, *total)).collect(),
            inclusive: costs.iter().zip(&totals).map(|((_, inclusive), total)| share(*inclusive, *total)).collect(),
        })
        .collect();
    Ok(FunctionsByCase { functions, all, samples: samples_of(parts)? })
}

#[cfg(test)]
mod tests {
    use super::super::{SCHEMA, Stack, Thread};
    use super::*;

    /// A table of stacks as `a;b;c`, in one thread.
    fn table(lines: &[(&str, u64)]) -> Stacks {
        let mut names: Vec<&str> = lines.iter().flat_map(|(line, _)| line.split(';')).collect();
        names.sort_unstable();
        names.dedup();
        let frame = |name: &&str| Frame {
            function: (*name).to_owned(),
            file: Some(format!("{name}.c")),
            object: "server".to_owned(),
            inlined: false,
        };
        let mut stacks: Vec<Stack> = (lines.iter())
            .map(|(line, samples)| Stack {
                thread: 0,
                frames: line.split(';').map(|name| names.binary_search(&name).expect("named")).collect(),
                samples: *samples,
            })
            .collect();
        stacks.sort_by(|left, right| left.frames.cmp(&right.frames));
        Stacks {
            schema: SCHEMA.to_owned(),
            event: "cpu-clock".to_owned(),
            samples: lines.iter().map(|(_, samples)| samples).sum(),
            lost: 1,
            threads: vec![Thread { name: "main".to_owned() }],
            frames: names.iter().map(frame).collect(),
            stacks,
            lines: None,
        }
    }

    fn part(side: usize, case: usize, weight: f64, lines: &[(&str, u64)]) -> Part {
        Part { side, case, weight, tables: vec![table(lines)] }
    }

    /// The nodes as paths, with their own weights by side.
    fn paths(profile: &Profile) -> Vec<(String, Vec<f64>)> {
        let mut names: Vec<String> = Vec::new();
        for (node, frame) in profile.nodes.frame.iter().enumerate() {
            let name = &profile.frames[*frame].function;
            let above = usize::try_from(profile.nodes.parent[node]).ok();
            names.push(above.map_or_else(|| name.clone(), |above| format!("{};{name}", names[above])));
        }
        let own = |node| profile.sides.iter().map(|side| side.own[node]).collect();
        names.into_iter().enumerate().map(|(node, name)| (name, own(node))).collect()
    }

    #[test]
    fn the_samples_of_a_case_stay_what_they_are() {
        let merged = profile(&[part(0, 0, 1200.0, &[("a;b", 30), ("a;c", 10), ("a", 5)])], 0.0).expect("merged");
        assert_eq!(
            paths(&merged),
            [("a", 5.0), ("a;b", 30.0), ("a;c", 10.0)].map(|(name, own)| (name.to_owned(), vec![own]))
        );
        assert_eq!(merged.sides[0].variance, [5.0, 30.0, 10.0]);
        assert_eq!((merged.sides[0].samples, merged.sides[0].lost, merged.pruned_nodes), (45, 1, 0));
        assert_eq!((&*merged.events[0], &*merged.part_samples), ("cpu-clock", &[45][..]));
    }

    #[test]
    fn cases_count_by_their_weights_and_not_by_their_samples() {
        let parts = [part(0, 0, 300.0, &[("a;b", 90)]), part(0, 1, 100.0, &[("a;c", 10)])];
        let merged = profile(&parts, 0.0).expect("merged");
        // 100 samples in all, three quarters of them by weight in the first case.
        assert!((merged.sides[0].own.iter().sum::<f64>() - 100.0).abs() < 1e-9);
        assert_eq!(paths(&merged)[1], ("a;b".to_owned(), vec![75.0]));
        assert_eq!(paths(&merged)[2], ("a;c".to_owned(), vec![25.0]));
        // A sample counts 75/90 and 25/10.
        assert_eq!(merged.sides[0].variance[1..], [62.5, 62.5]);
        let cases: Vec<(&str, usize)> =
            merged.frames.iter().map(|frame| &*frame.function).zip(merged.frame_cases.iter().copied()).collect();
        assert_eq!(cases, [("a", 2), ("b", 1), ("c", 1)]);
    }

    #[test]
    fn what_is_small_on_all_sides_is_one_node_below_its_caller() {
        let parts = [
            part(0, 0, 1.0, &[("a;b", 950), ("a;c;d", 20), ("a;c;e", 20), ("a;f", 9), ("a;g", 1)]),
            part(1, 0, 1.0, &[("a;b", 940), ("a;g", 60)]),
        ];
        let merged = profile(&parts, 0.03).expect("merged");
        let expected = [
            ("a", vec![0.0, 0.0]),
            ("a;b", vec![950.0, 940.0]),
            ("a;c", vec![0.0, 0.0]),
            ("a;c;[other]", vec![40.0, 0.0]),
            ("a;[other]", vec![9.0, 0.0]),
            ("a;g", vec![1.0, 60.0]),
        ];
        assert_eq!(paths(&merged), expected.map(|(name, own)| (name.to_owned(), own)));
        assert_eq!(merged.pruned_nodes, 3);
        assert!((merged.sides[0].pruned_share - 0.049).abs() < 1e-9);
        assert!(merged.sides[1].pruned_share.abs() < 1e-9);
    }

    #[test]
    fn what_is_below_a_small_node_joins_it() {
        let parts = [part(0, 0, 1.0, &[("a", 980), ("a;b;c;d", 10), ("a;b", 10)])];
        let merged = profile(&parts, 0.05).expect("merged");
        assert_eq!(paths(&merged), [("a".to_owned(), vec![980.0]), ("a;[other]".to_owned(), vec![20.0])]);
    }

    #[test]
    fn functions_have_shares_of_each_case() {
        let parts = [part(0, 0, 1.0, &[("a;b;a", 30), ("a;c", 70)]), part(0, 1, 1.0, &[("a;c", 10)])];
        let costs = functions_by_case(&parts, 2).expect("summed");
        assert_eq!(costs.all, 3);
        let names: Vec<&str> = costs.functions.iter().map(|costs| &*costs.function).collect();
        assert_eq!(names, ["c", "a"]);
        assert_eq!(costs.functions[0].own, [Some(0.7), Some(1.0)]);
        assert_eq!(costs.functions[1].own, [Some(0.3), None]);
        assert_eq!(costs.functions[1].inclusive, [Some(1.0), Some(1.0)]);
    }

    #[test]
    fn a_function_is_one_in_builds_with_and_without_line_information() {
        let mut without = part(0, 1, 1.0, &[("a;b", 10)]);
        without.tables[0].frames.iter_mut().for_each(|frame| frame.file = None);
        let parts = [part(0, 0, 1.0, &[("a;b", 10)]), without];
        let merged = profile(&parts, 0.0).expect("merged");
        assert_eq!(paths(&merged), [("a".to_owned(), vec![0.0]), ("a;b".to_owned(), vec![20.0])]);
        assert_eq!(functions_by_case(&parts, 9).expect("summed").all, 2);
    }

    #[test]
    fn no_parts_are_an_empty_profile() {
        let merged = profile(&[], 0.0005).expect("merged");
        assert!(merged.sides.is_empty() && merged.frames.is_empty());
    }
}
