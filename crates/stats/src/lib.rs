//! Paired comparisons and multiplicity.
//!
//! [`paired`] estimates how much a metric changed between two sides and how sure that is, [`moderated`] does so from few
//! samples and the spread of similar comparisons; [`multiplicity`] adjusts the p values of many such
//! comparisons. Pure functions on numbers; what a number means is the caller's business.

pub mod levels;
pub mod moderated;
pub mod multiplicity;
pub mod paired;
