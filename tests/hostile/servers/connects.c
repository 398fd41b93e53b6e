/* Holds a listening socket of the machine's network, and tries to reach a server of the machine by it and by each
 * connection that it accepts. Ends with the number of attempts that were not refused. */
#include "attempts.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr *to;
static socklen_t length;

static long disconnected(int connection) {
    struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
    return connect(connection, &nowhere, sizeof nowhere);
}

static long with_fast_open(int connection, int several) {
    struct iovec data = {"x", 1};
    struct mmsghdr message = {.msg_hdr = {.msg_name = to, .msg_namelen = length, .msg_iov = &data, .msg_iovlen = 1}};
    return several ? sendmmsg(connection, &message, 1, MSG_FASTOPEN | MSG_NOSIGNAL)
                   : sendmsg(connection, &message.msg_hdr, MSG_FASTOPEN | MSG_NOSIGNAL);
}

int main(int count, char **words) {
    struct sockaddr_in canary = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_un beside = {.sun_family = AF_UNIX, .sun_path = "nobody"};
    if (count != 3) return 2;
    int listener = atoi(words[1]), one = 1, connection;
    canary.sin_port = htons(atoi(words[2]));
    to = (struct sockaddr *)&canary;
    length = sizeof canary;

    connection = accept(listener, NULL, NULL);
    if (connection < 0) return 2;
    puts("accepted");
    attempt_filtered("disconnecting", disconnected(connection), EPERM);
    attempt_filtered("connecting what was accepted", connect(connection, to, length), EPERM);

    connection = accept(listener, NULL, NULL);
    disconnected(connection);
    attempt_filtered("past the C library", syscall(SYS_connect, connection, to, length), EPERM);

    connection = accept(listener, NULL, NULL);
    disconnected(connection);
    attempt_filtered("sendto", sendto(connection, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, to, length), EPERM);

    connection = accept(listener, NULL, NULL);
    disconnected(connection);
    attempt_filtered("sendmsg", with_fast_open(connection, 0), EPERM);

    connection = accept(listener, NULL, NULL);
    disconnected(connection);
    attempt_filtered("sendmmsg", with_fast_open(connection, 1), EPERM);

    connection = accept(listener, NULL, NULL);
    disconnected(connection);
    setsockopt(connection, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof one);
    attempt_filtered("fast open by an option", connect(connection, to, length), EPERM);

    connection = accept(listener, NULL, NULL);
    disconnected(connection);
    canary.sin_port = 0;
    if (bind(connection, to, length) == 0 && listen(connection, 1) == 0) reach("another port to listen on");
    canary.sin_port = htons(atoi(words[2]));

    /* The other side has reset the last one: it has no port any more. */
    char nothing;
    connection = accept(listener, NULL, NULL);
    recv(connection, &nothing, 1, 0);
    canary.sin_port = 0;
    bind(connection, to, length);
    if (listen(connection, 1) == 0) reach("a port to listen on after a reset");
    shutdown(connection, SHUT_RDWR);
    if (listen(connection, 1) == 0) reach("a port to listen on after a shutdown");
    canary.sin_port = htons(atoi(words[2]));
    attempt_filtered("connecting what was reset", connect(connection, to, length), EPERM);

    shutdown(listener, SHUT_RDWR);
    attempt_filtered("connecting what listened", connect(listener, to, length), EPERM);
    connection = socket(AF_UNIX, SOCK_STREAM, 0);
    attempt_filtered("a socket file", connect(connection, (struct sockaddr *)&beside, sizeof beside), EPERM);
    /* Requests of io_uring are system calls that no filter sees. */
    attempt_filtered("io_uring", syscall(425, 1, NULL), ENOSYS);
    report();
    return reached;
}
