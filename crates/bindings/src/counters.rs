//! The processor's counters.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use zerolap_counters::{Counting, Event, Linux, Reading};

use crate::errors::value_error;

static MACHINE: Linux = Linux;

/// Groups of events, and the events in none of them with the reason.
type Fitting = (Vec<Vec<&'static str>>, Vec<(&'static str, String)>);

#[pyfunction]
pub(crate) fn fitting_counters(py: Python<'_>) -> Fitting {
    let found = py.detach(|| zerolap_counters::fitting(&MACHINE));
    let names = |group: Vec<Event>| group.into_iter().map(Event::name).collect();
    let refused = found.refused.iter().map(|(event, refusal)| (event.name(), refusal.to_string())).collect();
    (found.groups.into_iter().map(names).collect(), refused)
}

#[pyclass(module = "zerolap._core")]
pub(crate) struct ProcessCounters {
    counting: Counting<'static, Linux>,
    begun: Reading,
}

#[pymethods]
impl ProcessCounters {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
    fn new(processes: Vec<u32>, groups: Vec<Vec<String>>) -> PyResult<Self> {
        let groups: Vec<Vec<Event>> =
            groups.iter().map(|group| group.iter().map(|name| event_named(name)).collect()).collect::<PyResult<_>>()?;
        let mut counting =
            Counting::attach(&MACHINE, &processes, &groups).map_err(|error| PyOSError::new_err(error.to_string()))?;
        let begun = counting.read();
        Ok(Self { counting, begun })
    }

    fn begin(&mut self) {
        self.begun = self.counting.read();
    }

    fn end(&mut self) -> (Vec<(&'static str, u64)>, Vec<String>) {
        let ended = self.counting.read();
        let counts = self.counting.between(&self.begun, &ended);
        let values = counts.values.into_iter().map(|(event, value)| (event.name(), value)).collect();
        let refused =
            counts.refused.into_iter().map(|(event, refusal)| format!("{}: {refusal}", event.name())).collect();
        (values, refused)
    }
}

fn event_named(name: &str) -> PyResult<Event> {
    Event::named(name).ok_or_else(|| value_error(format_args!("there is no event `{name}`")))
}
