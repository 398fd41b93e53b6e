/* Tries to reach servers of the machine, of its network and of the internet. */
#include "attempts.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static long connected(int type, const char *address, int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, address, &to.sin_addr);
    int made = socket(AF_INET, type, 0);
    return connect(made, (struct sockaddr *)&to, sizeof to);
}

static long connected_6(const char *address, int port) {
    struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    inet_pton(AF_INET6, address, &to.sin6_addr);
    int made = socket(AF_INET6, SOCK_STREAM, 0);
    return connect(made, (struct sockaddr *)&to, sizeof to);
}

static long connected_to_name(const char *name, int is_abstract) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strncpy(to.sun_path + is_abstract, name, sizeof to.sun_path - 1 - is_abstract);
    socklen_t length = offsetof(struct sockaddr_un, sun_path) + is_abstract + strlen(name);
    return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&to, length);
}

static int own_loopback_works(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof at;
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listening, (struct sockaddr *)&at, length) || listen(listening, 1)) return 0;
    getsockname(listening, (struct sockaddr *)&at, &length);
    return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&at, length) == 0;
}

int main(void) {
    struct addrinfo *found;
    attempt("a server on the machine's loopback", connected(SOCK_STREAM, "127.0.0.1", TCP_PORT));
    attempt("a socket file of the machine", connected_to_name(SOCKET_FILE, 0));
    attempt("a socket of the machine without a file", connected_to_name(ABSTRACT_NAME, 1));
    /* Addresses for documentation: nobody answers there, should the packets get out. */
    attempt("the internet by TCP", connected(SOCK_STREAM, "192.0.2.1", 80));
    attempt("the internet by UDP", connected(SOCK_DGRAM, "192.0.2.1", 53));
    attempt("the internet by IPv6", connected_6("2001:db8::1", 80));
    attempt("the metadata of a cloud", connected(SOCK_DGRAM, "169.254.169.254", 80));
    long named = getaddrinfo("example.com", "80", NULL, &found) == 0 ? 0 : -1;
    errno = ENETUNREACH;
    attempt("a name", named);
    attempt("packets", socket(AF_PACKET, SOCK_RAW, 0));
    attempt("the hypervisor", socket(AF_VSOCK, SOCK_STREAM, 0));
    attempt("the firewall", socket(AF_NETLINK, SOCK_RAW, 12));
    attempt("another network", setns(open("/proc/1/ns/net", O_RDONLY), CLONE_NEWNET));
    attempt("a network of its own", unshare(CLONE_NEWUSER | CLONE_NEWNET));
    if (own_loopback_works()) puts("its own loopback works");
    return report();
}
