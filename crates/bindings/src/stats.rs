//! Comparisons.

use pyo3::prelude::*;
use zerolap_stats::levels::{self, Contrast, Level};
use zerolap_stats::moderated::{self, SeenVariance, VariancePrior};
use zerolap_stats::multiplicity;
use zerolap_stats::paired::{self, PairedError};

use crate::errors::{ZeroSideError, value_error};

#[pyclass(frozen, get_all, module = "zerolap._core")]
pub(crate) struct PairedChange {
    change: f64,
    low: f64,
    high: f64,
    p: f64,
    sd: f64,
    detectable: f64,
    pairs: usize,
}

#[pymethods]
impl PairedChange {
    fn __repr__(&self) -> String {
        let Self { change, low, high, p, pairs, .. } = self;
        format!("PairedChange(change={change}, low={low}, high={high}, p={p}, pairs={pairs})")
    }
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn paired_change(
    py: Python<'_>,
    base: Vec<f64>,
    head: Vec<f64>,
    sd_floor: f64,
    confidence: f64,
) -> PyResult<PairedChange> {
    let found =
        py.detach(|| paired::paired_change(&base, &head, sd_floor, confidence)).map_err(|error| match error {
            PairedError::ZeroSide => ZeroSideError::new_err(error.to_string()),
            other => value_error(other),
        })?;
    Ok(found.into())
}

impl From<paired::PairedChange> for PairedChange {
    fn from(found: paired::PairedChange) -> Self {
        let paired::PairedChange { change, low, high, p, sd, detectable, pairs } = found;
        Self { change, low, high, p, sd, detectable, pairs }
    }
}

/// `prior` is variance and degrees of freedom.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn moderated_change(
    py: Python<'_>,
    log_ratios: Vec<f64>,
    prior: Option<(f64, f64)>,
    sd_floor: f64,
    confidence: f64,
) -> PyResult<PairedChange> {
    let prior = prior.map(|(variance, degrees)| VariancePrior { variance, degrees });
    py.detach(|| moderated::moderated_change(&log_ratios, prior, sd_floor, confidence))
        .map(PairedChange::from)
        .map_err(value_error)
}

/// Takes and returns variances with their degrees of freedom.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn fit_prior(variances: Vec<(f64, f64)>) -> Option<(f64, f64)> {
    let seen: Vec<_> = variances.iter().map(|&(variance, degrees)| SeenVariance { variance, degrees }).collect();
    moderated::fit_prior(&seen).map(|prior| (prior.variance, prior.degrees))
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn variances_agree(first: Vec<(f64, f64)>, second: Vec<(f64, f64)>) -> bool {
    let seen = |variances: &[(f64, f64)]| -> Vec<SeenVariance> {
        variances.iter().map(|&(variance, degrees)| SeenVariance { variance, degrees }).collect()
    };
    moderated::variances_agree(&seen(&first), &seen(&second))
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn sample_variance(values: Vec<f64>) -> Option<(f64, f64)> {
    moderated::sample_variance(&values).map(|seen| (seen.variance, seen.degrees))
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn trimmed_mean(values: Vec<f64>) -> Option<f64> {
    moderated::trimmed_mean(&values)
}

#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn adjust_p(py: Python<'_>, values: Vec<f64>) -> PyResult<Vec<f64>> {
    py.detach(|| multiplicity::adjusted_p(&values)).map_err(value_error)
}

/// A level with its variance; none where it is not known.
type KnownLevel = Option<(f64, f64)>;

/// Contrasts are base, head, value and variance; steps are pairs of nodes.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what is taken from Python is owned")]
pub(crate) fn graph_levels(
    py: Python<'_>,
    nodes: usize,
    contrasts: Vec<(usize, usize, f64, f64)>,
    reference: usize,
    steps: Vec<(usize, usize)>,
) -> PyResult<(Vec<KnownLevel>, Vec<KnownLevel>)> {
    if reference >= nodes {
        return Err(value_error("the reference is no node"));
    }
    let contrasts: Vec<_> =
        contrasts.into_iter().map(|(base, head, value, variance)| Contrast { base, head, value, variance }).collect();
    Ok(py.detach(|| {
        let estimated = levels::levels(nodes, &contrasts, reference);
        let pair = |level: Level| (level.value, level.variance);
        let of_nodes = (0..nodes).map(|node| estimated.of(node).map(pair)).collect();
        let of_steps = steps.iter().map(|&(from, to)| estimated.step(from, to).map(pair)).collect();
        (of_nodes, of_steps)
    }))
}
