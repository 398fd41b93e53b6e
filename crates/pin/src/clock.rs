//! The virtual clock.
//!
//! It starts in the future: a thread that sleeps until a deadline computed from it does not wake while the trial lasts.

use std::sync::atomic::Ordering::Relaxed;

use libc::{c_int, c_void, clockid_t, time_t, timespec, timeval};

use crate::control::{Control, control};
use crate::next;

const NS_PER_SECOND: u64 = 1_000_000_000;

fn read_ns(control: &Control) -> u64 {
    control.clock_readings.fetch_add(1, Relaxed);
    let elapsed = control.elapsed_ns.fetch_add(control.step_per_reading_ns, Relaxed);
    control.start_realtime_ns + elapsed
}

fn seconds(ns: u64) -> time_t {
    time_t::try_from(ns / NS_PER_SECOND).unwrap_or(time_t::MAX)
}

fn below_second(ns: u64) -> i64 {
    i64::try_from(ns % NS_PER_SECOND).unwrap_or(0)
}

fn pinned(clock: clockid_t) -> bool {
    !matches!(clock, libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID) && clock >= 0
}

/// # Safety
/// As `clock_gettime(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    match control() {
        Some(control) if pinned(clock) && !time.is_null() => {
            let ns = read_ns(control);
            // SAFETY: the caller gives a valid timespec.
            unsafe { *time = timespec { tv_sec: seconds(ns), tv_nsec: below_second(ns) } };
            0
        }
        // SAFETY: passed on as it came.
        _ => unsafe { next::clock_gettime(clock, time) },
    }
}

/// # Safety
/// As `gettimeofday(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int {
    match control() {
        Some(control) if !time.is_null() => {
            let ns = read_ns(control);
            // SAFETY: the caller gives a valid timeval.
            unsafe { *time = timeval { tv_sec: seconds(ns), tv_usec: below_second(ns) / 1000 } };
            0
        }
        // SAFETY: passed on as it came.
        _ => unsafe { next::gettimeofday(time, zone) },
    }
}

/// # Safety
/// As `time(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn time(time: *mut time_t) -> time_t {
    let Some(control) = control() else {
        // SAFETY: passed on as it came.
        return unsafe { next::time(time) };
    };
    let now = seconds(read_ns(control));
    if !time.is_null() {
        // SAFETY: the caller gives null or a valid time_t.
        unsafe { *time = now };
    }
    now
}
