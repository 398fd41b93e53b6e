/* Takes memory up to an amount that every machine has. */
#include "attempts.h"

#include <stdlib.h>
#include <unistd.h>

int main(void) {
    for (long taken = 0; taken < HARMLESS; taken += 1 << 20) {
        char *block = malloc(1 << 20);
        if (block == NULL) {
            puts("Cannot allocate memory");
            return 1;
        }
        memset(block, 1, 1 << 20);
    }
    reach("all memory");
    fflush(stdout);
    sleep(1000);
    return 1;
}
