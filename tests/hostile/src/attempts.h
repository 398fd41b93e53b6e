/* Attempts that are to be refused. An attack makes all of its attempts, and ends with the number of those that were not. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "known.h"

static int attempts, reached;

static void reach(const char *what) {
    reached++;
    printf("REACHED: %s\n", what);
}

static int is_refusal(int error) {
    switch (error) {
    case EPERM: case EACCES: case EROFS: case ENOENT: case ENOTDIR: case ESRCH: case ENOSYS:
    case ECONNREFUSED: case ENETUNREACH: case EADDRNOTAVAIL: case EAFNOSUPPORT:
        return 1;
    }
    return 0;
}

/* `result` is what a system call returned: it has to be an error that says that nothing is there, or no permission. */
static void attempt(const char *what, long result) {
    int error = errno;
    attempts++;
    if (result >= 0) {
        reach(what);
    } else if (!is_refusal(error)) {
        char text[256];
        snprintf(text, sizeof text, "%s: %s", what, strerror(error));
        reach(text);
    }
}

/* The same for a call that the sandbox's filter refuses before the kernel looks at its arguments. */
static void attempt_filtered(const char *what, long result, int expected) {
    attempt(what, result);
    if (result < 0 && is_refusal(errno) && errno != expected) reach(what);
}

/* The build fails in any case: whoever has reached nothing has no use for a server either. */
static int report(void) {
    printf("reached %d in %d attempts\n", reached, attempts);
    fflush(stdout);
    return 1;
}
