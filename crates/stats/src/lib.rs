//! Paired comparisons and multiplicity.
//!
//! [`paired`] says how much a metric changed between two sides and how sure that is; [`multiplicity`] adjusts the p
//! values of many such comparisons. Pure functions on numbers; what a number means is the caller's business.

pub mod multiplicity;
pub mod paired;
