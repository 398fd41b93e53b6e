//! Profiles in the formats of other programs.

mod callgrind;
mod firefox;
mod pprof;
mod speedscope;
mod svg;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use thiserror::Error;

use super::OFF_PROCESSOR;
use super::profile::Profile;
use super::views::{part, plain};

/// What costs are given for: what a request costs in nanoseconds is too small for the whole numbers of these formats.
pub const REQUESTS: u32 = 1_000_000;

/// The format of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON of speedscope: a profile for each side and thread.
    Speedscope,
    /// JSON of the Firefox Profiler: a process for each side.
    Firefox,
    /// pprof's `profile.proto`, compressed with gzip; of one side.
    Pprof,
    /// A line for each stack, as flame graph programs read it; of one side.
    Folded,
    /// A profile of callgrind, as `callgrind_annotate` and `KCachegrind` read it; of one side.
    Callgrind,
    /// A flame graph as a picture; of one side.
    Svg,
}

/// A side that is to be exported.
#[derive(Debug, Clone)]
pub struct ExportedSide {
    /// Its index in the profile.
    pub side: usize,
    /// What it is called.
    pub name: String,
    /// The CPU time of a request, or its time off the processor in a profile of waits, where it is known; else costs are
    /// samples.
    pub cpu_ns_per_op: Option<f64>,
}

/// What is exported.
#[derive(Debug, Clone)]
pub struct Exported<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// What it is of.
    pub title: String,
    /// The sides, at least one.
    pub sides: Vec<ExportedSide>,
}

/// Why a profile was not exported.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The format holds one side.
    #[error("this format holds one side, not {0}")]
    Sides(usize),
    /// The profile has no such side.
    #[error("the profile has no side {0}")]
    NoSide(usize),
    /// An index of the profile points nowhere.
    #[error("the profile is inconsistent")]
    Inconsistent,
    /// Memory for it cannot be had.
    #[error("it cannot be written: {0}")]
    Written(#[from] io::Error),
}

/// Writes a profile in a format.
///
/// # Errors
/// When the profile is inconsistent, or there are more or fewer sides than the format holds.
pub fn export(exported: &Exported<'_>, format: Format) -> Result<Vec<u8>, ExportError> {
    exported.check()?;
    match format {
        Format::Speedscope => speedscope::write(exported),
        Format::Firefox => firefox::write(exported),
        Format::Pprof => pprof::write(exported, exported.only()?),
        Format::Folded => Ok(folded(exported, exported.only()?).into_bytes()),
        Format::Callgrind => Ok(callgrind::write(exported, exported.only()?).into_bytes()),
        Format::Svg => Ok(svg::write(exported, exported.only()?).into_bytes()),
    }
}

/// What code a frame is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The server's program.
    Server,
    /// A shared library.
    Library,
    /// The kernel and its modules.
    Kernel,
    /// What has no object, or stands for several.
    Other,
}

/// The kind of code that an object holds, as the pages tell it.
fn kind_of(object: &str) -> Kind {
    let ending = object.trim_end_matches(']').rsplit('.').next();
    if object == "[kernel]" || ending == Some("ko") {
        Kind::Kernel
    } else if object == "[vdso]" {
        Kind::Library
    } else if object.starts_with('[') {
        Kind::Other
    } else if ending == Some("so") || object.contains(".so.") {
        Kind::Library
    } else {
        Kind::Server
    }
}

impl Exported<'_> {
    fn check(&self) -> Result<(), ExportError> {
        let Profile { threads, frames, nodes, sides, .. } = self.profile;
        let size = nodes.parent.len();
        let of_side = |side: &super::Side| side.own.len() == size;
        let has_sizes = nodes.thread.len() == size && nodes.frame.len() == size && sides.iter().all(of_side);
        let is_within = nodes.thread.iter().all(|thread| *thread < threads.len())
            && nodes.frame.iter().all(|frame| *frame < frames.len())
            && nodes.parent.iter().enumerate().all(|(node, parent)| *parent < node.cast_signed() as i64);
        if !has_sizes || !is_within {
            return Err(ExportError::Inconsistent);
        }
        self.sides
            .iter()
            .try_for_each(|side| if side.side < sides.len() { Ok(()) } else { Err(ExportError::NoSide(side.side)) })
    }

    fn only(&self) -> Result<&ExportedSide, ExportError> {
        match &*self.sides {
            [side] => Ok(side),
            several => Err(ExportError::Sides(several.len())),
        }
    }

    /// The stacks of a side that have anything of their own, from the root to the leaf, with what they have.
    fn stacks(&self, side: &ExportedSide) -> impl Iterator<Item = (usize, Vec<usize>, f64)> {
        let nodes = &self.profile.nodes;
        let own = &self.profile.sides[side.side].own;
        (0..own.len()).filter(|node| own[*node] > 0.0).map(|node| {
            let mut frames = vec![nodes.frame[node]];
            let mut above = nodes.parent[node];
            while let Ok(parent) = usize::try_from(above) {
                frames.push(nodes.frame[parent]);
                above = nodes.parent[parent];
            }
            frames.reverse();
            (nodes.thread[node], frames, own[node])
        })
    }

    /// Whether samples are nanoseconds off the processor.
    fn is_of_waits(&self) -> bool {
        self.profile.events == [OFF_PROCESSOR]
    }

    /// What samples of a side cost: nanoseconds of a request where its cost is known, else the samples.
    fn cost(&self, side: &ExportedSide, samples: f64) -> f64 {
        let all = self.profile.sides[side.side].samples;
        side.cpu_ns_per_op.map_or(samples, |cost| samples / (all.max(1) as f64) * cost)
    }

    /// The same as a whole number: nanoseconds of [`REQUESTS`], or samples.
    #[expect(clippy::cast_possible_truncation, reason = "a number beyond i64 becomes the largest")]
    fn whole_cost(&self, side: &ExportedSide, samples: f64) -> i64 {
        let cost = self.cost(side, samples);
        (if side.cpu_ns_per_op.is_some() { cost * f64::from(REQUESTS) } else { cost }).round() as i64
    }
}

/// Lines of `thread;function;function cost`, the cost as a whole number; those that round to nothing are left out.
fn folded(exported: &Exported<'_>, side: &ExportedSide) -> String {
    let mut lines: BTreeMap<String, i64> = BTreeMap::new();
    for (thread, frames, samples) in exported.stacks(side) {
        let mut line = part(&exported.profile.threads[thread]);
        for frame in frames {
            line.push(';');
            line.push_str(&part(&exported.profile.frames[frame].function));
        }
        let cost = lines.entry(line).or_default();
        *cost = cost.saturating_add(exported.whole_cost(side, samples));
    }
    lines.into_iter().filter(|(_, cost)| *cost > 0).fold(String::new(), |mut text, (line, cost)| {
        // Writing to a String does not fail.
        let _ = writeln!(text, "{line} {cost}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::super::Frame;
    use super::super::profile::{Calls, Side};
    use super::*;

    pub(super) fn planted() -> Profile {
        let frame = |name: &str| Frame {
            function: name.to_owned(),
            file: Some("server.c".to_owned()),
            object: "server".to_owned(),
            inlined: false,
        };
        Profile {
            events: vec!["cpu-clock".to_owned()],
            threads: vec!["main".to_owned(), "bio;1\n".to_owned()],
            frames: vec![frame("main"), frame("get; 5\n"), Frame { file: None, ..frame("<script>") }],
            frame_cases: vec![1, 1, 1],
            nodes: Calls { thread: vec![0, 0, 1, 0], parent: vec![-1, 0, -1, 1], frame: vec![0, 1, 2, 2] },
            sides: vec![
                Side { samples: 100, own: vec![10.0, 60.0, 30.0, 0.0], ..Side::default() },
                Side { samples: 100, own: vec![10.0, 50.0, 0.0, 40.0], ..Side::default() },
            ],
            pruned_nodes: 0,
            part_samples: vec![100, 100],
        }
    }

    pub(super) fn of_side(profile: &Profile, side: usize, cpu_ns_per_op: Option<f64>) -> Exported<'_> {
        let side = ExportedSide { side, name: ["base", "head"][side].to_owned(), cpu_ns_per_op };
        Exported { profile, title: "get-100B".to_owned(), sides: vec![side] }
    }

    #[test]
    fn folded_lines_have_one_separator_of_each_kind() {
        let planted = planted();
        let text = export(&of_side(&planted, 0, None), Format::Folded).expect("exported");
        assert_eq!(String::from_utf8(text).expect("text"), "bio_1_;<script> 30\nmain;main 10\nmain;main;get_ 5_ 60\n");
        let text = export(&of_side(&planted, 1, Some(2.0)), Format::Folded).expect("exported");
        assert_eq!(
            String::from_utf8(text).expect("text"),
            "main;main 200000\nmain;main;get_ 5_ 1000000\nmain;main;get_ 5_;<script> 800000\n"
        );
    }

    #[test]
    fn formats_of_one_side_take_no_two() {
        let planted = planted();
        let mut both = of_side(&planted, 0, None);
        both.sides.extend(of_side(&planted, 1, None).sides);
        for format in [Format::Pprof, Format::Folded, Format::Callgrind, Format::Svg] {
            assert!(matches!(export(&both, format), Err(ExportError::Sides(2))));
        }
        assert!(export(&both, Format::Speedscope).is_ok() && export(&both, Format::Firefox).is_ok());
    }

    #[test]
    fn objects_are_of_a_kind() {
        for (object, kind) in [
            ("redis-server", Kind::Server),
            ("libc.so.6", Kind::Library),
            ("liblzf.so", Kind::Library),
            ("[vdso]", Kind::Library),
            ("[kernel]", Kind::Kernel),
            ("[nf_tables.ko]", Kind::Kernel),
            ("[other]", Kind::Other),
        ] {
            assert_eq!(kind_of(object), kind, "{object}");
        }
    }

    #[test]
    fn inconsistent_profiles_are_refused() {
        let mut planted = planted();
        let missing = Exported {
            sides: vec![ExportedSide { side: 2, name: String::new(), cpu_ns_per_op: None }],
            ..of_side(&planted, 0, None)
        };
        assert!(matches!(export(&missing, Format::Speedscope), Err(ExportError::NoSide(2))));
        planted.nodes.parent[1] = 1;
        assert!(matches!(export(&of_side(&planted, 0, None), Format::Folded), Err(ExportError::Inconsistent)));
    }
}
