//! The system calls that code under test has no use for, and the error that each of them gives.
//!
//! What is not listed is allowed, up to the last number that was looked at: newer calls are unknown. Calls that the lack of privileges or the namespaces of the sandbox refuse anyway are
//! listed too, so that an error of the kernel in one of them is out of reach.

use std::ops::Range;

use seccompiler::{BackendError, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

/// Refused whatever their arguments, with `EPERM`.
pub(crate) const ALWAYS: &[i64] = &[
    // The keys of the kernel, which are not divided by namespaces.
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    // What looks into other processes or into the kernel.
    libc::SYS_bpf,
    libc::SYS_fanotify_init,
    libc::SYS_kcmp,
    libc::SYS_lookup_dcookie,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_syslog,
    libc::SYS_userfaultfd,
    // Files by a handle instead of a path, past what is mounted in the sandbox.
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    // The view of the file system, and other namespaces.
    libc::SYS_chroot,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_pivot_root,
    libc::SYS_setns,
    libc::SYS_umount2,
    libc::SYS_unshare,
    // The machine itself: its kernel, clock, names, disks and terminals.
    libc::SYS_acct,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_kexec_load,
    libc::SYS_nfsservctl,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_vhangup,
];

/// Those of `ALWAYS` that not every architecture has.
#[cfg(target_arch = "x86_64")]
pub(crate) const ALWAYS_HERE: &[i64] =
    &[libc::SYS_ioperm, libc::SYS_iopl, libc::SYS_kexec_file_load, libc::SYS_modify_ldt, libc::SYS_uselib];
/// Those of `ALWAYS` that not every architecture has.
#[cfg(target_arch = "aarch64")]
pub(crate) const ALWAYS_HERE: &[i64] = &[libc::SYS_kexec_file_load];
/// Those of `ALWAYS` that not every architecture has.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) const ALWAYS_HERE: &[i64] = &[];

/// Reported as unknown to the kernel (`ENOSYS`), which makes programs take the older way that they have for this case.
pub(crate) const UNKNOWN: &[i64] = &[
    // Its flags are in memory, where a filter cannot read them. The C library takes `clone` instead.
    libc::SYS_clone3,
    // Its requests are system calls that no filter sees.
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
];

/// From here on, calls are reported as unknown too: `open_tree_attr` is the first, of Linux 6.15. Since 424 the numbers are
/// those of all architectures.
///
/// Whoever raises it puts those below it that code under test has no use for into a list above.
pub(crate) const FIRST_UNKNOWN: u32 = 467;
/// Numbers below that had no call either, and could get some.
#[cfg(target_arch = "x86_64")]
pub(crate) const UNASSIGNED: Range<u32> = 337..424;
/// Numbers below that had no call either, and could get some.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const UNASSIGNED: Range<u32> = 295..424;

/// Flags of `clone` that make a namespace.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Addresses that are not randomized: compilers and debuggers ask for them.
const ADDRESSES_NOT_RANDOMIZED: u32 = 0x0004_0000;
/// Asks for the current personality.
const ONLY_ASKED: u32 = u32::MAX;

/// Refused with `EPERM` if one of the rules applies to their arguments.
pub(crate) fn with_arguments() -> Result<Vec<(i64, Vec<SeccompRule>)>, BackendError> {
    let mut clone = Vec::new();
    for flag in NAMESPACES {
        let flag = u64::from(flag.unsigned_abs());
        clone.push(SeccompRule::new(vec![argument(0, SeccompCmpOp::MaskedEq(flag), flag)?])?);
    }
    let none_of = |index: u8, values: &[u64]| -> Result<SeccompRule, BackendError> {
        let conditions: Result<_, _> = values.iter().map(|value| argument(index, SeccompCmpOp::Ne, *value)).collect();
        SeccompRule::new(conditions?)
    };
    let families = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let socket = vec![
        // Others are not divided by namespaces (`AF_VSOCK`), or rarely used code of the kernel (`AF_ALG`).
        none_of(0, &families.map(|family| u64::from(family.unsigned_abs())))?,
        // `NETLINK_ROUTE` lists interfaces and addresses.
        SeccompRule::new(vec![
            argument(0, SeccompCmpOp::Eq, u64::from(libc::AF_NETLINK.unsigned_abs()))?,
            argument(2, SeccompCmpOp::Ne, u64::from(libc::NETLINK_ROUTE.unsigned_abs()))?,
        ])?,
    ];
    // Both put input into a terminal, as if its user had typed it.
    let mut ioctl = Vec::new();
    for request in [libc::TIOCSTI, libc::TIOCLINUX] {
        ioctl.push(SeccompRule::new(vec![argument(1, SeccompCmpOp::Eq, request)?])?);
    }
    let personality = vec![none_of(0, &[0, ADDRESSES_NOT_RANDOMIZED.into(), ONLY_ASKED.into()])?];
    Ok(vec![
        (libc::SYS_clone, clone),
        (libc::SYS_ioctl, ioctl),
        (libc::SYS_personality, personality),
        (libc::SYS_socket, socket),
    ])
}

/// Refused with `EPERM` to a process that holds sockets of the machine's network, whatever its arguments: a socket that
/// listens, or that has accepted a connection, could be disconnected and then connected to anything.
pub(crate) const CONNECTING: &[i64] = &[libc::SYS_connect];

/// Refused with `EPERM` to such a process too, if one of the rules applies: what connects while it sends (TCP fast open).
pub(crate) fn connecting_with_arguments() -> Result<Vec<(i64, Vec<SeccompRule>)>, BackendError> {
    let fast_open = u64::from(libc::MSG_FASTOPEN.unsigned_abs());
    // The flags are registers, also of those calls whose other arguments are in memory.
    [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)]
        .into_iter()
        .map(|(call, flags)| {
            let opens = argument(flags, SeccompCmpOp::MaskedEq(fast_open), fast_open)?;
            Ok((call, vec![SeccompRule::new(vec![opens])?]))
        })
        .collect()
}

/// A condition on the lower half of an argument: the kernel does not look at the upper half in these calls.
fn argument(index: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value)
}
