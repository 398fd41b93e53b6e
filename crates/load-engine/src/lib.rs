//! Sends requests and reads replies.
//!
//! Threads share nothing while they work, but the place in a recording that is sent in its order. Each owns its
//! connections, its event loop, its random streams and its counts, and is pinned to a processor if asked:
//!
//! * A [`Crew`] connects everything once, then carries out one piece of work after another. In between its threads
//!   sleep, and key sequences and random streams go on where they stopped: a run in slices sends the same requests as
//!   a run in one piece.
//! * In a thread, replies of all connections that have some are read first; then each of these connections is refilled
//!   and written to once. Requests are stamped at that write, replies when they were seen or read.
//! * With a pace requests are due at times that do not depend on replies, and are charged from them.
//! * [`drive`] carries out a whole plan, phase by phase; [`search`] looks for the highest rate.
//! * Listeners, in one thread of their own, only read what the server pushes to them, until a run ends.
//!
//! Trouble with a connection ends the run with an error, and what was counted until then is no result; unless the
//! settings let connections be made anew: then what was lost is counted, and the run goes on.

mod cluster;
mod crew;
mod dialer;
mod dialogue;
mod drive;
mod link;
mod listeners;
mod resources;
mod search;
mod socket;
mod tls;
mod worker;

pub use cluster::untrusted;
pub use crew::{Crew, Watch};
pub use drive::drive;
pub use search::{Found, search};
