//! Paired comparisons and multiplicity.
//!
//! [`paired`] says how much a metric changed between two sides and how sure that is, [`moderated`] does so from few
//! samples with what comparisons alike say of the spread; [`multiplicity`] adjusts the p values of many such
//! comparisons. Pure functions on numbers; what a number means is the caller's business.

pub mod moderated;
pub mod multiplicity;
pub mod paired;
