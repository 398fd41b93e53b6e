/* Forks without end; but for the number with which it would still do no harm to a machine that does not stop it. */
#include "attempts.h"

#include <sys/mman.h>
#include <unistd.h>

int main(void) {
    int *processes = mmap(NULL, sizeof *processes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    while (__atomic_add_fetch(processes, 1, __ATOMIC_SEQ_CST) < HARMLESS) {
        if (fork() < 0) __atomic_sub_fetch(processes, 1, __ATOMIC_SEQ_CST);
    }
    sleep(1000);
    return 1;
}
