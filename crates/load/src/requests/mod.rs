//! What a connection sends: commands in rotation, with keys and values of its own.

mod all_keys;
mod command;
mod consecutive;
mod data;
mod gaussian;
mod keys;
mod made_values;
mod range;
mod recording;
mod scan;
mod settings;
mod sizes;
mod source;
mod special;
mod stream;
#[cfg(test)]
mod tests;
mod zipf;

pub(crate) use all_keys::requests_for_all_keys;
pub use command::{Command, KeyPattern};
pub(crate) use consecutive::ConsecutiveKeys;
pub(crate) use data::DataPool;
pub(crate) use made_values::MadeValues;
pub use range::KeyRange;
pub(crate) use recording::{Recording, RecordingOrder};
pub use settings::{DataSettings, DataSizes, KeySettings};
pub(crate) use source::{Expiry, Recorded, Source};
pub(crate) use stream::RequestStream;
