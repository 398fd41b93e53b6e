/* Looks for secrets: in variables, files, descriptors, other processes, agents and the kernel. */
#include "attempts.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

extern char **environ;

static int is_secret(const char *path) {
    static char text[1 << 20];
    int opened = open(path, O_RDONLY);
    long length = opened < 0 ? 0 : read(opened, text, sizeof text);
    close(opened);
    return length > 0 && memmem(text, length, SECRET, strlen(SECRET)) != NULL;
}

static long inherited_descriptors(void) {
    char path[64], target[256];
    errno = ENOENT;
    for (int descriptor = 3; descriptor < 1024; descriptor++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
        long length = readlink(path, target, sizeof target - 1);
        /* Pipes are those of make. */
        if (length >= 5 && memcmp(target, "pipe:", 5) != 0) return 0;
    }
    errno = ENOENT;
    return -1;
}

static long agent(void) {
    struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = AGENT_SOCKET};
    return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof to);
}

int main(void) {
    static const char *const files[] = {FILES};
    static const char *const variables[] = {VARIABLES};
    char path[512];

    for (unsigned n = 0; n < sizeof files / sizeof *files; n++) attempt(files[n], open(files[n], O_RDONLY));
    errno = ENOENT;
    for (unsigned n = 0; n < sizeof variables / sizeof *variables; n++)
        attempt(variables[n], getenv(variables[n]) == NULL ? -1 : 0);
    for (char **variable = environ; *variable; variable++) attempt(*variable, strstr(*variable, SECRET) ? 0 : -1);
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; (entry = readdir(processes));) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
        snprintf(path, sizeof path, "/proc/%s/environ", entry->d_name);
        int found = is_secret(path);
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        found |= is_secret(path);
        errno = ENOENT;
        attempt("a secret of a process", found ? 0 : -1);
    }
    closedir(processes);
    attempt("a descriptor of the lab", inherited_descriptors());
    attempt("the agent that holds keys", agent());
    attempt_filtered("a key of the kernel", syscall(SYS_keyctl, 10, -4, "user", "zerolap", 0), EPERM);
    attempt_filtered("another key", syscall(SYS_request_key, "user", "zerolap", NULL, 0), EPERM);
    attempt_filtered("a key of its own", syscall(SYS_add_key, "user", "zerolap", "x", 1, -4), EPERM);
    return report();
}
