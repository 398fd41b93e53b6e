//! The filter of system calls of code under test: a program for the kernel, as `bwrap --seccomp` reads it.
//!
//! [`refused`] lists what it refuses. Calls are allowed or refused by their number alone wherever that is possible: such
//! a call that is allowed never runs the program, as the kernel keeps a table of them (since 5.11).

mod refused;

use std::env::consts::ARCH;

use seccompiler::{BackendError, BpfProgram, SeccompAction, SeccompFilter, TargetArch, sock_filter};

const LOAD_WORD: u16 = 0x20;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_NOT_BELOW: u16 = 0x35;
const RETURN: u16 = 0x06;
/// The number of what is no system call, which a debugger puts in the place of one that it suppresses.
const NO_CALL: u32 = u32::MAX;

/// Whether a process may open connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connections {
    /// To what its network namespace reaches.
    Opened,
    /// None, of whatever kind: for a process that holds sockets of a network which it is not to reach.
    OnlyAccepted,
}

/// The filter for this machine's architecture.
///
/// # Errors
///
/// If the architecture is not supported.
pub fn filter(connections: Connections) -> Result<Vec<u8>, BackendError> {
    Ok(instructions(TargetArch::try_from(ARCH)?, connections)?.iter().flat_map(in_memory).collect())
}

/// Other architectures are killed; what is not listed is allowed.
fn instructions(architecture: TargetArch, connections: Connections) -> Result<BpfProgram, BackendError> {
    let mut refused = refused::with_arguments()?;
    let mut always = [refused::ALWAYS, refused::ALWAYS_HERE].concat();
    if connections == Connections::OnlyAccepted {
        refused.extend(refused::connecting_with_arguments()?);
        always.extend(refused::CONNECTING);
    }
    refused.extend(always.into_iter().map(|call| (call, Vec::new())));
    let unknown = refused::UNKNOWN.iter().map(|call| (*call, Vec::new())).collect();
    let compiled = |rules, error: i32| -> Result<BpfProgram, BackendError> {
        let action = SeccompAction::Errno(error.unsigned_abs());
        SeccompFilter::new(rules, SeccompAction::Allow, action, architecture)?.try_into()
    };
    let mut program = numbers_unknown();
    program.extend(compiled(refused.into_iter().collect(), libc::EPERM)?);
    // Instead of the last instruction, which allows what no rule is for, comes the second list: of other calls.
    program.pop();
    program.extend(compiled(unknown, libc::ENOSYS)?);
    Ok(program)
}

/// Calls by numbers that no list knows, among them those of x32, which have a high bit in their number.
fn numbers_unknown() -> BpfProgram {
    let unknown = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    let std::ops::Range { start, end } = refused::UNASSIGNED;
    vec![
        sock_filter { code: LOAD_WORD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_EQUAL, jt: 4, jf: 0, k: NO_CALL },
        sock_filter { code: JUMP_IF_NOT_BELOW, jt: 2, jf: 0, k: refused::FIRST_UNKNOWN },
        sock_filter { code: JUMP_IF_NOT_BELOW, jt: 0, jf: 2, k: start },
        sock_filter { code: JUMP_IF_NOT_BELOW, jt: 1, jf: 0, k: end },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: unknown },
    ]
}

/// The bytes of `struct sock_filter`.
fn in_memory(instruction: &sock_filter) -> [u8; 8] {
    let [code_0, code_1] = instruction.code.to_ne_bytes();
    let [k_0, k_1, k_2, k_3] = instruction.k.to_ne_bytes();
    [code_0, code_1, instruction.jt, instruction.jf, k_0, k_1, k_2, k_3]
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: u32 = libc::SECCOMP_RET_ALLOW;
    const REFUSED: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
    const UNKNOWN: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    const KILLED: u32 = libc::SECCOMP_RET_KILL_PROCESS;
    const I386: u32 = 0x4000_0003;

    /// What the kernel does with a call: <https://docs.kernel.org/userspace-api/seccomp_filter.html>.
    struct Call {
        architecture: u32,
        number: u32,
        arguments: [u64; 6],
    }

    impl Call {
        /// The word of `struct seccomp_data` at an offset.
        fn word(&self, offset: u32) -> u32 {
            match offset {
                0 => self.number,
                4 => self.architecture,
                _ => {
                    let (index, half) = ((offset - 16) / 8, (offset - 16) % 8);
                    let argument = self.arguments[index as usize];
                    u32::try_from(if half == 0 { argument & u64::from(u32::MAX) } else { argument >> 32 })
                        .expect("half of an argument")
                }
            }
        }

        fn action(&self, program: &[sock_filter]) -> u32 {
            let (mut at, mut accumulator) = (0, 0);
            loop {
                let sock_filter { code, jt, jf, k } = program[at];
                at += 1;
                match code {
                    LOAD_WORD => accumulator = self.word(k),
                    0x54 => accumulator &= k,
                    0x05 => at += k as usize,
                    JUMP_IF_EQUAL => at += usize::from(if accumulator == k { jt } else { jf }),
                    0x25 => at += usize::from(if accumulator > k { jt } else { jf }),
                    JUMP_IF_NOT_BELOW => at += usize::from(if accumulator >= k { jt } else { jf }),
                    RETURN => return k,
                    _ => panic!("an instruction {code:#x} that no filter has"),
                }
            }
        }
    }

    fn architecture() -> (TargetArch, u32) {
        match TargetArch::try_from(ARCH).expect("an architecture that has a filter") {
            TargetArch::x86_64 => (TargetArch::x86_64, 0xc000_003e),
            TargetArch::aarch64 => (TargetArch::aarch64, 0xc000_00b7),
            TargetArch::riscv64 => (TargetArch::riscv64, 0xc000_00f3),
        }
    }

    fn action_on(number: i64, arguments: &[u64]) -> u32 {
        action(Connections::Opened, number, arguments)
    }

    fn action(connections: Connections, number: i64, arguments: &[u64]) -> u32 {
        let (target, architecture) = architecture();
        let mut all = [0; 6];
        all[..arguments.len()].copy_from_slice(arguments);
        let number = u32::try_from(number).expect("a number of a system call");
        Call { architecture, number, arguments: all }.action(&instructions(target, connections).expect("a program"))
    }

    #[test]
    fn every_call_is_in_one_list() {
        let with_arguments = refused::with_arguments().expect("rules");
        let with_arguments: Vec<i64> = with_arguments.iter().map(|(call, _)| *call).collect();
        let connecting = refused::connecting_with_arguments().expect("rules");
        let connecting: Vec<i64> = connecting.iter().map(|(call, _)| *call).collect();
        let lists = [refused::ALWAYS, refused::ALWAYS_HERE, refused::UNKNOWN, &with_arguments];
        let mut all = [lists.concat(), refused::CONNECTING.to_vec(), connecting].concat();
        let number = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), number);
    }

    #[test]
    fn every_listed_call_has_a_number_that_is_known() {
        for call in [refused::ALWAYS, refused::ALWAYS_HERE, refused::UNKNOWN, refused::CONNECTING].concat() {
            let number = u32::try_from(call).expect("a number of a system call");
            assert!(number < refused::FIRST_UNKNOWN && !refused::UNASSIGNED.contains(&number), "{call}");
        }
    }

    #[test]
    fn only_what_is_listed_or_new_is_refused() {
        for number in 0..1024 {
            let is_new = u32::try_from(number)
                .is_ok_and(|number| number >= refused::FIRST_UNKNOWN || refused::UNASSIGNED.contains(&number));
            let always = [refused::ALWAYS, refused::ALWAYS_HERE].concat().contains(&number);
            let expected = match number {
                _ if always => REFUSED,
                _ if is_new || refused::UNKNOWN.contains(&number) => UNKNOWN,
                // No family of sockets has the number 0.
                libc::SYS_socket => REFUSED,
                _ => ALLOWED,
            };
            assert_eq!(action_on(number, &[]), expected, "{number}");
        }
    }

    #[test]
    fn threads_and_processes_start_but_no_namespaces() {
        let thread = libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_FILES | libc::CLONE_SIGHAND | libc::CLONE_THREAD;
        for flags in [libc::SIGCHLD, thread, libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD] {
            assert_eq!(action_on(libc::SYS_clone, &[flags.unsigned_abs().into()]), ALLOWED);
            for namespace in [libc::CLONE_NEWUSER, libc::CLONE_NEWNET, libc::CLONE_NEWNS, libc::CLONE_NEWPID] {
                assert_eq!(action_on(libc::SYS_clone, &[(flags | namespace).unsigned_abs().into()]), REFUSED);
            }
        }
    }

    #[test]
    fn sockets_of_the_sandbox() {
        let family = |family: i32, protocol: i32| {
            let arguments = [family, libc::SOCK_STREAM, protocol].map(|argument| argument.unsigned_abs().into());
            action_on(libc::SYS_socket, &arguments)
        };
        for allowed in [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK] {
            assert_eq!(family(allowed, 0), ALLOWED);
        }
        for refused in [libc::AF_ALG, libc::AF_PACKET, libc::AF_VSOCK, libc::AF_BLUETOOTH] {
            assert_eq!(family(refused, 0), REFUSED);
        }
        assert_eq!(family(libc::AF_NETLINK, libc::NETLINK_NETFILTER), REFUSED);
        assert_eq!(family(libc::AF_INET, libc::IPPROTO_TCP), ALLOWED);
    }

    #[test]
    fn connections_are_accepted_and_not_opened() {
        let only_accepted = |number, arguments: &[u64]| action(Connections::OnlyAccepted, number, arguments);
        assert_eq!(action_on(libc::SYS_connect, &[3]), ALLOWED);
        assert_eq!(only_accepted(libc::SYS_connect, &[3]), REFUSED);
        for number in [libc::SYS_accept, libc::SYS_accept4, libc::SYS_bind, libc::SYS_listen, libc::SYS_write] {
            assert_eq!(only_accepted(number, &[3]), ALLOWED);
        }
        let fast_open = u64::from((libc::MSG_FASTOPEN | libc::MSG_NOSIGNAL).unsigned_abs());
        let ordinary = u64::from((libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL | libc::MSG_ZEROCOPY).unsigned_abs());
        let hidden = 0xdead_beef_u64 << 32;
        for (number, index) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
            let with = |flags: u64| {
                let mut arguments = [u64::MAX; 6];
                arguments[index] = flags;
                arguments
            };
            assert_eq!(only_accepted(number, &with(ordinary)), ALLOWED);
            assert_eq!(only_accepted(number, &with(fast_open)), REFUSED);
            assert_eq!(only_accepted(number, &with(hidden | fast_open)), REFUSED);
            assert_eq!(action_on(number, &with(fast_open)), ALLOWED);
        }
        // What the other filter refuses is refused here too.
        assert_eq!(only_accepted(libc::SYS_ptrace, &[]), REFUSED);
        assert_eq!(only_accepted(libc::SYS_io_uring_setup, &[]), UNKNOWN);
    }

    #[test]
    fn the_upper_half_of_an_argument_hides_nothing() {
        let hidden = 0xdead_beef_u64 << 32;
        assert_eq!(action_on(libc::SYS_ioctl, &[0, libc::TIOCSTI]), REFUSED);
        assert_eq!(action_on(libc::SYS_ioctl, &[0, hidden | libc::TIOCSTI]), REFUSED);
        assert_eq!(action_on(libc::SYS_ioctl, &[0, libc::TIOCGWINSZ]), ALLOWED);
        assert_eq!(action_on(libc::SYS_socket, &[hidden | u64::from(libc::AF_VSOCK.unsigned_abs())]), REFUSED);
    }

    #[test]
    fn addresses_may_be_fixed_and_nothing_else_about_the_personality() {
        assert_eq!(action_on(libc::SYS_personality, &[0x0004_0000]), ALLOWED);
        assert_eq!(action_on(libc::SYS_personality, &[0xffff_ffff]), ALLOWED);
        assert_eq!(action_on(libc::SYS_personality, &[0x0002_0000]), REFUSED);
        assert_eq!(action_on(libc::SYS_personality, &[0x0040_0000]), REFUSED);
    }

    #[test]
    fn other_architectures_are_killed() {
        let (target, own) = architecture();
        let program = instructions(target, Connections::Opened).expect("a program");
        let of = |architecture, number| Call { architecture, number, arguments: [0; 6] }.action(&program);
        assert_eq!(of(I386, 4), KILLED);
        assert_eq!(of(own, NO_CALL), ALLOWED);
        // The calls of x32 have the architecture of x86_64.
        assert_eq!(of(own, 0x4000_0000 | 1), UNKNOWN);
    }

    #[test]
    fn a_program_for_the_kernel() {
        for connections in [Connections::Opened, Connections::OnlyAccepted] {
            let program = filter(connections).expect("a program");
            assert_eq!(program.len() % 8, 0);
            assert!(program.len() / 8 <= 4096);
        }
    }
}
