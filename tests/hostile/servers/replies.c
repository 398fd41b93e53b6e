/* A server that answers PING as servers do, and everything else by what is no reply: `@x`. */

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void answer(int connection) {
    char received[65536];
    ssize_t length;
    while ((length = read(connection, received, sizeof received - 1)) > 0) {
        received[length] = 0;
        const char *reply = strstr(received, "PING") ? "+PONG\r\n" : "@x\r\n";
        if (write(connection, reply, strlen(reply)) < 0)
            return;
    }
}

int main(int count, char **words) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    for (int word = 1; word < count; word++) {
        if (!strcmp(words[word], "--version")) {
            puts("Redis server v=7.0.0 sha=00000000:0 malloc=libc bits=64 build=0");
            return 0;
        }
        if (!strcmp(words[word], "--unixsocket") && word + 1 < count)
            strncpy(address.sun_path, words[word + 1], sizeof address.sun_path - 1);
    }
    int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listening, (struct sockaddr *)&address, sizeof address) || listen(listening, 8))
        return 1;
    for (;;) {
        int connection = accept(listening, 0, 0);
        answer(connection);
        close(connection);
    }
}
