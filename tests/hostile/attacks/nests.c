/* Directories nested deeper than programs recurse, and deeper than a path is long. One of them lets nobody in. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "known.h"

int main(void) {
    for (int level = 0; level < LEVELS; level++) {
        if (mkdir("nested", 0700) != 0 || chdir("nested") != 0) {
            perror("nested");
            return 1;
        }
    }
    fclose(fopen("file", "w"));
    chmod(".", 0);
    return 0;
}
