//! The lines of one function in many stack tables, those of both sides beside each other.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::profile::scales;
use super::{FunctionLines, Part, Stacks, TableError};

/// So many lines of each side are shown, those with the most samples.
pub const MOST_SHOWN: usize = 400;

/// A function's lines with their samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Annotation {
    /// The sides, in the order of their indexes.
    pub sides: Vec<AnnotatedSide>,
    /// The lines, by file and in the order of the source.
    pub lines: Vec<AnnotatedLine>,
    /// Number of lines that are left out, of both sides.
    pub left_out: usize,
}

/// What a side has of the function, in the tables that have lines.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AnnotatedSide {
    /// Number of samples of all functions.
    pub samples: u64,
    /// Samples of the function itself, weighted as in a profile.
    pub own: f64,
    /// Number of tables.
    pub tables: usize,
    /// Number of tables that have lines, of any function.
    pub tables_with_lines: usize,
    /// Whether there is a case none of whose tables has lines.
    pub lacks_cases: bool,
}

/// A line, which may have other numbers on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnnotatedLine {
    /// The file that it is in.
    pub file: String,
    /// Its text, where it was recorded.
    pub text: Option<String>,
    /// Its number on each side; none where it has no samples.
    pub line: Vec<Option<u32>>,
    /// Samples on each side, weighted as in a profile.
    pub own: Vec<f64>,
}

/// A line of one side.
struct Line {
    number: u32,
    text: Option<String>,
    own: f64,
}

/// The lines of a function; `object` tells functions apart whose file is not known, as on the page.
///
/// # Errors
/// When a table is inconsistent, or the samples are too many to be counted.
pub fn annotation(parts: &[Part], function: &str, file: Option<&str>, object: &str) -> Result<Annotation, TableError> {
    let sides = parts.iter().map(|part| part.side + 1).max().unwrap_or(0);
    let samples = samples_with_lines(parts)?;
    let scales = scales(parts, &samples, sides)?;
    let is_asked = |of: &FunctionLines| {
        of.function == function && of.file.as_deref() == file && (file.is_some() || of.object == object)
    };
    let (mut annotated, mut by_side, mut left_out) = (Vec::new(), Vec::new(), 0);
    for side in 0..sides {
        let mut of_side = AnnotatedSide::default();
        let mut sums: BTreeMap<LineKey<'_>, f64> = BTreeMap::new();
        for ((part, samples), scale) in
            parts.iter().zip(&samples).zip(&scales).filter(|((part, _), _)| part.side == side)
        {
            of_side.add(part, *samples);
            for of_function in part.tables.iter().flat_map(lines_of).filter(|of| is_asked(of)) {
                of_side.own += of_function.samples as f64 * scale;
                for line in &of_function.lines {
                    let sum = sums.entry((&line.file, line.line, line.text.as_deref())).or_default();
                    *sum += line.samples as f64 * scale;
                }
            }
        }
        left_out += sums.len().saturating_sub(MOST_SHOWN);
        annotated.push(of_side);
        by_side.push(shown_by_file(sums));
    }
    Ok(Annotation { sides: annotated, lines: beside_each_other(&by_side), left_out })
}

/// File, number and text.
type LineKey<'a> = (&'a str, u32, Option<&'a str>);
type LinesByFile = BTreeMap<String, Vec<Line>>;

impl AnnotatedSide {
    fn add(&mut self, part: &Part, samples: u64) {
        let with_lines = part.tables.iter().filter(|table| table.lines.is_some()).count();
        self.samples = self.samples.saturating_add(samples);
        self.tables += part.tables.len();
        self.tables_with_lines += with_lines;
        self.lacks_cases |= with_lines == 0;
    }
}

/// Number of samples of each part in the tables that have lines.
fn samples_with_lines(parts: &[Part]) -> Result<Vec<u64>, TableError> {
    let mut sums = Vec::new();
    for part in parts {
        let mut sum = 0_u64;
        for table in &part.tables {
            table.check()?;
            let samples = if table.lines.is_some() { table.samples } else { 0 };
            sum = sum.checked_add(samples).ok_or(TableError::Overflow)?;
        }
        sums.push(sum);
    }
    Ok(sums)
}

fn lines_of(table: &Stacks) -> &[FunctionLines] {
    table.lines.as_deref().unwrap_or_default()
}

/// The lines with the most samples, in the order of the source.
fn shown_by_file(sums: BTreeMap<LineKey<'_>, f64>) -> LinesByFile {
    let mut shown: Vec<(LineKey<'_>, f64)> = sums.into_iter().collect();
    shown.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    shown.truncate(MOST_SHOWN);
    shown.sort_by_key(|(line, _)| *line);
    let mut by_file = LinesByFile::new();
    for ((file, number, text), own) in shown {
        let line = Line { number, text: text.map(str::to_owned), own };
        by_file.entry(file.to_owned()).or_default().push(line);
    }
    by_file
}

/// The lines of all sides, file by file. Lines of one text are one, in the order of the source.
fn beside_each_other(by_side: &[LinesByFile]) -> Vec<AnnotatedLine> {
    let files: BTreeSet<&String> = by_side.iter().flat_map(BTreeMap::keys).collect();
    let mut rows = Vec::new();
    for file in files {
        let of_file: Vec<&[Line]> =
            by_side.iter().map(|side| side.get(file).map(Vec::as_slice).unwrap_or_default()).collect();
        let pairs = match of_file[..] {
            [base, head] => paired(base, head),
            [only] => only.iter().map(|line| (Some(line), None)).collect(),
            _ => Vec::new(),
        };
        rows.extend(pairs.into_iter().map(|(first, second)| {
            let of_sides = [first, second];
            let text = of_sides.into_iter().rev().flatten().find_map(|line| line.text.clone());
            let of_sides = &of_sides[..by_side.len()];
            AnnotatedLine {
                file: file.clone(),
                text,
                line: of_sides.iter().map(|line| line.map(|line| line.number)).collect(),
                own: of_sides.iter().map(|line| line.map_or(0.0, |line| line.own)).collect(),
            }
        }));
    }
    rows
}

fn is_same(before: &Line, after: &Line) -> bool {
    match (&before.text, &after.text) {
        // A line that was moved into a block has another indentation.
        (Some(before), Some(after)) => before.trim() == after.trim(),
        _ => before.number == after.number,
    }
}

/// The longest common subsequence of both sides, with what is of one side only between its lines.
fn paired<'a>(base: &'a [Line], head: &'a [Line]) -> Vec<(Option<&'a Line>, Option<&'a Line>)> {
    let mut longest = vec![vec![0_usize; head.len() + 1]; base.len() + 1];
    for before in (0..base.len()).rev() {
        for after in (0..head.len()).rev() {
            longest[before][after] = if is_same(&base[before], &head[after]) {
                longest[before + 1][after + 1] + 1
            } else {
                longest[before + 1][after].max(longest[before][after + 1])
            };
        }
    }
    let (mut before, mut after) = (0, 0);
    let mut pairs = Vec::new();
    while before < base.len() || after < head.len() {
        let pair = (base.get(before), head.get(after));
        let pair = match pair {
            (Some(one), Some(other)) if is_same(one, other) => pair,
            (Some(one), Some(other)) => {
                let is_base_next = match longest[before + 1][after].cmp(&longest[before][after + 1]) {
                    Ordering::Equal => one.number <= other.number,
                    order => order.is_gt(),
                };
                if is_base_next { (Some(one), None) } else { (None, Some(other)) }
            }
            pair => pair,
        };
        before += usize::from(pair.0.is_some());
        after += usize::from(pair.1.is_some());
        pairs.push(pair);
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::super::{Frame, LineSamples, SCHEMA, Stack, Thread};
    use super::*;

    /// A table of 100 samples, 80 of them in one function, whose lines are given with their numbers, texts and samples.
    fn table(lines: Option<&[(u32, Option<&str>, u64)]>) -> Stacks {
        let frame = |name: &str| Frame {
            function: name.to_owned(),
            file: Some("dict.c".to_owned()),
            object: "server".to_owned(),
            inlined: false,
        };
        let lines = lines.map(|lines| {
            let line = |(line, text, samples): &(u32, Option<&str>, u64)| LineSamples {
                file: "dict.c".to_owned(),
                line: *line,
                samples: *samples,
                text: text.map(str::to_owned),
            };
            let Frame { function, file, object, .. } = frame("find");
            vec![FunctionLines { function, file, object, samples: 80, lines: lines.iter().map(line).collect() }]
        });
        Stacks {
            schema: SCHEMA.to_owned(),
            event: "cpu-clock".to_owned(),
            samples: 100,
            lost: 0,
            threads: vec![Thread { name: "main".to_owned() }],
            frames: vec![frame("find"), frame("main")],
            stacks: vec![
                Stack { thread: 0, frames: vec![1], samples: 20 },
                Stack { thread: 0, frames: vec![1, 0], samples: 80 },
            ],
            lines,
        }
    }

    fn part(side: usize, lines: Option<&[(u32, Option<&str>, u64)]>) -> Part {
        Part { side, case: 0, weight: 1.0, tables: vec![table(lines)] }
    }

    fn rows(annotation: &Annotation) -> Vec<(Vec<Option<u32>>, Vec<f64>)> {
        annotation.lines.iter().map(|line| (line.line.clone(), line.own.clone())).collect()
    }

    #[test]
    fn lines_of_one_text_are_beside_each_other_though_they_moved() {
        let base = [(10, Some("int h;"), 10), (11, Some("h = hash(k);"), 50), (12, Some("return h;"), 20)];
        let head = [(13, Some("int h;"), 10), (14, Some("check(k);"), 40), (15, Some("  h = hash(k);"), 30)];
        let parts = [part(0, Some(&base)), part(1, Some(&head))];
        let found = annotation(&parts, "find", Some("dict.c"), "").expect("annotated");
        let expected = [
            (vec![Some(10), Some(13)], vec![10.0, 10.0]),
            (vec![None, Some(14)], vec![0.0, 40.0]),
            (vec![Some(11), Some(15)], vec![50.0, 30.0]),
            (vec![Some(12), None], vec![20.0, 0.0]),
        ];
        assert_eq!(rows(&found), expected);
        assert_eq!(found.sides.iter().map(|side| (side.samples, side.own)).collect::<Vec<_>>(), [(100, 80.0); 2]);
        assert!(annotation(&parts, "find", None, "server").expect("annotated").lines.is_empty());
        assert!(annotation(&parts, "main", Some("dict.c"), "").expect("annotated").lines.is_empty());
    }

    #[test]
    fn lines_without_text_are_one_by_their_number() {
        let parts = [part(0, Some(&[(10, None, 60), (12, None, 20)])), part(1, Some(&[(10, None, 50)]))];
        let found = annotation(&parts, "find", Some("dict.c"), "").expect("annotated");
        let expected = [(vec![Some(10), Some(10)], vec![60.0, 50.0]), (vec![Some(12), None], vec![20.0, 0.0])];
        assert_eq!(rows(&found), expected);
    }

    #[test]
    fn tables_without_lines_do_not_count() {
        let mut recorded = part(0, Some(&[(10, None, 60)]));
        recorded.tables.push(table(None));
        let found = annotation(&[recorded, part(1, None)], "find", Some("dict.c"), "").expect("annotated");
        let [base, head] = &found.sides[..] else { panic!("{:?}", found.sides) };
        assert_eq!((base.samples, base.tables, base.tables_with_lines, base.lacks_cases), (100, 2, 1, false));
        assert_eq!((head.samples, head.tables_with_lines, head.lacks_cases), (0, 0, true));
        assert_eq!(rows(&found), [(vec![Some(10), None], vec![60.0, 0.0])]);
    }

    #[test]
    fn of_many_lines_those_with_the_most_samples_are_shown() {
        let lines: Vec<_> = (1..=500).map(|line| (line, None, u64::from(line > 490) * 5)).collect();
        let found = annotation(&[part(0, Some(&lines))], "find", Some("dict.c"), "").expect("annotated");
        assert_eq!((found.lines.len(), found.left_out), (MOST_SHOWN, 100));
    }
}
