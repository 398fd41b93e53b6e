//! Paired comparisons, multiplicity, and series over commits.
//!
//! [`paired`] estimates how much a metric changed between two sides and how sure that is, [`moderated`] does so from few
//! samples and the spread of similar comparisons; [`multiplicity`] adjusts the p values of many such
//! comparisons; [`change_points`] and [`drift`] say where a series of levels changed. Pure functions on numbers; what a
//! number means is the caller's business.

pub mod change_points;
pub mod drift;
pub mod levels;
pub mod moderated;
pub mod multiplicity;
pub mod paired;
