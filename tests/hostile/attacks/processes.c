/* Tries to find, read, trace, slow down and kill processes of the machine. */
#include "attempts.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static long named(const char *marker) {
    char path[512], text[4096];
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; (entry = readdir(processes));) {
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        int opened = open(path, O_RDONLY);
        long length = opened < 0 ? 0 : read(opened, text, sizeof text);
        close(opened);
        if (length > 0 && memmem(text, length, marker, strlen(marker)) != NULL) return 0;
    }
    errno = ENOENT;
    return -1;
}

/* Numbers begin with 1 in the sandbox: a process of its own can have the same number. */
static int is_own(int process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d", process);
    return access(path, F_OK) == 0;
}

static void attack(int process) {
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)4096, 1};
    if (!is_own(process)) {
        attempt("a process by its number", kill(process, 0));
        attempt("a handle of a process", syscall(SYS_pidfd_open, process, 0));
        attempt("the priority of a process", getpriority(PRIO_PROCESS, process));
    }
    attempt_filtered("the memory of a process", process_vm_readv(process, &here, 1, &there, 1, 0), EPERM);
    attempt_filtered("a changed memory", process_vm_writev(process, &here, 1, &there, 1, 0), EPERM);
    attempt_filtered("a traced process", ptrace(PTRACE_SEIZE, process, NULL, NULL), EPERM);
}

int main(void) {
    char numbers[64] = "";
    readlink("/proc/self/ns/pid", numbers, sizeof numbers - 1);
    errno = EPERM;
    attempt("the numbers of the machine's processes", strcmp(numbers, NUMBERS) == 0 ? 0 : -1);
    attempt("a process by its name", named(MARKER));
    attack(LAB);
    attack(CANARY);
    if (!is_own(CANARY)) {
        attempt("a signal that kills", kill(CANARY, SIGKILL));
        attempt("a lower priority", setpriority(PRIO_PROCESS, CANARY, 19));
        attempt("other processors", sched_setaffinity(CANARY, sizeof(cpu_set_t), &(cpu_set_t){{1}}));
        attempt("other limits", prlimit(CANARY, RLIMIT_CPU, &(struct rlimit){0, 0}, NULL));
    }
    attempt_filtered("the tracing of its own processes", ptrace(PTRACE_TRACEME, 0, NULL, NULL), EPERM);
    attempt_filtered("other numbers", setns(open("/proc/1/ns/pid", O_RDONLY), CLONE_NEWPID), EPERM);
    attempt_filtered("the counters of processors", syscall(SYS_perf_event_open, NULL, -1, 0, -1, 0), EPERM);
    int is_apart = reached == 0, code = report();
    /* All processes that it can reach: only if these are its own, as the machine's would be all of them. */
    if (is_apart) kill(-1, SIGKILL);
    return code;
}
