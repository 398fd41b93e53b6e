//! What is asked of a load generator, and what it therefore sends.
//!
//! [`Settings`] define what to send, where to and how; a [`Plan`] defines how much and when. A [`RequestStream`] is what
//! one connection sends: commands in rotation, with keys and values of its own, drawn from [`Random`] streams that depend
//! on the seed alone. [`Recording`]s are sent as they were recorded.

mod command;
mod endpoint;
mod keys;
mod look_up;
mod one_reply;
mod plan;
mod random;
mod recording;
mod scan;
mod settings;
mod slo;
mod stream;
mod values;
mod work;

pub use command::{Command, KeyPattern};
pub use command::{Expiry, Recorded, Source};
pub use endpoint::Endpoint;
pub use keys::ConsecutiveKeys;
pub use keys::KeyRange;
pub use keys::requests_for_all_keys;
pub use look_up::{Answer, LookUp, Role};
pub use one_reply::{waits_without_limit, why_not_among_others};
pub use plan::Plan;
pub use random::{Purpose, Random};
pub use recording::{RecordedText, Recording, RecordingError, RecordingOrder, TransactionStep};
pub use settings::{
    Connecting, Credentials, DataSettings, DataSizes, IpVersion, KeySettings, ListenCommand, Listening, Policy,
    Protocol, Reconnecting, Scan, Server, Settings, Tls, TlsVersion,
};
pub use slo::{Percentile, Slo};
pub use stream::{NextDatabase, RequestStream};
pub use values::DataPool;
pub use values::MadeValues;
pub use work::{Amount, Arrivals, Pace, Unit, Work};
