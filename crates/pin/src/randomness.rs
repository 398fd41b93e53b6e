//! Randomness from the trial's seed.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use libc::{FILE, c_int, c_uint, mode_t, pid_t, size_t, ssize_t};

use crate::control::{CPUINFO_PATH_VARIABLE, Control, RANDOM_PATH_VARIABLE, STAT_PATH_VARIABLE, control};
use crate::next;

/// The file that stands for `path`, or `path` itself.
///
/// # Safety
/// `path` is null or a C string.
unsafe fn stand_in(path: *const c_char) -> *const c_char {
    let Some(control) = control() else { return path };
    if path.is_null() {
        return path;
    }
    // SAFETY: not null, so a C string.
    let variable = match unsafe { CStr::from_ptr(path) }.to_bytes() {
        b"/dev/urandom" | b"/dev/random" => RANDOM_PATH_VARIABLE,
        b"/proc/cpuinfo" => CPUINFO_PATH_VARIABLE,
        // Also by the pinned process id. What it costs to parse its numbers depends on how many digits they have.
        b"/proc/self/stat" | b"/proc/4242/stat" => STAT_PATH_VARIABLE,
        _ => return path,
    };
    // SAFETY: getenv takes any C string.
    let pinned = unsafe { libc::getenv(variable.as_ptr()) };
    if pinned.is_null() {
        return path;
    }
    if variable == RANDOM_PATH_VARIABLE {
        control.random_readings.fetch_add(1, Relaxed);
    }
    pinned
}

/// # Safety
/// As `open` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: passed on as it came, but for the path.
    unsafe { next::open(stand_in(path), flags, mode) }
}

/// # Safety
/// As `open64` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: passed on as it came, but for the path.
    unsafe { next::open64(stand_in(path), flags, mode) }
}

/// # Safety
/// As `fopen` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fopen(path: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: passed on as it came, but for the path.
    unsafe { next::fopen(stand_in(path), mode) }
}

/// # Safety
/// As `fopen64` of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: passed on as it came, but for the path.
    unsafe { next::fopen64(stand_in(path), mode) }
}

/// One step of splitmix64 (Steele, Lea, Flood 2014).
fn next_word(control: &Control) -> u64 {
    static STATE: AtomicU64 = AtomicU64::new(0);
    const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
    let state = STATE.fetch_add(GAMMA, Relaxed).wrapping_add(control.seed);
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// # Safety
/// As `getrandom(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(buffer: *mut c_void, size: size_t, flags: c_uint) -> ssize_t {
    // Without a buffer there is nothing to fill: the system's answer depends on the size alone.
    let Some(control) = control().filter(|_| !buffer.is_null()) else {
        // SAFETY: passed on as it came.
        return unsafe { next::getrandom(buffer, size, flags) };
    };
    control.random_readings.fetch_add(1, Relaxed);
    // SAFETY: not null, so a buffer of that size.
    let bytes = unsafe { std::slice::from_raw_parts_mut(buffer.cast::<u8>(), size) };
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&next_word(control).to_le_bytes()[..chunk.len()]);
    }
    ssize_t::try_from(size).unwrap_or(ssize_t::MAX)
}

/// # Safety
/// As `getentropy(3)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getentropy(buffer: *mut c_void, size: size_t) -> c_int {
    // SAFETY: passed on as it came.
    if unsafe { getrandom(buffer, size, 0) } < 0 { -1 } else { 0 }
}

/// What the process takes for its own id.
const PINNED_PID: pid_t = 4242;

/// The same in every trial: servers mix it into their seeds.
#[unsafe(no_mangle)]
pub extern "C" fn getpid() -> pid_t {
    if control().is_some() {
        return PINNED_PID;
    }
    // SAFETY: getpid has no preconditions.
    unsafe { next::getpid() }
}

/// A process that signals itself by the id it was given means itself and no other.
///
/// # Safety
/// As `kill(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kill(pid: pid_t, signal: c_int) -> c_int {
    // SAFETY: passed on as it came, but for the process's own id.
    unsafe {
        let meant = if pid == PINNED_PID && control().is_some() { next::getpid() } else { pid };
        next::kill(meant, signal)
    }
}

fn pinned_seed(seed: c_uint) -> c_uint {
    control().map_or(seed, |control| {
        control.random_readings.fetch_add(1, Relaxed);
        c_uint::try_from(control.seed & 0x7fff_ffff).unwrap_or(1)
    })
}

/// Seeds with the trial's seed.
#[unsafe(no_mangle)]
pub extern "C" fn srandom(seed: c_uint) {
    // SAFETY: srandom takes any number.
    unsafe { next::srandom(pinned_seed(seed)) };
}

/// Seeds with the trial's seed.
#[unsafe(no_mangle)]
pub extern "C" fn srand(seed: c_uint) {
    // SAFETY: srand takes any number.
    unsafe { next::srand(pinned_seed(seed)) };
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::{env, fs, ptr};

    use super::getrandom;
    use crate::control::{PAGE_BYTES, PATH_VARIABLE, control};

    /// What is pinned holds for a whole process: the test runs itself again as one that is.
    #[test]
    fn a_request_for_no_bytes_may_come_without_a_buffer() {
        const NAME: &str = "randomness::tests::a_request_for_no_bytes_may_come_without_a_buffer";
        let variable = PATH_VARIABLE.to_str().expect("text");
        if env::var_os(variable).is_none() {
            let page = env::temp_dir().join(format!("zerolap-pin-{}", std::process::id()));
            fs::write(&page, [0; PAGE_BYTES]).expect("a page");
            let test = env::current_exe().expect("a path");
            let output = Command::new(test).args(["--exact", NAME]).env(variable, &page).output().expect("a test");
            fs::remove_file(page).expect("a page");
            assert!(output.status.success(), "{output:?}");
            return;
        }
        assert!(control().is_some());
        let mut bytes = [0_u8; 20];
        // SAFETY: the buffer has that size, or none is needed.
        let returned = unsafe {
            [
                getrandom(ptr::null_mut(), 0, 0),
                getrandom(bytes.as_mut_ptr().cast(), 0, 0),
                getrandom(ptr::null_mut(), 8, 0),
                getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0),
            ]
        };
        assert_eq!(returned, [0, 0, -1, 20]);
        assert_ne!(bytes, [0; 20]);
    }
}
