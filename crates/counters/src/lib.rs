//! Counts what the threads of running processes do, by the processor's counters: `perf_event_open(2)`.
//!
//! [`fitting`] finds out which events a machine counts at the same time, [`Counting`] attaches them to processes. A
//! processor has few counters: events are in groups, all of whose events count at the same time or not at all. A group
//! that shares its counters with others would be scaled up from a part of the time; such a reading is refused.
//! [`Machine`] is the edge to the system: [`Linux`] or, in tests, a simulation of another machine.

mod counting;
mod event;
mod fitting;
mod linux;
mod machine;
mod refusal;
#[cfg(test)]
mod simulated;

pub use counting::{AttachError, Counting, Counts, Reading};
pub use event::{Event, Level};
pub use fitting::{Fitting, fitting};
pub use linux::Linux;
pub use machine::{GroupReading, Machine};
pub use refusal::Refusal;
