//! What is asked of a load generator, and what it therefore sends.
//!
//! [`Settings`] say what to send, where to and how; a [`Plan`] says how much and when. A [`RequestStream`] is what one
//! connection sends: commands in rotation, with keys and values of its own, drawn from [`Random`] streams that depend on
//! the seed alone. [`Recording`]s are sent as they were recorded.

#![forbid(unsafe_code)]

mod all_keys;
mod command;
mod consecutive;
mod data;
mod endpoint;
mod gaussian;
mod keys;
mod made_values;
mod plan;
mod random;
mod range;
mod recording;
mod scan;
mod settings;
mod sizes;
mod slo;
mod source;
mod special;
mod stream;
mod work;
mod zipf;

pub use all_keys::requests_for_all_keys;
pub use command::{Command, KeyPattern};
pub use consecutive::ConsecutiveKeys;
pub use data::DataPool;
pub use endpoint::Endpoint;
pub use made_values::MadeValues;
pub use plan::Plan;
pub use random::{Purpose, Random};
pub use range::KeyRange;
pub use recording::{Recording, RecordingOrder};
pub use settings::{
    Connecting, Credentials, DataSettings, DataSizes, IpVersion, KeySettings, ListenCommand, Listening, Policy,
    Protocol, Reconnecting, Scan, Server, Settings, Tls, TlsVersion,
};
pub use slo::{Percentile, Slo};
pub use source::{Expiry, Recorded, Source};
pub use stream::RequestStream;
pub use work::{Amount, Arrivals, Pace, Unit, Work};
