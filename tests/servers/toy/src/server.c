/* The event loop: connections, requests in, replies out. */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct settings settings = {.socket_path = NULL, .port = 0, .rounds = 1};
long long now_us;

static void die(const char *what) {
    printf("*** FATAL: %s\n", what);
    fflush(stdout);
    exit(1);
}

/* Settings of Redis to which there is nothing to do here; the port is always that of the loopback. */
static int is_without_effect(const char *name) {
    static const char *names[] = {"--save", "--appendonly", "--daemonize", "--bind", "--protected-mode"};
    for (size_t index = 0; index < sizeof(names) / sizeof(*names); index++)
        if (strcmp(name, names[index]) == 0) return 1;
    return 0;
}

static void read_settings(int count, char **words) {
    for (int index = 1; index + 1 < count; index += 2) {
        const char *name = words[index], *value = words[index + 1];
        if (strcmp(name, "--unixsocket") == 0) settings.socket_path = value;
        else if (strcmp(name, "--port") == 0) settings.port = atoi(value);
        else if (strcmp(name, "--rounds") == 0) settings.rounds = atoi(value);
        else if (strcmp(name, "--dir") == 0) { if (chdir(value) != 0) die("cannot change to the directory"); }
        else if (!is_without_effect(name))
            die("bad directive or wrong number of arguments");
    }
    if (settings.socket_path == NULL) die("no --unixsocket");
}

static uint64_t random_seed(void) {
    uint64_t seed = 0;
    int file = open("/dev/urandom", O_RDONLY);
    if (file < 0 || read(file, &seed, sizeof(seed)) != sizeof(seed)) die("no /dev/urandom");
    close(file);
    return seed;
}

static void update_clock(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    now_us = (long long)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static int listen_on(struct sockaddr *address, socklen_t size, int family) {
    int listener = socket(family, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, address, size) != 0 || listen(listener, 64) != 0) die("cannot listen: address in use?");
    return listener;
}

/* Returns the position behind a header such as "*3\r\n" or "$5\r\n" and its number; 0 when it is not there yet. */
static size_t read_header(struct client *client, size_t position, long *number) {
    char *start = client->input + position;
    char *end = memchr(start, '\n', client->input_length - position);
    if (end == NULL) return 0;
    *number = strtol(start + 1, NULL, 10);
    return (size_t)(end - client->input) + 1;
}

/* Executes one whole request and returns the position behind it; 0 when it is not there yet. */
static size_t take_request(struct client *client, size_t position) {
    struct slice arguments[MAX_ARGUMENTS];
    long count, length;
    position = read_header(client, position, &count);
    if (position == 0) return 0;
    if (count < 1 || count > MAX_ARGUMENTS) die("protocol error");
    for (long index = 0; index < count; index++) {
        if (position >= client->input_length) return 0;
        position = read_header(client, position, &length);
        if (position == 0 || position + length + 2 > client->input_length) return 0;
        arguments[index] = (struct slice){client->input + position, (size_t)length};
        position += length + 2;
    }
    execute(client, arguments, (int)count);
    return position;
}

static void send_replies(struct client *client) {
    size_t sent = 0;
    while (sent < client->output_length) {
        ssize_t length = write(client->descriptor, client->output + sent, client->output_length - sent);
        if (length <= 0) break;
        sent += (size_t)length;
    }
    client->output_length = 0;
}

/* Returns whether the client is still there. */
static int serve(struct client *client) {
    if (client->input_size - client->input_length < 16384) {
        client->input_size = 2 * client->input_size + 32768;
        client->input = realloc(client->input, client->input_size);
    }
    ssize_t length = read(client->descriptor, client->input + client->input_length, client->input_size - client->input_length);
    if (length <= 0) return 0;
    client->input_length += (size_t)length;
    size_t done = 0, next;
    while (done < client->input_length && (next = take_request(client, done)) != 0) done = next;
    memmove(client->input, client->input + done, client->input_length - done);
    client->input_length -= done;
    send_replies(client);
    return 1;
}

static void drop(struct client *client) {
    close(client->descriptor);
    free(client->input);
    free(client->output);
    free(client);
}

static void watch(int poller, int descriptor, struct client *client) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event);
}

int main(int count, char **words) {
    if (count == 2 && strcmp(words[1], "--version") == 0) {
        puts("toy-server v=" VERSION);
        return 0;
    }
    read_settings(count, words);
    table_init(random_seed());
    struct client unix_listener = {0}, port_listener = {0};
    int poller = epoll_create1(0);
    if (settings.port) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)settings.port)};
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        port_listener.descriptor = listen_on((struct sockaddr *)&address, sizeof(address), AF_INET);
        watch(poller, port_listener.descriptor, &port_listener);
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, settings.socket_path, sizeof(address.sun_path) - 1);
    unix_listener.descriptor = listen_on((struct sockaddr *)&address, sizeof(address), AF_UNIX);
    watch(poller, unix_listener.descriptor, &unix_listener);
    printf("ready on %s\n", settings.socket_path);
    fflush(stdout);
    for (;;) {
        struct epoll_event events[64];
        int ready = epoll_wait(poller, events, 64, 100);
        update_clock();
        for (int index = 0; index < ready; index++) {
            struct client *client = events[index].data.ptr;
            if (client == &unix_listener || client == &port_listener) {
                struct client *added = calloc(1, sizeof(*added));
                added->descriptor = accept(client->descriptor, NULL, NULL);
                if (added->descriptor < 0) free(added);
                else watch(poller, added->descriptor, added);
            } else if (!serve(client)) {
                drop(client);
            }
        }
    }
}
