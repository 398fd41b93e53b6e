//! The event loop's waits: where time passes and counting windows begin and end.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use libc::{c_int, epoll_event, nfds_t, pollfd, sigset_t};

use crate::callgrind;
use crate::control::{Control, REQUEST_DUMP, REQUEST_LEAP, REQUEST_NONE, REQUEST_START, REQUEST_STOP, control};
use crate::next;

/// Longer than any period of a timer of a server that runs at one tick a second.
const LEAP_NS: u64 = 2_000_000_000;
const FOREVER_MS: c_int = -1;

/// Whether counting has begun. Until then events are handed out one at a time: how many come together depends on the
/// machine, and what the server executes before it is counted is compared too.
static COUNTING: AtomicBool = AtomicBool::new(false);

/// Carries out what the lab asks for; nothing is half done at this point.
fn before_wait(control: &Control) {
    let request = control.request.load(Acquire);
    if request == REQUEST_NONE {
        return;
    }
    match request {
        REQUEST_LEAP => {
            control.elapsed_ns.fetch_add(LEAP_NS, Relaxed);
        }
        REQUEST_START => {
            COUNTING.store(true, Relaxed);
            callgrind::start_instrumentation();
        }
        REQUEST_STOP => callgrind::stop_instrumentation(),
        REQUEST_DUMP => callgrind::dump_stats(),
        _ => {}
    }
    control.request.store(REQUEST_NONE, Relaxed);
    control.requests_done.fetch_add(1, Release);
}

/// A wait takes one step of time, however long it was.
fn after_wait(control: &Control) {
    control.wakes.fetch_add(1, Relaxed);
    control.elapsed_ns.fetch_add(control.step_per_wake_ns, Relaxed);
}

/// Whether this is the thread that waited first, which is the one that answers requests; loops of helper threads begin
/// and end no window.
fn is_first_thread() -> bool {
    static FIRST: OnceLock<libc::pthread_t> = OnceLock::new();
    // SAFETY: pthread_self has no preconditions.
    let this = unsafe { libc::pthread_self() };
    *FIRST.get_or_init(|| this) == this
}

/// Waits for events, never for time: how often a timer fired while the server was idle would depend on the machine.
fn wait(size: c_int, timeout_ms: c_int, wait_for: impl FnOnce(c_int, c_int) -> c_int) -> c_int {
    let Some(control) = control() else { return wait_for(size, timeout_ms) };
    if !is_first_thread() {
        return wait_for(size, timeout_ms);
    }
    let size = if COUNTING.load(Relaxed) { size } else { size.min(1) };
    before_wait(control);
    control.waiting.store(1, Release);
    let events = wait_for(size, if timeout_ms > 0 { FOREVER_MS } else { timeout_ms });
    control.waiting.store(0, Release);
    after_wait(control);
    events
}

/// # Safety
/// As `epoll_wait(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn epoll_wait(epoll: c_int, events: *mut epoll_event, size: c_int, timeout_ms: c_int) -> c_int {
    // SAFETY: passed on as it came, but for the timeout.
    wait(size, timeout_ms, |size, timeout_ms| unsafe { next::epoll_wait(epoll, events, size, timeout_ms) })
}

/// # Safety
/// As `epoll_pwait(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    size: c_int,
    timeout_ms: c_int,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: passed on as it came, but for the timeout.
    wait(size, timeout_ms, |size, timeout_ms| unsafe { next::epoll_pwait(epoll, events, size, timeout_ms, mask) })
}

/// Time passes here too, but no window begins or ends: servers use it for short waits inside a request.
///
/// # Safety
/// As `poll(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn poll(descriptors: *mut pollfd, count: nfds_t, timeout_ms: c_int) -> c_int {
    // SAFETY: passed on as it came.
    let events = unsafe { next::poll(descriptors, count, timeout_ms) };
    if let Some(control) = control() {
        after_wait(control);
    }
    events
}
