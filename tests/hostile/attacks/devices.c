/* Tries to open and make devices, and to change the machine. The calls have arguments with which they would do nothing. */
#include "attempts.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *const devices[] = {
    "/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/dev/kvm", "/dev/fuse",
    "/dev/loop0", "/dev/loop-control", "/dev/net/tun", "/dev/mapper/control", "/dev/dri/card0", "/dev/cpu/0/msr",
    "/dev/vhost-net", "/dev/vsock", "/dev/tty0", "/dev/ttyS0", "/dev/uinput", "/dev/hwrng", "/dev/core",
    "/proc/kcore", "/proc/kmsg", "/proc/kpagemap", "/sys/kernel", "/sys/fs/cgroup", DEVICES
};
static const char *const settings[] = {
    "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/sysrq", "/proc/sys/vm/overcommit_memory",
    "/proc/sys/net/ipv4/ip_forward", "/proc/sysrq-trigger", "/proc/mtrr", "/proc/pressure/memory", "/proc/irq/0/smp_affinity",
};

static void made(const char *path, mode_t type, int major, int minor) {
    long result = mknod(path, type | 0600, makedev(major, minor));
    attempt(path, result == 0 ? open(path, O_RDONLY) : result);
}

#ifdef __x86_64__
/* A call of 32-bit programs, which have other numbers. */
static void foreign_call(void) {
    int child = fork(), status = 0;
    if (child == 0) {
        long result = 20; /* getpid */
        __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
        _exit(result > 0 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    errno = EPERM;
    attempt("calls of another architecture", WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1);
    attempt_filtered("calls of x32", syscall(0x40000000 | SYS_getpid), ENOSYS);
}
#else
static void foreign_call(void) {}
#endif

int main(void) {
    for (unsigned n = 0; n < sizeof devices / sizeof *devices; n++) attempt(devices[n], open(devices[n], O_RDONLY));
    for (unsigned n = 0; n < sizeof settings / sizeof *settings; n++)
        attempt(settings[n], open(settings[n], O_WRONLY | O_APPEND));
    made("disk", S_IFBLK, 8, 0);
    made("/tmp/disk", S_IFBLK, 8, 0);
    made("/dev/shm/memory", S_IFCHR, 1, 1);
    /* A command for the user's terminal. */
    attempt_filtered("input of a terminal", ioctl(0, TIOCSTI, "x"), EPERM);
    attempt_filtered("a module", syscall(SYS_init_module, NULL, 0, ""), EPERM);
    attempt_filtered("a module's file", syscall(SYS_finit_module, -1, "", 0), EPERM);
    attempt_filtered("another kernel", syscall(SYS_kexec_load, 0, 0, NULL, ~0UL), EPERM);
    attempt_filtered("a program in the kernel", syscall(SYS_bpf, -1, NULL, 0), EPERM);
    attempt_filtered("page faults", syscall(SYS_userfaultfd, ~0), EPERM);
    attempt_filtered("the kernel's log", syscall(SYS_syslog, 10, NULL, 0), EPERM);
    attempt_filtered("the clock", syscall(SYS_clock_settime, CLOCK_REALTIME, NULL), EPERM);
    attempt_filtered("an end of the machine", syscall(SYS_reboot, 0, 0, 0, NULL), EPERM);
    attempt_filtered("swap", syscall(SYS_swapon, "/nowhere", 0), EPERM);
    attempt_filtered("privileges of its own", unshare(CLONE_NEWUSER), EPERM);
    attempt_filtered("privileges of a child", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0), EPERM);
    attempt_filtered("a child past the filter", syscall(SYS_clone3, NULL, 0), ENOSYS);
    attempt_filtered("calls past the filter", syscall(SYS_io_uring_setup, 1, NULL), ENOSYS);
    foreign_call();
    return report();
}
