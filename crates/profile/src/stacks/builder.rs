//! Samples on the way to a table.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use super::{Frame, SCHEMA, Stack, Stacks, Thread};

/// Takes samples in any order.
#[derive(Default)]
pub(crate) struct Builder {
    threads: Interner<Thread>,
    frames: Interner<Frame>,
    samples: HashMap<(usize, Vec<usize>), u64>,
}

impl Builder {
    pub(crate) fn thread(&mut self, thread: &Thread) -> usize {
        self.threads.index(thread)
    }

    pub(crate) fn frame(&mut self, frame: &Frame) -> usize {
        self.frames.index(frame)
    }

    /// Adds samples of a stack, from the root to the leaf; false when they are too many to be counted.
    #[must_use]
    pub(crate) fn add(&mut self, thread: usize, frames: Vec<usize>, samples: u64) -> bool {
        let sum = self.samples.entry((thread, frames)).or_default();
        sum.checked_add(samples).map(|total| *sum = total).is_some()
    }

    /// None when the samples of all stacks are too many to be counted.
    pub(crate) fn finish(self, event: String, lost: u64) -> Option<Stacks> {
        let (threads, new_thread) = self.threads.sorted();
        let (frames, new_frame) = self.frames.sorted();
        let samples: BTreeMap<(usize, Vec<usize>), u64> = (self.samples.into_iter())
            .map(|((thread, frames), samples)| {
                ((new_thread[thread], frames.into_iter().map(|frame| new_frame[frame]).collect()), samples)
            })
            .collect();
        let total = samples.values().try_fold(0_u64, |sum, samples| sum.checked_add(*samples))?;
        let stacks = samples.into_iter().map(|((thread, frames), samples)| Stack { thread, frames, samples }).collect();
        Some(Stacks { schema: SCHEMA.to_owned(), event, samples: total, lost, threads, frames, stacks })
    }
}

struct Interner<T>(HashMap<T, usize>);

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Clone + Eq + Hash + Ord> Interner<T> {
    fn index(&mut self, entry: &T) -> usize {
        if let Some(known) = self.0.get(entry) {
            return *known;
        }
        let index = self.0.len();
        self.0.insert(entry.clone(), index);
        index
    }

    /// The entries in order, and the new index of each old one.
    fn sorted(self) -> (Vec<T>, Vec<usize>) {
        let mut entries: Vec<(T, usize)> = self.0.into_iter().collect();
        entries.sort_unstable();
        let mut new_index = vec![0; entries.len()];
        for (new, (_, old)) in entries.iter().enumerate() {
            new_index[*old] = new;
        }
        (entries.into_iter().map(|(entry, _)| entry).collect(), new_index)
    }
}
