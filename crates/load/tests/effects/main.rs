//! What arguments do, as a server in this process sees it: amounts, keys, values, chance.

#[path = "../support/mod.rs"]
mod support;

mod amounts;
mod chance;
mod keys;
mod oddities;
mod spread_keys;
mod values;
