//! How values are read. Each function returns a sentence when it cannot.

mod listening;
mod lists;
mod numbers;
mod slo;
mod uri;
mod words;

pub(super) use listening::listen_line;
pub(super) use lists::{MOST_DATA_BYTES, expiry_range, percentiles, size_list, size_range};
pub(super) use numbers::{nonzero, number, patience, positive, ratio, seconds, zipf_exponent};
pub(super) use slo::slo;
pub(super) use uri::{Place, Uri, uri};
pub(super) use words::SizePattern;
pub(super) use words::{
    arrivals, credentials, is_by_line, key_pattern, key_patterns, protocol, recording_order, size_pattern, tls_versions,
};
