//! What can be counted.

/// In which mode of the processor an event is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// In the program itself.
    User,
    /// In the kernel, on the program's behalf.
    Kernel,
}

/// What is counted, of a thread and those that it starts. The last three are the kernel's own: they need no counter of
/// the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// Retired instructions of the program.
    Instructions,
    /// Cycles spent in the program.
    Cycles,
    /// Cycles spent in the kernel.
    KernelCycles,
    /// Branches of the program that were predicted wrongly.
    BranchMisses,
    /// Retired instructions of the kernel.
    KernelInstructions,
    /// Accesses of the program that missed the last level of the cache.
    CacheMisses,
    /// Reads of the program whose page was in no translation lookaside buffer.
    TlbMisses,
    /// Nanoseconds on a processor.
    TaskClock,
    /// Page faults of the program.
    PageFaults,
    /// How often a thread left its processor.
    ContextSwitches,
}

impl Event {
    /// All events.
    pub const ALL: [Self; 10] = [
        Self::Instructions,
        Self::Cycles,
        Self::KernelCycles,
        Self::BranchMisses,
        Self::KernelInstructions,
        Self::CacheMisses,
        Self::TlbMisses,
        Self::TaskClock,
        Self::PageFaults,
        Self::ContextSwitches,
    ];

    /// The name by which `perf stat --event` knows it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions:u",
            Self::Cycles => "cycles:u",
            Self::KernelCycles => "cycles:k",
            Self::BranchMisses => "branch-misses:u",
            Self::KernelInstructions => "instructions:k",
            Self::CacheMisses => "cache-misses:u",
            Self::TlbMisses => "dTLB-load-misses:u",
            Self::TaskClock => "task-clock:u",
            Self::PageFaults => "page-faults:u",
            Self::ContextSwitches => "context-switches:k",
        }
    }

    /// The event of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }

    /// The mode in which it is counted.
    #[must_use]
    pub fn level(self) -> Level {
        match self {
            Self::KernelCycles | Self::KernelInstructions | Self::ContextSwitches => Level::Kernel,
            _ => Level::User,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, Level};

    #[test]
    fn names_are_those_of_perf_with_the_level() {
        for event in Event::ALL {
            assert_eq!(Event::named(event.name()), Some(event));
            let suffix = if event.level() == Level::Kernel { ":k" } else { ":u" };
            assert!(event.name().ends_with(suffix), "{event:?}");
        }
        assert_eq!(Event::named("instructions"), None);
    }
}
