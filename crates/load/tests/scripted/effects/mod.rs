//! What arguments do, as a server in this process sees it: amounts, keys, values, chance, connections.

mod amounts;
mod chance;
mod connecting;
mod encryption;
mod endpoints;
mod expiry;
mod keys;
mod listeners;
mod listeners_in_trouble;
mod oddities;
mod open_files;
mod reconnecting;
mod recordings;
mod renewing;
mod scan;
mod spread_keys;
mod values;
mod verifying;
