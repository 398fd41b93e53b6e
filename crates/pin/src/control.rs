//! The page shared with the lab: what is pinned, what the lab asks for, and what has been seen.

use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Names the file of [`PAGE_BYTES`] bytes that both sides map.
pub const PATH_VARIABLE: &CStr = c"ZEROLAP_PIN_CONTROL";
/// Names the file that is opened in place of `/dev/urandom`.
pub const RANDOM_PATH_VARIABLE: &CStr = c"ZEROLAP_PIN_RANDOM";
/// Names the file that is opened in place of `/proc/cpuinfo`; one that names no time-stamp counter makes a server
/// read its clock through the C library.
pub const CPUINFO_PATH_VARIABLE: &CStr = c"ZEROLAP_PIN_CPUINFO";
/// Names the file that is opened in place of `/proc/self/stat`.
pub const STAT_PATH_VARIABLE: &CStr = c"ZEROLAP_PIN_STAT";
/// Size of the shared file.
pub const PAGE_BYTES: usize = 4096;

/// The lab asks for nothing.
pub const REQUEST_NONE: u32 = 0;
/// Let so much time pass that every timer is due once more.
pub const REQUEST_LEAP: u32 = 1;
/// Start instrumentation.
pub const REQUEST_START: u32 = 2;
/// Write all counters to a file and set them to zero. (Callgrind's own request to only set them to zero leaves the
/// functions' counts of system calls as they are.)
pub const REQUEST_DUMP: u32 = 3;

/// Stop instrumentation.
pub const REQUEST_STOP: u32 = 4;

/// Layout of the shared page; the lab writes the first four fields before the server starts.
#[repr(C)]
pub struct Control {
    /// Wall-clock time at the start, ns since the epoch.
    pub start_realtime_ns: u64,
    /// Time that passes with each return of `epoll_wait` that brings events, ns.
    pub step_per_wake_ns: u64,
    /// Time that passes with each reading of a clock, ns.
    pub step_per_reading_ns: u64,
    /// What `getpid` answers and `getrandom` starts from.
    pub seed: u64,
    /// One of the `REQUEST_` values; taken back to `REQUEST_NONE` when carried out.
    pub request: AtomicU32,
    /// Requests carried out so far.
    pub requests_done: AtomicU32,
    /// Clock readings answered so far: proof that the clock is pinned.
    pub clock_readings: AtomicU64,
    /// Returns of `epoll_wait` so far.
    pub wakes: AtomicU64,
    /// Random files and calls answered so far: proof that randomness is pinned.
    pub random_readings: AtomicU64,
    /// Time passed since the start, ns.
    pub elapsed_ns: AtomicU64,
    /// 1 while the event loop waits: what is asked for then is carried out at its next wait.
    pub waiting: AtomicU32,
}

/// The shared page, or none when the environment names none or it cannot be mapped.
pub(crate) fn control() -> Option<&'static Control> {
    static CONTROL: OnceLock<Option<&'static Control>> = OnceLock::new();
    *CONTROL.get_or_init(map_control)
}

fn map_control() -> Option<&'static Control> {
    // SAFETY: getenv returns null or a C string; the file is mapped whole and never unmapped, so the reference lives as
    // long as the process. All fields that change after the start are atomics.
    unsafe {
        let path = libc::getenv(PATH_VARIABLE.as_ptr());
        if path.is_null() {
            return None;
        }
        let file = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path, libc::O_RDWR | libc::O_CLOEXEC);
        let file = i32::try_from(file).ok().filter(|descriptor| *descriptor >= 0)?;
        let page =
            libc::mmap(std::ptr::null_mut(), PAGE_BYTES, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, file, 0);
        libc::close(file);
        if page == libc::MAP_FAILED {
            return None;
        }
        Some(&*page.cast::<Control>())
    }
}
