//! The functions that this library stands in front of.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use libc::{
    FILE, c_int, c_uint, clockid_t, epoll_event, mode_t, nfds_t, pid_t, pollfd, sigset_t, size_t, ssize_t, time_t,
    timespec, timeval,
};

fn find(cache: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let known = cache.load(Relaxed);
    if !known.is_null() {
        return known;
    }
    // SAFETY: dlsym takes any C string.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if found.is_null() {
        // SAFETY: abort has no preconditions. A C library without this function cannot have loaded its caller.
        unsafe { libc::abort() };
    }
    cache.store(found, Relaxed);
    found
}

macro_rules! next {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {$(
        /// # Safety
        /// As the C library's function of this name.
        pub(crate) unsafe fn $name($($argument: $kind),*) -> $result {
            static FOUND: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
            const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a name holds no NUL"),
            };
            type Function = unsafe extern "C" fn($($kind),*) -> $result;
            // SAFETY: the symbol of this name has this signature.
            unsafe {
                let function: Function = std::mem::transmute::<*mut c_void, Function>(find(&FOUND, NAME));
                function($($argument),*)
            }
        }
    )*};
}

next! {
    clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int;
    gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int;
    time(time: *mut time_t) -> time_t;
    epoll_wait(epoll: c_int, events: *mut epoll_event, size: c_int, timeout_ms: c_int) -> c_int;
    epoll_pwait(epoll: c_int, events: *mut epoll_event, size: c_int, timeout_ms: c_int, mask: *const sigset_t) -> c_int;
    poll(descriptors: *mut pollfd, count: nfds_t, timeout_ms: c_int) -> c_int;
    open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
    open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
    fopen(path: *const c_char, mode: *const c_char) -> *mut FILE;
    fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE;
    getrandom(buffer: *mut c_void, size: size_t, flags: c_uint) -> ssize_t;
    getpid() -> pid_t;
    kill(pid: pid_t, signal: c_int) -> c_int;
    srandom(seed: c_uint) -> ();
    srand(seed: c_uint) -> ();
}
