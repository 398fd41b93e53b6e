/* Fills the disk, in files that are small on their own, up to an amount that every disk has: so slowly that the lab, which
 * adds up all files four times a second, comes first. */
#include "attempts.h"

#include <fcntl.h>
#include <unistd.h>

int main(void) {
    static char block[1 << 18];
    memset(block, 1, sizeof block);
    for (long number = 0; number < HARMLESS / (long)sizeof block; number++) {
        char name[32];
        snprintf(name, sizeof name, "filled-%ld", number);
        int file = open(name, O_CREAT | O_WRONLY, 0600);
        if (file < 0 || write(file, block, sizeof block) < 0) {
            puts(strerror(errno));
            return 1;
        }
        close(file);
        usleep(5000);
    }
    reach("all of the disk");
    fflush(stdout);
    sleep(1000);
    return 1;
}
