//! Series over commits: change points and drift.

use pyo3::prelude::*;
use zerolap_stats::change_points::{self, Kind, SeriesPoint};
use zerolap_stats::drift;

use crate::errors::value_error;

#[pyclass(frozen, get_all, module = "zerolap._core")]
pub(crate) struct ChangePoint {
    index: usize,
    first: usize,
    last: usize,
    before: f64,
    after: f64,
    low: f64,
    high: f64,
    gain: f64,
    p: f64,
    ramp: bool,
}

#[pymethods]
impl ChangePoint {
    fn __repr__(&self) -> String {
        let Self { index, before, after, p, .. } = self;
        format!("ChangePoint(index={index}, before={before}, after={after}, p={p})")
    }
}

impl From<&change_points::ChangePoint> for ChangePoint {
    fn from(change: &change_points::ChangePoint) -> Self {
        Self {
            index: change.index,
            first: change.places.0,
            last: change.places.1,
            before: change.before,
            after: change.after,
            low: change.interval.0,
            high: change.interval.1,
            gain: change.gain,
            p: change.p,
            ramp: change.kind == Kind::Ramp,
        }
    }
}

/// `disturbed` has the first point, the one after the last, and the p of each stretch.
#[pyclass(frozen, get_all, module = "zerolap._core")]
#[expect(clippy::struct_field_names, reason = "the name that Python knows it by")]
pub(crate) struct Changes {
    changes: Vec<Py<ChangePoint>>,
    spikes: Vec<usize>,
    disturbed: Vec<(usize, usize, f64)>,
    noise_sd: f64,
    long_run_factor: f64,
}

#[pyclass(module = "zerolap._core")]
pub(crate) struct ChangeSearch {
    search: change_points::ChangeSearch,
}

#[pymethods]
impl ChangeSearch {
    #[new]
    fn new(level: f64, known_variances: bool) -> PyResult<Self> {
        change_points::ChangeSearch::new(level, known_variances).map(|search| Self { search }).map_err(value_error)
    }

    fn __len__(&self) -> usize {
        self.search.len()
    }

    /// Variances are 1 and penalties 0 where none are given.
    #[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
    fn extend(&mut self, values: Vec<f64>, variances: Option<Vec<f64>>, penalties: Option<Vec<f64>>) -> PyResult<()> {
        for given in [&variances, &penalties].into_iter().flatten() {
            if given.len() != values.len() {
                return Err(value_error("values, variances and penalties are not equally many"));
            }
        }
        for (index, value) in values.into_iter().enumerate() {
            let variance = variances.as_ref().map_or(1.0, |variances| variances[index]);
            let penalty = penalties.as_ref().map_or(0.0, |penalties| penalties[index]);
            self.search.push(SeriesPoint { value, variance, penalty }).map_err(value_error)?;
        }
        Ok(())
    }

    fn changes(&mut self, py: Python<'_>) -> PyResult<Changes> {
        let found = py.detach(|| self.search.changes());
        Ok(Changes {
            changes: found
                .changes
                .iter()
                .map(|change| Py::new(py, ChangePoint::from(change)))
                .collect::<PyResult<_>>()?,
            spikes: found.spikes,
            disturbed: found.disturbed.iter().map(|stretch| (stretch.start, stretch.end, stretch.p)).collect(),
            noise_sd: found.noise_sd,
            long_run_factor: found.long_run_factor,
        })
    }
}

/// Returns the point of the alarm, the first point of the departure, and whether it is upwards.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn cusum(residuals: Vec<f64>, slack: f64, limit: f64) -> PyResult<Option<(usize, usize, bool)>> {
    let alarm = drift::cusum(&residuals, slack, limit).map_err(value_error)?;
    Ok(alarm.map(|alarm| (alarm.index, alarm.start, alarm.up)))
}

/// Returns the slope and the ends of its interval.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn slope(
    py: Python<'_>,
    positions: Vec<f64>,
    values: Vec<f64>,
    long_run_factor: f64,
) -> PyResult<(f64, f64, f64)> {
    let slope = py.detach(|| drift::slope(&positions, &values, long_run_factor)).map_err(value_error)?;
    Ok((slope.slope, slope.low, slope.high))
}

#[pyfunction]
pub(crate) fn equivalence(change: f64, error: f64, degrees: f64, margin: f64) -> PyResult<(f64, f64)> {
    drift::equivalence(change, error, degrees, margin).map_err(value_error)
}
