//! Whether two servers executed the same: their graphs are one but for the numbers of nodes, and counts agree.
//!
//! Nodes are put into classes that are refined until the nodes of a class have the same lines and refer to nodes of the
//! same classes in the same order (as states of an automaton are, Hopcroft 1971). Names do not matter there. Then each
//! node gets a partner of its class, those of one name first, and what they refer to has to be partners too.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::{ALONE, Executed, KINDS, Library, Line, Node, PIPELINED, TIMERS, Times};

/// Differences that are listed; the first few show where to look.
const LISTED: usize = 3;
/// How far counts of the program's own instructions may lie apart, as a fraction: the resolution of counting
/// (docs/counted.md).
const RESOLUTION: f64 = 0.0002;
/// The same where requests come alone: their windows are short.
const ALONE_RESOLUTION: f64 = 0.0005;
/// The same with the instructions of libraries. Equal instructions call them equally often; but functions for strings
/// take other paths where a string lies near the end of a page, and every new literal moves others.
const RESOLUTION_WITH_LIBRARIES: f64 = 0.001;
/// The same for the window of timers: they parse text in buffers that hold what other commands have left.
const TIMERS_RESOLUTION: f64 = 0.02;
/// Where a number of times was counted, by kind of window.
const WHERE: [&str; KINDS] = ["", " where requests come alone", " where timers fire"];
/// What an instruction may be executed more often or less on one side, as a share of requests.
pub(super) const REQUESTS_SHARE: f64 = 0.01;

/// The result of comparing what two servers executed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Identity {
    /// All that was executed is the same on both sides but for addresses.
    Identical {
        /// Executed in the windows, once each.
        instructions: usize,
        /// Functions that they belong to.
        functions: usize,
    },
    /// Something is not.
    Different {
        /// The first few differences.
        differences: Vec<Difference>,
    },
    /// It cannot be decided.
    Unknown {
        /// Why not.
        reason: String,
    },
}

/// One difference: an instruction, or what a side has more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The function, table or library.
    pub name: String,
    /// What is there on the base; none where there is nothing.
    pub base: Option<String>,
    /// The same on the head.
    pub head: Option<String>,
}

/// Rounds of refinement: as long as the longest chain of references, of which servers have some dozens.
const ROUNDS_LIMIT: usize = 256;

/// Compares what two servers executed.
#[must_use]
pub fn compare(base: &Executed, head: &Executed) -> Identity {
    if base.requests != head.requests {
        return unknown("other numbers of requests were counted");
    }
    if let Some(outcome) = compare_libraries(base, head) {
        return outcome;
    }
    let outcome = match (&base.unknown, &head.unknown) {
        (None, None) => match Classes::of([base, head]) {
            Some(classes) => compare_nodes(base, head, &classes),
            None => return unknown("the program's data are a long chain of pointers"),
        },
        _ if base.image == head.image && !base.image.is_empty() => Ok((0, 0)),
        (Some(reason), _) | (_, Some(reason)) => return unknown(reason),
    };
    match outcome {
        Err(differences) => Identity::Different { differences },
        Ok((instructions, functions)) => match compare_sums(base, head) {
            Some(difference) => Identity::Different { differences: vec![difference] },
            None => Identity::Identical { instructions, functions },
        },
    }
}

fn unknown(reason: &str) -> Identity {
    Identity::Unknown { reason: reason.to_owned() }
}

/// Libraries that both sides executed have to be the same file; those that one side executed only before the windows
/// do not count: whether something rare happens there depends on the moment.
fn compare_libraries(base: &Executed, head: &Executed) -> Option<Identity> {
    let by_name = |of: &Executed| -> BTreeMap<String, Library> {
        of.libraries.iter().map(|library| (library.name.clone(), library.clone())).collect()
    };
    let sides = [by_name(base), by_name(head)];
    let names: BTreeSet<&String> = sides.iter().flat_map(BTreeMap::keys).collect();
    let mut differences = Vec::new();
    for name in names {
        let both = [BASE, HEAD].map(|side| sides[side].get(name));
        if both.iter().flatten().any(|library| library.digest.is_empty()) {
            return Some(unknown(&format!("the file of `{name}` cannot be read")));
        }
        let is_same = match both {
            [Some(one), Some(other)] => one.digest == other.digest,
            [one, other] => one.or(other).is_none_or(|library| library.instructions == Times::default()),
        };
        if !is_same {
            let [base, head] = both.map(|library| library.map(|library| format!("{:.12}", library.digest)));
            differences.push(Difference { name: name.clone(), base, head });
        }
    }
    differences.truncate(LISTED);
    (!differences.is_empty()).then_some(Identity::Different { differences })
}

/// Sums over all instructions have to agree, the program's own and those with libraries': what libraries are called with
/// could differ.
fn compare_sums(base: &Executed, head: &Executed) -> Option<Difference> {
    let own = |executed: &Executed, kind: usize| executed.instructions[kind] as f64;
    let all = |executed: &Executed| {
        let libraries = executed.libraries.iter().map(|library| library.instructions[PIPELINED] as f64);
        own(executed, PIPELINED) + libraries.sum::<f64>()
    };
    [(PIPELINED, RESOLUTION), (ALONE, ALONE_RESOLUTION)]
        .into_iter()
        .find_map(|(kind, resolution)| {
            let name = format!("the counts of the program's own instructions{}", WHERE[kind]);
            compare_sum(&name, [own(base, kind), own(head, kind)], resolution, base.requests[kind])
        })
        .or_else(|| {
            compare_sum("the counts", [all(base), all(head)], RESOLUTION_WITH_LIBRARIES, base.requests[PIPELINED])
        })
}

fn compare_sum(name: &str, sums: [f64; 2], resolution: f64, requests: u64) -> Option<Difference> {
    let [in_base, in_head] = sums;
    let per_request = |sum: f64| Some(format!("{:.1} instructions a request", sum / requests.max(1) as f64));
    ((in_base - in_head).abs() > resolution * in_base.max(in_head)).then(|| Difference {
        name: name.to_owned(),
        base: per_request(in_base),
        head: per_request(in_head),
    })
}

const BASE: usize = 0;
const HEAD: usize = 1;
type Sides = [Vec<usize>; 2];

/// Instructions and functions executed in the windows where the graphs are one, else the first differences.
fn compare_nodes(base: &Executed, head: &Executed, classes: &Classes) -> Result<(usize, usize), Vec<Difference>> {
    let sides = [base, head];
    if classes.members.iter().any(|[in_base, in_head]| in_base.len() != in_head.len()) {
        return Err(classes.differences(sides));
    }
    let mut partners = Partners { sides, of_base: vec![None; base.nodes.len()], of_head: vec![None; head.nodes.len()] };
    // Alone in its class, then of the same name, then any.
    for members in classes.members.iter().filter(|[in_base, _]| in_base.len() == 1) {
        partners.pair(members[BASE][0], members[HEAD][0])?;
    }
    for [in_base, in_head] in &classes.members {
        let names = unique_names(head, in_head);
        for (name, one) in unique_names(base, in_base) {
            if let Some(other) = names.get(name) {
                partners.pair(one, *other)?;
            }
        }
    }
    for [in_base, in_head] in &classes.members {
        // A pair can make others pairs, so that some of those left here have partners when it is their turn.
        let mut left = in_head.iter();
        for one in in_base {
            if partners.of_base[*one].is_none()
                && let Some(other) = left.find(|other| partners.of_head[**other].is_none())
            {
                partners.pair(*one, *other)?;
            }
        }
    }
    partners.compare_counts()?;
    let executed = |node: &&Node| node.code && node.lines.iter().any(is_in_windows);
    let functions: Vec<&Node> = base.nodes.iter().filter(executed).collect();
    let instructions = functions.iter().flat_map(|node| &node.lines).filter(|line| is_in_windows(line)).count();
    Ok((instructions, functions.len()))
}

fn is_in_windows(line: &Line) -> bool {
    line.1.iter().any(|times| *times > 0)
}

fn unique_names<'a>(of: &'a Executed, members: &[usize]) -> BTreeMap<&'a str, usize> {
    let mut by_name: BTreeMap<&str, Option<usize>> = BTreeMap::new();
    for member in members {
        let name = of.nodes[*member].name.as_str();
        by_name.entry(name).and_modify(|known| *known = None).or_insert(Some(*member));
    }
    by_name
        .into_iter()
        .filter(|(name, _)| !name.is_empty())
        .filter_map(|(name, member)| Some((name, member?)))
        .collect()
}

/// The nodes of both sides by what they do.
struct Classes {
    members: Vec<Sides>,
    /// Of each side's nodes, by their lines alone, without what these refer to.
    own: [Vec<u32>; 2],
}

impl Classes {
    /// None where too many rounds would be needed.
    fn of(sides: [&Executed; 2]) -> Option<Self> {
        let mut texts: HashMap<&str, u32> = HashMap::new();
        let mut keys: HashMap<Vec<u64>, u32> = HashMap::new();
        let own = sides.map(|side| {
            let numbers: Vec<u32> = (side.texts.iter())
                .map(|text| {
                    let next = count(texts.len());
                    *texts.entry(text).or_insert(next)
                })
                .collect();
            let key = |node: &Node| -> Vec<u64> {
                let lines = node.lines.iter().flat_map(|line| {
                    // Not in which windows it was executed: what is rare is so by chance, and counts are compared later.
                    [u64::from(numbers[line.0 as usize]), line.2.len() as u64]
                });
                std::iter::once(u64::from(node.code)).chain(lines).collect()
            };
            (side.nodes.iter()).map(|node| number(&mut keys, key(node))).collect::<Vec<u32>>()
        });
        let (mut colours, mut classes) = (own.clone(), keys.len());
        for round in 0.. {
            if round > ROUNDS_LIMIT {
                return None;
            }
            let mut refined: HashMap<Vec<u32>, u32> = HashMap::new();
            let next = [BASE, HEAD].map(|side| {
                let targets = |node: &Node| -> Vec<u32> {
                    node.lines.iter().flat_map(|line| &line.2).map(|target| colours[side][*target as usize]).collect()
                };
                (sides[side].nodes.iter().zip(&colours[side]))
                    .map(|(node, colour)| {
                        let key: Vec<u32> = std::iter::once(*colour).chain(targets(node)).collect();
                        number(&mut refined, key)
                    })
                    .collect::<Vec<u32>>()
            });
            colours = next;
            if refined.len() == classes {
                break;
            }
            classes = refined.len();
        }
        let mut members: Vec<Sides> = vec![Sides::default(); classes];
        for side in [BASE, HEAD] {
            for (node, colour) in colours[side].iter().enumerate() {
                members[*colour as usize][side].push(node);
            }
        }
        Some(Self { members, own })
    }

    /// Differences between nodes of one name whose own lines differ, else nodes that one side alone has, those that are
    /// executed most often first.
    fn differences(&self, sides: [&Executed; 2]) -> Vec<Difference> {
        let unequal = |side: usize| -> Vec<usize> {
            let members = self.members.iter().filter(|[in_base, in_head]| in_base.len() != in_head.len());
            members.flat_map(|members| members[side].iter().copied()).collect()
        };
        let unequal = [unequal(BASE), unequal(HEAD)];
        let names = [BASE, HEAD].map(|side| unique_names(sides[side], &unequal[side]));
        let is_own = |one: usize, other: usize| self.own[BASE][one] != self.own[HEAD][other];
        let mut listed: Vec<(u64, Difference)> = Vec::new();
        for (name, one) in &names[BASE] {
            if let Some(other) = names[HEAD].get(name).filter(|other| is_own(*one, **other)) {
                let nodes = [&sides[BASE].nodes[*one], &sides[HEAD].nodes[*other]];
                listed.push((weight(nodes[BASE]).max(weight(nodes[HEAD])), difference(sides, nodes)));
            }
        }
        for (side, other) in [(BASE, HEAD), (HEAD, BASE)] {
            let alone = unequal[side].iter().filter(|node| {
                let name = sides[side].nodes[**node].name.as_str();
                !names[other].contains_key(name) && !self.has_own(self.own[side][**node], other)
            });
            for node in alone {
                let node = &sides[side].nodes[*node];
                let reason = Some(alone_as(node).to_owned());
                let name =
                    if node.name.is_empty() { "a function without a name".to_owned() } else { node.name.clone() };
                let (base, head) = if side == BASE { (reason, None) } else { (None, reason) };
                listed.push((weight(node), Difference { name, base, head }));
            }
        }
        if listed.is_empty() {
            let name = names[BASE].keys().next().map_or("a function without a name", |name| name).to_owned();
            let reason = Some("refers to others".to_owned());
            listed.push((0, Difference { name, base: reason.clone(), head: reason }));
        }
        listed.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
        listed.into_iter().take(LISTED).map(|(_, difference)| difference).collect()
    }

    fn has_own(&self, own: u32, side: usize) -> bool {
        self.own[side].contains(&own)
    }
}

fn alone_as(node: &Node) -> &'static str {
    match (node.code, weight(node)) {
        (false, _) => "referred to",
        (true, 0) => "executed before the windows",
        (true, _) => "executed",
    }
}

fn number<K: std::hash::Hash + Eq>(numbers: &mut HashMap<K, u32>, key: K) -> u32 {
    let next = count(numbers.len());
    *numbers.entry(key).or_insert(next)
}

/// Nodes are numbered with 32 bits.
fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn weight(node: &Node) -> u64 {
    node.lines.iter().flat_map(|line| line.1).fold(0, u64::saturating_add)
}

/// The first line that differs between nodes that stand for each other.
fn difference(sides: [&Executed; 2], nodes: [&Node; 2]) -> Difference {
    let text = |side: usize, line: Option<&Line>| line.map(|line| shown(sides[side], line));
    let lines = nodes[BASE].lines.len().max(nodes[HEAD].lines.len());
    let pairs = (0..lines).map(|at| [text(BASE, nodes[BASE].lines.get(at)), text(HEAD, nodes[HEAD].lines.get(at))]);
    let [base, head] = pairs
        .into_iter()
        .find(|[base, head]| base != head)
        .unwrap_or([Some("refers to others".to_owned()), Some("refers to others".to_owned())]);
    Difference { name: nodes[BASE].name.clone(), base, head }
}

/// A line with the names of what it refers to.
fn shown(side: &Executed, line: &Line) -> String {
    let mut names = line.2.iter().map(|target| side.nodes[*target as usize].name.as_str());
    let mut text = String::new();
    for character in side.texts[line.0 as usize].chars() {
        match character {
            '@' => text.push_str(names.next().filter(|name| !name.is_empty()).unwrap_or("@")),
            other => text.push(other),
        }
    }
    text
}

/// Which node stands for which.
struct Partners<'a> {
    sides: [&'a Executed; 2],
    of_base: Vec<Option<usize>>,
    of_head: Vec<Option<usize>>,
}

impl Partners<'_> {
    /// Makes two nodes of one class partners, and what they refer to.
    fn pair(&mut self, base: usize, head: usize) -> Result<(), Vec<Difference>> {
        let mut to_do = vec![(base, head, None)];
        while let Some((base, head, referring)) = to_do.pop() {
            match (self.of_base[base], self.of_head[head]) {
                (Some(known), _) if known == head => continue,
                (None, None) => {}
                _ => return Err(vec![self.conflict(base, head, referring)]),
            }
            (self.of_base[base], self.of_head[head]) = (Some(head), Some(base));
            let [lines, others] = [&self.sides[BASE].nodes[base].lines, &self.sides[HEAD].nodes[head].lines];
            for (line, other) in lines.iter().zip(others) {
                let targets = line.2.iter().zip(&other.2);
                to_do.extend(targets.map(|(one, other)| (*one as usize, *other as usize, Some(base))));
            }
        }
        Ok(())
    }

    fn conflict(&self, base: usize, head: usize, referring: Option<usize>) -> Difference {
        let reference = |side: usize, node: usize| Some(format!("refers to `{}`", self.sides[side].nodes[node].name));
        let name = referring.map_or("", |node| &self.sides[BASE].nodes[node].name).to_owned();
        Difference { name, base: reference(BASE, base), head: reference(HEAD, head) }
    }

    fn compare_counts(&self) -> Result<(), Vec<Difference>> {
        let mut differences = Vec::new();
        for (base, head) in self.of_base.iter().enumerate().filter_map(|(base, head)| Some((base, (*head)?))) {
            let [one, other] = [&self.sides[BASE].nodes[base], &self.sides[HEAD].nodes[head]];
            let apart = one.lines.iter().zip(&other.lines).find_map(|(line, other)| {
                let kind = (0..KINDS).find(|kind| self.is_apart(*kind, line, other))?;
                Some((kind, line, other))
            });
            if let Some((kind, line, other)) = apart {
                let times = |side: usize, line: &Line| {
                    Some(format!("{}: {} times{}", shown(self.sides[side], line), line.1[kind], WHERE[kind]))
                };
                let (base, head) = (times(BASE, line), times(HEAD, other));
                differences.push((weight(one), Difference { name: one.name.clone(), base, head }));
            }
        }
        differences.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
        let listed: Vec<Difference> = differences.into_iter().take(LISTED).map(|(_, difference)| difference).collect();
        if listed.is_empty() { Ok(()) } else { Err(listed) }
    }

    /// Whether an instruction was executed more often on one side, in a kind of window.
    fn is_apart(&self, kind: usize, line: &Line, other: &Line) -> bool {
        let (base, head) = (line.1[kind] as f64, other.1[kind] as f64);
        let of_requests = (self.sides[BASE].requests[kind] as f64 * REQUESTS_SHARE).max(1.0);
        let of_times = if kind == TIMERS { TIMERS_RESOLUTION } else { RESOLUTION } * base.max(head);
        (base - head).abs() > of_requests.max(of_times)
    }
}
