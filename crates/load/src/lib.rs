//! A load generator for servers that speak the Redis protocol.
//!
//! Threads share nothing while they work, but the place in a recording that is sent in its order. Each owns its
//! connections, its event loop, its random streams and its counts, and is pinned to a processor if asked:
//!
//! * [`Settings`] say what to send and how; [`arguments`] make them from a command line.
//! * A [`Crew`] connects everything once, then carries out one piece of [`Work`] after another. In between its threads
//!   sleep, and key sequences and random streams go on where they stopped: a run in slices sends the same requests as
//!   a run in one piece.
//! * In a thread, replies of all connections that have some are read first; then each of these connections is refilled
//!   and written to once. Requests are stamped at that write, replies when they were seen or read.
//! * With a [`Pace`] requests are due at times that do not depend on replies, and are charged from them.
//! * [`drive`] carries out a whole [`Plan`], phase by phase.
//! * Listeners, in one thread of their own, only read what the server pushes to them, until a run ends.
//! * What came back is an [`Outcome`]: counts by kind of reply and error code, and a histogram of latencies, for each
//!   command. Counts are merged over threads, percentiles never. Errors are never successes.
//! * [`control`] does this step by step for another program, over standard input and output.
//!
//! Trouble with a connection ends the run with an error, and what was counted until then is no result; unless the
//! settings let connections be made anew: then what was lost is counted, and the run goes on.

#![forbid(unsafe_code)]

mod address;
pub mod arguments;
mod bounds;
mod checked;
mod clock;
mod cluster;
pub mod control;
mod cpus;
mod crew;
mod dialer;
mod dialogue;
mod differences;
mod drive;
mod endpoint;
mod error;
mod error_counts;
mod health;
mod histogram;
mod link;
mod listeners;
mod open_files;
mod outcome;
mod output_file;
mod plan;
mod progress;
mod random;
mod report_settings;
mod requests;
mod result;
mod run;
mod search;
mod settings;
mod setup;
mod slo;
mod socket;
mod summary;
mod tally;
mod timeline;
mod tls;
mod transport;
pub mod untrusted;
mod watch;
mod work;
mod worker;

pub use crew::Crew;
pub use differences::differences;
pub use drive::drive;
pub use endpoint::Endpoint;
pub use error::LoadError;
pub use histogram::Histogram;
pub use outcome::Outcome;
pub use output_file::OutputFile;
pub use plan::Plan;
pub use progress::{Live, ProgressDisplay};
pub use report_settings::ReportSettings;
pub use requests::{Command, DataSettings, DataSizes, KeyPattern, KeyRange, KeySettings};
pub use result::{Document, ResultRecord, SCHEMA, SliceRecord};
pub use run::Run;
pub use search::{Found, SearchRecord, search};
pub use settings::{
    Connecting, Credentials, IpVersion, ListenCommand, Listening, Policy, Protocol, Reconnecting, Scan, Server,
    Settings, Tls, TlsVersion,
};
pub use slo::{Percentile, Slo};
pub use summary::{write_settings, write_summary};
pub use tls::TlsError;
pub use watch::Watch;
pub use work::{Amount, Arrivals, Pace, Unit, Work};
