//! Preloaded (`LD_PRELOAD`) into a server whose load comes from another machine.
//!
//! The server is in a network namespace that has only a loopback. The lab opens a socket in the machine's network, and
//! the server inherits it. Where the server binds a TCP socket to the port named by [`PORT_VARIABLE`], that socket is
//! replaced by the inherited one, whose descriptor [`DESCRIPTOR_VARIABLE`] names. It already listens; that the server
//! calls `listen` again only sets the length of its queue.
//!
//! Without these variables every call passes through.

use std::ffi::CStr;
use std::mem::size_of;
use std::ptr::from_mut;

use libc::{c_int, sockaddr, sockaddr_in, socklen_t};

/// Names the TCP port.
pub const PORT_VARIABLE: &CStr = c"ZEROLAP_LISTEN_PORT";
/// Names the descriptor of the inherited socket.
pub const DESCRIPTOR_VARIABLE: &CStr = c"ZEROLAP_LISTEN_DESCRIPTOR";

/// The number in a variable of the environment, which is read without allocating.
fn number(variable: &CStr) -> Option<c_int> {
    // SAFETY: getenv returns null or a C string.
    unsafe {
        let text = libc::getenv(variable.as_ptr());
        if text.is_null() { None } else { CStr::from_ptr(text).to_str().ok()?.parse().ok() }
    }
}

/// The port of an IPv4 or IPv6 address.
///
/// # Safety
/// `address` is null or points to `length` bytes.
unsafe fn port_of(address: *const sockaddr, length: socklen_t) -> Option<u16> {
    if address.is_null() || (length as usize) < size_of::<sockaddr_in>() {
        return None;
    }
    // SAFETY: the bytes are there; addresses of both families have the port at the same place.
    let start = unsafe { address.cast::<sockaddr_in>().read_unaligned() };
    let is_internet = [libc::AF_INET, libc::AF_INET6].contains(&c_int::from(start.sin_family));
    is_internet.then(|| u16::from_be(start.sin_port))
}

fn is_stream(socket: c_int) -> bool {
    let mut kind: c_int = 0;
    let mut length = socklen_t::try_from(size_of::<c_int>()).unwrap_or(0);
    // SAFETY: both pointers are to what the kernel may write.
    let asked = unsafe {
        libc::getsockopt(socket, libc::SOL_SOCKET, libc::SO_TYPE, from_mut(&mut kind).cast(), &raw mut length)
    };
    asked == 0 && kind == libc::SOCK_STREAM
}

/// Puts the inherited socket in the place of the server's; it is as blocking as the server's, and closed when the server
/// executes another program if the server's was to be. Returns -1, with `errno`, where that fails.
fn replace(socket: c_int, inherited: c_int) -> c_int {
    // SAFETY: these calls take any numbers.
    unsafe {
        let of_descriptor = libc::fcntl(socket, libc::F_GETFD);
        let of_file = libc::fcntl(socket, libc::F_GETFL);
        let closes = if of_descriptor & libc::FD_CLOEXEC == 0 { 0 } else { libc::O_CLOEXEC };
        if of_descriptor < 0
            || of_file < 0
            || libc::dup3(inherited, socket, closes) < 0
            || libc::fcntl(socket, libc::F_SETFL, of_file) < 0
        {
            return -1;
        }
        // It stays open for a server that binds several sockets to the port, but not for programs that it executes.
        libc::fcntl(inherited, libc::F_SETFD, libc::FD_CLOEXEC)
    }
}

/// # Safety
/// As `bind(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bind(socket: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    // SAFETY: the caller's address has that length.
    let port = unsafe { port_of(address, length) };
    if let (Some(port), Some(wanted), Some(inherited)) = (port, number(PORT_VARIABLE), number(DESCRIPTOR_VARIABLE))
        && c_int::from(port) == wanted
        && socket != inherited
        && is_stream(socket)
    {
        return replace(socket, inherited);
    }
    // SAFETY: passed on as it came.
    let bound = unsafe { libc::syscall(libc::SYS_bind, socket, address, length) };
    c_int::try_from(bound).unwrap_or(-1)
}
