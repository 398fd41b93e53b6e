/* Leaves a process that is to go on after the build: in a session of its own, without a parent, deaf to signals. */
#include "attempts.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

int main(int count, char **arguments) {
    if (count > 1) {
        for (int number = 1; number < 32; number++) signal(number, SIG_IGN);
        fclose(fopen("started", "w"));
        sleep(1000);
        return 0;
    }
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            for (int descriptor = 0; descriptor < 1024; descriptor++) close(descriptor);
            for (int descriptor = 0; descriptor < 3; descriptor++) open("/dev/null", O_RDWR);
            execl(arguments[0], arguments[0], MARKER, NULL);
        }
        _exit(0);
    }
    while (access("started", F_OK) != 0) usleep(10000);
    puts("the daemon has started");
    fflush(stdout);
    if (NEVER_ENDS) pause();
    return 0;
}
