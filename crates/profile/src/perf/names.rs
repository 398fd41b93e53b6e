//! Places in code as functions.

mod debug_file;
mod debug_info;
mod functions;
mod symbols;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::collect::{Code, Collected};
use super::error::StacksError;
use super::images::{ImageId, Images};
use super::kernel::KernelSymbols;
use crate::source_root::SourceRoot;
use crate::stacks::{Builder, Frame, Stacks, Thread};
use functions::Function;

const KERNEL: &str = "[kernel]";
const UNKNOWN: &str = "[unknown]";

/// The table of all samples, under the names of functions.
pub(super) fn table(collected: Collected, source_root: &str) -> Result<Stacks, StacksError> {
    let Collected { event, threads, samples, lost, mut images, kernel_start } = collected;
    let mut builder = Builder::default();
    let distinct: BTreeSet<Code> = samples.keys().flat_map(|(_, stack)| stack.iter().copied()).collect();
    let frames = frames(&distinct, &mut images, kernel_start, &SourceRoot::new(source_root), &mut builder);
    let threads: Vec<usize> = threads.into_iter().map(|name| builder.thread(&Thread { name })).collect();
    let too_many = || StacksError::TooMany { what: "samples", limit: usize::MAX };
    for ((thread, stack), samples) in samples {
        let mut of_stack: Vec<usize> = Vec::new();
        for frame in stack.iter().rev().filter_map(|code| frames.get(code)).flatten() {
            // Two places in a row without a name are one: nothing tells them apart.
            if !(frame.is_nameless && of_stack.last() == Some(&frame.index)) {
                of_stack.push(frame.index);
            }
        }
        if !builder.add(threads[thread], of_stack, samples) {
            return Err(too_many());
        }
    }
    builder.finish(event, lost).ok_or_else(too_many)
}

/// A frame of the table.
#[derive(Clone, Copy)]
struct Named {
    index: usize,
    is_nameless: bool,
}

/// The frames of each place, from the function that has the code to the innermost of those inlined there.
fn frames(
    distinct: &BTreeSet<Code>,
    images: &mut Images,
    kernel_start: Option<u64>,
    root: &SourceRoot,
    builder: &mut Builder,
) -> HashMap<Code, Vec<Named>> {
    let mut named = |function: Option<Function>, object: &str| {
        let is_nameless = function.is_none();
        let unknown = if object == KERNEL { KERNEL } else { UNKNOWN };
        let function = function.unwrap_or_else(|| Function { name: unknown.to_owned(), file: None, inlined: false });
        let Function { name, file, inlined } = function;
        let index = builder.frame(&Frame { function: name, file, object: object.to_owned(), inlined });
        Named { index, is_nameless }
    };
    let mut kernel: Option<KernelSymbols> = None;
    let mut by_image: BTreeMap<ImageId, Vec<u64>> = BTreeMap::new();
    let mut frames = HashMap::new();
    for code in distinct {
        match *code {
            Code::Kernel(address) => {
                let symbols =
                    kernel.get_or_insert_with(|| kernel_start.map(KernelSymbols::running).unwrap_or_default());
                let function = symbols.name(address).map(Function::without_file);
                frames.insert(*code, vec![named(function, KERNEL)]);
            }
            Code::Image(image, Some(address)) => by_image.entry(image).or_default().push(address),
            Code::Image(image, None) => drop(frames.insert(*code, vec![named(None, images.name(image))])),
            Code::Unknown => drop(frames.insert(*code, vec![named(None, UNKNOWN)])),
        }
    }
    for (image, addresses) in by_image {
        let object = images.name(image).to_owned();
        let mut functions = images.get(image).map(|image| functions::at(image, &addresses, root)).unwrap_or_default();
        for address in addresses {
            let of_place = functions.remove(&address).unwrap_or_default();
            let of_place = if of_place.is_empty() {
                vec![named(None, &object)]
            } else {
                of_place.into_iter().map(|function| named(Some(function), &object)).collect()
            };
            frames.insert(Code::Image(image, Some(address)), of_place);
        }
    }
    frames
}
