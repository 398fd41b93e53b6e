//! A flame graph as a picture: SVG without scripts and without anything to fetch, for light and dark pages.

use std::fmt::Write as _;

use super::{Exported, ExportedSide, Kind, kind_of, plain};
use crate::stacks::profile::inclusive;

const WIDTH: f64 = 1200.0;
const MARGIN: f64 = 10.0;
const ROW: f64 = 17.0;
/// Above the graph: the title, what a width means, the colours.
const HEAD: f64 = 66.0;
/// Of a letter of the names, which have one width.
const LETTER: f64 = 6.65;
/// Narrower frames are not drawn.
const NARROWEST: f64 = 0.4;
/// So many frames are drawn at most, the widest.
const MOST_FRAMES: usize = 20_000;
/// So many calls deep, the thread and the row of all included; a deeper frame is part of its caller.
const MOST_ROWS: usize = 160;
/// So long is a name, in characters: programs under test choose their own.
const LONGEST_NAME: usize = 200;
const SHADES: usize = 4;

const STYLE: &str = "\
.paper{fill:#ffffff}
text{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1a1d21}
.title{font-size:15px;font-weight:bold}
.note{fill:#4d5560}
.all{fill:#dfe3e8}.thread{fill:#c3c9d1}
.server{fill:#f2b457}.inlined{fill:#d9c35c}.library{fill:#7cc4a6}.kernel{fill:#c3a2e0}.other{fill:#b0bac6}
.s1{fill-opacity:.88}.s2{fill-opacity:.76}.s3{fill-opacity:.64}
@media (prefers-color-scheme:dark){
.paper{fill:#14171b}
text{fill:#e8eaed}
.note{fill:#aab2bc}
.all{fill:#363d46}.thread{fill:#4a525d}
.server{fill:#96610f}.inlined{fill:#6f6216}.library{fill:#2b7355}.kernel{fill:#70508f}.other{fill:#56606d}
}";

/// What the colours stand for, by the class of the style.
const COLOURS: [(&str, &str); 5] =
    [("server", "server"), ("inlined", "inlined"), ("library", "libraries"), ("kernel", "kernel"), ("other", "other")];

/// A rectangle of the graph.
struct Frame {
    /// From the bottom: 0 is the row of all samples.
    row: usize,
    /// Samples to its left, and its own with all that it calls.
    before: f64,
    samples: f64,
    class: &'static str,
    name: String,
    /// File or object, empty where there is none.
    place: String,
}

/// One side: a frame as wide as its share of the samples, callees included, above its caller; threads are below the
/// functions that they began with. Frames beside each other are in the order of their names.
pub(super) fn write(exported: &Exported<'_>, side: &ExportedSide) -> String {
    let weights = inclusive(&exported.profile.nodes.parent, &exported.profile.sides[side.side].own);
    let graph = Graph::of(exported, &weights);
    let rows = graph.frames.iter().map(|frame| frame.row + 1).max().unwrap_or(1) as f64;
    let height = HEAD + rows * ROW + MARGIN;
    let mut picture = Picture { exported, side, total: graph.total, height, text: String::new() };
    picture.head(&format!("{}, {}", exported.title, side.name), graph.left_out);
    graph.frames.iter().for_each(|frame| picture.frame(frame));
    picture.text.push_str("</svg>\n");
    picture.text
}

struct Graph {
    frames: Vec<Frame>,
    total: f64,
    /// Number of nodes that are too narrow or too deep.
    left_out: usize,
}

impl Graph {
    /// `weights` are those of the nodes, callees included.
    fn of(exported: &Exported<'_>, weights: &[f64]) -> Self {
        let Tree { mut roots, children } = Tree::of(exported, weights);
        let total: f64 = roots.iter().map(|(_, samples, _)| samples).sum();
        let least = narrowest(weights, total);
        let all = if exported.is_of_waits() { "all waits" } else { "all samples" }.to_owned();
        let mut frames =
            vec![Frame { row: 0, before: 0.0, samples: total, class: "all", name: all, place: String::new() }];
        roots.retain(|(_, samples, _)| *samples > 0.0 && *samples >= least);
        let mut waiting: Vec<(usize, f64, usize)> = Vec::new();
        let mut before = 0.0;
        for (thread, samples, nodes) in roots {
            let name = exported.profile.threads[thread].clone();
            frames.push(Frame { row: 1, before, samples, class: "thread", name, place: "thread".to_owned() });
            side_by_side(&mut waiting, &nodes, weights, before, 2);
            before += samples;
        }
        let above_functions = frames.len();
        while let Some((node, before, row)) = waiting.pop() {
            if weights[node] < least || row >= MOST_ROWS {
                continue;
            }
            frames.push(function(exported, node, before, weights[node], row));
            side_by_side(&mut waiting, &children[node], weights, before, row + 1);
        }
        let drawn = frames.len() - above_functions;
        let left_out = weights.iter().filter(|weight| **weight > 0.0).count() - drawn;
        Self { frames, total, left_out }
    }
}

/// Adds nodes that are beside each other with the samples to the left of each.
fn side_by_side(waiting: &mut Vec<(usize, f64, usize)>, nodes: &[usize], weights: &[f64], before: f64, row: usize) {
    let mut before = before;
    for node in nodes {
        waiting.push((*node, before, row));
        before += weights[*node];
    }
}

fn function(exported: &Exported<'_>, node: usize, before: f64, samples: f64, row: usize) -> Frame {
    let frame = &exported.profile.frames[exported.profile.nodes.frame[node]];
    let class = match kind_of(&frame.object) {
        _ if frame.inlined => "inlined",
        Kind::Server => "server",
        Kind::Library => "library",
        Kind::Kernel => "kernel",
        Kind::Other => "other",
    };
    let place = frame.file.clone().unwrap_or_else(|| frame.object.clone());
    Frame { row, before, samples, class, name: frame.function.clone(), place }
}

/// Nodes with samples, in the order in which they are drawn.
struct Tree {
    /// Number of each thread, its samples, its roots; the thread with the most samples first.
    roots: Vec<(usize, f64, Vec<usize>)>,
    children: Vec<Vec<usize>>,
}

impl Tree {
    fn of(exported: &Exported<'_>, weights: &[f64]) -> Self {
        let nodes = &exported.profile.nodes;
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); weights.len()];
        let mut roots: Vec<(usize, f64, Vec<usize>)> =
            (0..exported.profile.threads.len()).map(|thread| (thread, 0.0, Vec::new())).collect();
        for (node, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            if let Ok(parent) = usize::try_from(nodes.parent[node]) {
                children[parent].push(node);
            } else {
                let (_, samples, of_thread) = &mut roots[nodes.thread[node]];
                *samples += weight;
                of_thread.push(node);
            }
        }
        let name = |node: &usize| &*exported.profile.frames[nodes.frame[*node]].function;
        for beside in children.iter_mut().chain(roots.iter_mut().map(|(_, _, nodes)| nodes)) {
            beside.sort_by(|left, right| name(left).cmp(name(right)));
        }
        roots.sort_by(|(_, left, _), (_, right, _)| right.total_cmp(left));
        Self { roots, children }
    }
}

/// The samples from which frames are drawn, so that they are wide enough and not too many.
fn narrowest(weights: &[f64], total: f64) -> f64 {
    let least = NARROWEST * total / (WIDTH - 2.0 * MARGIN);
    let mut drawn: Vec<f64> = weights.iter().copied().filter(|weight| *weight > 0.0 && *weight >= least).collect();
    drawn.sort_by(|left, right| right.total_cmp(left));
    // The widest that is too many is left out with all that are as wide.
    drawn.get(MOST_FRAMES).map_or(least, |weight| weight.next_up())
}

/// The text of the picture as it grows.
struct Picture<'a> {
    exported: &'a Exported<'a>,
    side: &'a ExportedSide,
    total: f64,
    height: f64,
    text: String,
}

// Writing to a String does not fail: the results of writing are left alone here.
impl Picture<'_> {
    fn head(&mut self, title: &str, left_out: usize) {
        let title = escaped(title, LONGEST_NAME);
        let height = self.height;
        let _ = write!(
            self.text,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\" aria-label=\"Flame graph: {title}\">\n<style>\n{STYLE}\n</style>\n\
             <rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n\
             <text class=\"title\" x=\"{MARGIN}\" y=\"20\">{title}</text>\n"
        );
        let is_of_waits = self.exported.is_of_waits();
        let width = match self.side.cpu_ns_per_op {
            Some(_) if is_of_waits => format!("Width: time off the processor, of {} in all", self.cost(self.total)),
            Some(_) => format!("Width: CPU time, of {} in all", self.cost(self.total)),
            None if is_of_waits => format!("Width: ns off the processor, of {:.0} in all", self.total),
            None => format!("Width: samples, of {:.0} in all", self.total),
        };
        let calls = if left_out == 1 { "call is" } else { "calls are" };
        let rest = if left_out > 0 {
            format!(" {left_out} {calls} too narrow or too deep to be drawn.")
        } else {
            String::new()
        };
        let _ = writeln!(
            self.text,
            "<text class=\"note\" x=\"{MARGIN}\" y=\"37\">{width}. Callers are below what they call.{rest}</text>"
        );
        let mut x = MARGIN;
        for (class, label) in COLOURS {
            let _ = writeln!(
                self.text,
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"45\" width=\"11\" height=\"11\"/>\
                 <text class=\"note\" x=\"{:.1}\" y=\"54\">{label}</text>",
                x + 15.0
            );
            x += 31.0 + LETTER * label.len() as f64;
        }
    }

    fn frame(&mut self, frame: &Frame) {
        let total = if self.total > 0.0 { self.total } else { 1.0 };
        let scale = (WIDTH - 2.0 * MARGIN) / total;
        let (x, width) = (MARGIN + frame.before * scale, frame.samples * scale);
        let y = self.height - MARGIN - (frame.row + 1) as f64 * ROW;
        let percent = 100.0 * frame.samples / total;
        let cost = self.cost(frame.samples);
        let name = escaped(&frame.name, LONGEST_NAME);
        let place = escaped(&frame.place, LONGEST_NAME);
        let place = if place.is_empty() { place } else { format!(" ({place})") };
        let class = match shade(&frame.name) {
            shade if frame.row >= 2 && shade > 0 => format!("{} s{shade}", frame.class),
            _ => frame.class.to_owned(),
        };
        let _ = write!(
            self.text,
            "<g><title>{name}{place}: {percent:.2} %, {cost}</title>\
             <rect class=\"{class}\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{:.2}\" height=\"{}\"/>",
            // A gap between neighbours, unless nothing would be left.
            if width > 2.0 { width - 0.5 } else { width },
            ROW - 1.0
        );
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a width of the picture is small")]
        let letters = ((width - 6.0) / LETTER).max(0.0) as usize;
        if letters >= 3 {
            let label = escaped(&frame.name, letters);
            let _ = write!(self.text, "<text x=\"{:.2}\" y=\"{:.1}\">{label}</text>", x + 3.0, y + 12.0);
        }
        self.text.push_str("</g>\n");
    }

    /// What samples cost, as a reader sees it.
    fn cost(&self, samples: f64) -> String {
        let cost = self.exported.cost(self.side, samples);
        match self.side.cpu_ns_per_op {
            Some(_) if cost < 10.0 => format!("{cost:.2} ns of a request"),
            Some(_) => format!("{cost:.0} ns of a request"),
            None if self.exported.is_of_waits() => format!("{cost:.0} ns"),
            None => format!("{cost:.0} samples"),
        }
    }
}

/// A shade that a name alone decides, so that functions keep theirs in all pictures.
fn shade(name: &str) -> usize {
    name.chars().fold(7_usize, |sum, letter| sum.wrapping_mul(31).wrapping_add(letter as usize)) % SHADES
}

/// A text of others for an element or an attribute, in at most so many characters.
fn escaped(text: &str, most: usize) -> String {
    let plain = plain(text);
    let mut shown: Vec<char> = plain.chars().take(most + 1).collect();
    if shown.len() > most {
        shown.truncate(most.saturating_sub(1));
        shown.push('…');
    }
    shown.into_iter().fold(String::new(), |mut escaped, letter| {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(letter),
        }
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{of_side, planted};
    use super::super::{Format, export};
    use super::*;
    use crate::stacks::profile::Calls;

    fn picture(exported: &Exported<'_>) -> String {
        String::from_utf8(export(exported, Format::Svg).expect("exported")).expect("text")
    }

    #[test]
    fn frames_are_as_wide_as_their_shares_and_above_their_callers() {
        let planted = planted();
        let written = picture(&of_side(&planted, 0, Some(1000.0)));
        assert!(written.contains("Width: CPU time, of 1000 ns of a request in all."), "{written}");
        // All, two threads, main with what it calls, the other thread's function.
        assert_eq!(written.matches("<g>").count(), 6);
        assert!(written.contains("<title>all samples: 100.00 %, 1000 ns of a request</title>"));
        assert!(written.contains("<title>main (thread): 70.00 %, 700 ns of a request</title>"));
        assert!(written.contains("<title>get; 5_ (server.c): 60.00 %, 600 ns of a request</title>"));
        let of_samples = picture(&of_side(&planted, 0, None));
        assert!(of_samples.contains("<title>get; 5_ (server.c): 60.00 %, 60 samples</title>"));
        // Rows lie upwards: the root's is the lowest.
        let bottom = HEAD + 4.0 * ROW;
        for row in [1.0, 2.0, 3.0, 4.0] {
            assert!(written.contains(&format!("y=\"{:.1}\"", bottom - row * ROW)), "{written}");
        }
    }

    #[test]
    fn waits_are_no_samples_and_no_cpu_time() {
        let mut planted = planted();
        planted.events = vec!["off-cpu".to_owned()];
        let written = picture(&of_side(&planted, 0, Some(1000.0)));
        assert!(written.contains("Width: time off the processor, of 1000 ns of a request in all."), "{written}");
        assert!(written.contains("<title>all waits: 100.00 %, 1000 ns of a request</title>"));
        let without_requests = picture(&of_side(&planted, 0, None));
        assert!(without_requests.contains("<title>get; 5_ (server.c): 60.00 %, 60 ns</title>"));
        assert!(!without_requests.contains("samples"));
    }

    #[test]
    fn names_are_texts() {
        let mut planted = planted();
        planted.frames[1].function = "a\0b\u{202e}c\u{fffe}\"'&]]>".to_owned();
        planted.frames[1].file = Some("</title><script>x</script>".to_owned());
        let mut exported = of_side(&planted, 0, None);
        exported.title = "\"/><script>".to_owned();
        let written = picture(&exported);
        assert!(!written.contains("<script"), "{written}");
        assert!(written.contains("a_b_c_&quot;&#39;&amp;]]&gt;"), "{written}");
        assert!(written.contains("(&lt;/title&gt;&lt;script&gt;x&lt;/script&gt;)"), "{written}");
        assert_eq!(written.matches("<svg").count(), written.matches("</svg>").count());
    }

    /// A profile of so many functions that main calls, and of a stack that is so deep.
    fn large(wide: usize, deep: usize) -> super::super::Profile {
        let mut large = planted();
        let size = 1 + wide + deep;
        large.frames[1].function = "x".repeat(10_000);
        large.nodes = Calls {
            thread: vec![0; size],
            parent: (0..size)
                .map(|node| match node {
                    0 => -1,
                    _ if node <= wide => 0,
                    _ => node.cast_signed() as i64 - 1,
                })
                .collect(),
            frame: (0..size).map(|node| usize::from(node > 0)).collect(),
        };
        large.sides.truncate(1);
        large.sides[0].own = vec![1.0; size];
        large
    }

    #[test]
    fn pictures_are_bounded() {
        // Each is as wide as a pixel at most: only the deep stack is drawn, as far as there is room.
        let many = large(100_000, 1_000);
        let written = picture(&of_side(&many, 0, None));
        assert!(written.len() < 200_000, "{}", written.len());
        assert!(written.contains("too narrow or too deep"));
        let deep = large(1, 1_000);
        let written = picture(&of_side(&deep, 0, None));
        assert_eq!(written.matches("<g>").count(), MOST_ROWS);
        assert!(written.len() < 200_000, "{}", written.len());
        assert!(!written.contains(&"x".repeat(LONGEST_NAME)));
        // Wide enough, and too many: 60 rows of a thousand frames.
        assert!(narrowest(&vec![1.0; 60_000], 1_000.0) > 1.0);
        let distinct: Vec<f64> = (1..=60_000_u32).map(f64::from).collect();
        let least = narrowest(&distinct, 60_000.0);
        assert_eq!(distinct.iter().filter(|weight| **weight >= least).count(), MOST_FRAMES);
    }

    #[test]
    fn nothing_is_a_picture_too() {
        let mut empty = planted();
        empty.sides[0].own = vec![0.0; 4];
        let written = picture(&of_side(&empty, 0, None));
        assert_eq!(written.matches("<g>").count(), 1);
        assert!(!written.contains("NaN") && !written.contains("inf"));
    }
}
