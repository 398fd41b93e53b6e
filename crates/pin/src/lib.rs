//! Preloaded (`LD_PRELOAD`) into a server that runs under callgrind.
//!
//! Two runs of one build execute the same instructions only if their input from the outside world is the same. This
//! library therefore answers in the world's place:
//!
//! * [`clock`]: time moves by a fixed step for each wake-up of the event loop and each reading, not with the machine,
//!   and no wait ends because time has passed;
//! * [`randomness`]: `/dev/urandom`, `getrandom`, `srandom` and `getpid` give what follows from the trial's seed;
//! * [`event_loop`]: at the entry of `epoll_wait`, the one point where nothing is half done, it carries out what the
//!   lab asked for: start counting, write the counters out.
//!
//! The lab and this library share one page of memory, described in [`control`]. Without that page (the environment
//! variable [`control::PATH_VARIABLE`] unset) every function passes through to the C library.

mod callgrind;
mod clock;
pub mod control;
mod event_loop;
mod next;
mod randomness;
