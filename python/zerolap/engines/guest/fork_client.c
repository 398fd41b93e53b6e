/*
 * The first process of an emulated machine: starts a server, fills it, has it fork for BGSAVE and measures what a
 * client waits meanwhile. It reads what to do from /plan and writes lines `NAME VALUE` to the second serial line.
 *
 * The time stamp counter counts instructions here, as QEMU runs with `-icount shift=0`; so does the CPU clock of the
 * server, in nanoseconds, of which there is one for each instruction. All randomness comes from the seed of the plan.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define PR_SET_ASYNC_FORK 0x41464f4b

#define RESULTS "/dev/ttyS1"
#define PLAN "/plan"
#define ARGUMENTS "/server.arguments"
#define VARIABLES "/server.environment"
#define SOCKET_PATH "/data/server.sock"
#define DUMP "/data/dump.rdb"
#define COUNTERS "/proc/async_fork"

enum {
    LINE_BYTES = 4096,
    MOST_WORDS = 256,
    MOST_VALUE_BYTES = 1 << 16,
    KEY_BYTES = 16,
    PIPELINED = 64,
    /* As many at all sizes of some 100 MiB and more; the child's copying ends long before. */
    MOST_WAITS = 20000,
    REQUESTS_BETWEEN_LOOKS = 4096,
    PROGRESS_STEPS = 10,
    START_MILLISECONDS = 60000,
};

struct plan {
    uint64_t keys;
    uint64_t value_bytes;
    uint64_t async_fork;
    uint64_t seed;
};

struct wait {
    uint64_t ticks;
    uint64_t server;
};

/* The key of the request that is sent with BGSAVE: the server may execute either of them first. */
static uint64_t key_beside_fork;

/* A connection with what was received on it and not read yet. */
struct connection {
    int socket;
    size_t begin, end;
    char received[1 << 16];
};

static FILE *results;

static void restart(void)
{
    if (results)
        fflush(results), tcdrain(fileno(results));
    /* QEMU ends instead, by -no-reboot. */
    reboot(RB_AUTOBOOT);
    _exit(1);
}

static void report(const char *name, uint64_t value)
{
    fprintf(results, "%s %" PRIu64 "\n", name, value);
    fflush(results);
}

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    fputs("error ", results ? results : stderr);
    vfprintf(results ? results : stderr, format, values);
    fputc('\n', results ? results : stderr);
    va_end(values);
    restart();
    __builtin_unreachable();
}

/* Reports how many instructions the machine has executed so far, idle time included. */
static void report_ticks(const char *stage)
{
    char name[64];

    snprintf(name, sizeof name, "ticks_%s", stage);
    report(name, __rdtsc());
}

static uint64_t random_below(uint64_t *state, uint64_t bound)
{
    /* splitmix64, Steele, Lea and Flood 2014 */
    uint64_t z = *state += 0x9e3779b97f4a7c15;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % bound;
}

static void pause_milliseconds(long milliseconds)
{
    struct timespec left = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

/* The machine */

static void mount_all(void)
{
    static const char *const systems[][2] = {
        { "proc", "/proc" }, { "sysfs", "/sys" }, { "devtmpfs", "/dev" }, { "tmpfs", "/data" },
    };

    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        mkdir(systems[i][1], 0755);
        /* The dump and its predecessor may need nearly all memory: more than the half that is usual. */
        if (mount(systems[i][0], systems[i][1], systems[i][0], 0, i >= 3 ? "size=90%" : "") != 0 && errno != EBUSY)
            fail("cannot mount %s: %s", systems[i][0], strerror(errno));
    }
}

static void open_results(void)
{
    int line = open(RESULTS, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    struct termios settings;

    if (line < 0 || tcgetattr(line, &settings) != 0)
        fail("no serial line for results: %s", strerror(errno));
    cfmakeraw(&settings);
    tcsetattr(line, TCSANOW, &settings);
    results = fdopen(line, "w");
}

static void read_plan(struct plan *plan)
{
    const struct {
        const char *name;
        uint64_t *value;
    } fields[] = {
        { "keys", &plan->keys },
        { "value_bytes", &plan->value_bytes },
        { "async_fork", &plan->async_fork },
        { "seed", &plan->seed },
    };
    FILE *file = fopen(PLAN, "r");
    char name[64];
    uint64_t value;

    if (!file)
        fail("no " PLAN);
    while (fscanf(file, "%63s %" SCNu64, name, &value) == 2)
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
            if (strcmp(name, fields[i].name) == 0)
                *fields[i].value = value;
    fclose(file);
    if (plan->keys == 0 || plan->value_bytes < 8 || plan->value_bytes > MOST_VALUE_BYTES)
        fail("the plan has no keys or values of another size than is possible");
}

/* Returns the lines of a file, ended by NULL. */
static char **lines_of(const char *path)
{
    static char *none[] = { NULL };
    FILE *file = fopen(path, "r");
    char **words = calloc(MOST_WORDS + 1, sizeof *words);
    char line[LINE_BYTES];

    if (!file)
        return none;
    for (int i = 0; i < MOST_WORDS && fgets(line, sizeof line, file); i++) {
        line[strcspn(line, "\n")] = '\0';
        words[i] = strdup(line);
    }
    fclose(file);
    return words;
}

/* The server */

static pid_t start_server(const struct plan *plan)
{
    char **arguments = lines_of(ARGUMENTS), **variables = lines_of(VARIABLES);
    pid_t server = fork();

    if (server != 0)
        return server;
    if (prctl(PR_SET_ASYNC_FORK, plan->async_fork, 0, 0, 0) != 0 && plan->async_fork)
        fail("the kernel has no Async-fork: prctl: %s", strerror(errno));
    if (chdir("/data") == 0)
        execve(arguments[0], arguments, variables);
    fail("cannot start the server: %s", strerror(errno));
}

static void require_server(pid_t server)
{
    int status;

    if (waitpid(server, &status, WNOHANG) == server)
        fail("the server ended with %s %d", WIFSIGNALED(status) ? "signal" : "code",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static struct connection *connected(pid_t server)
{
    struct connection *connection = calloc(1, sizeof *connection);
    struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = SOCKET_PATH };

    connection->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    for (int waited = 0; connect(connection->socket, (struct sockaddr *)&address, sizeof address) != 0; waited++) {
        require_server(server);
        if (waited == START_MILLISECONDS)
            fail("the server does not listen: %s", strerror(errno));
        pause_milliseconds(1);
    }
    return connection;
}

static void send_all(struct connection *connection, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t sent = write(connection->socket, text, bytes);

        if (sent <= 0)
            fail("the server closed a connection: %s", strerror(errno));
        text += sent;
        bytes -= sent;
    }
}

static char next_byte(struct connection *connection)
{
    if (connection->begin == connection->end) {
        ssize_t received = read(connection->socket, connection->received, sizeof connection->received);

        if (received <= 0)
            fail("the server closed a connection: %s", received < 0 ? strerror(errno) : "it has ended");
        connection->begin = 0;
        connection->end = received;
    }
    return connection->received[connection->begin++];
}

static void read_line(struct connection *connection, char *line, size_t bytes)
{
    size_t length = 0;
    char byte;

    while ((byte = next_byte(connection)) != '\n')
        if (byte != '\r' && length + 1 < bytes)
            line[length++] = byte;
    line[length] = '\0';
}

static void expect_ok(struct connection *connection)
{
    char line[256];

    read_line(connection, line, sizeof line);
    if (strcmp(line, "+OK") != 0)
        fail("the server replied `%s`", line);
}

/* Asks for a section of INFO; returns text that the next call replaces. */
static const char *info(struct connection *connection, const char *section)
{
    static char text[1 << 16];
    char request[64];
    long bytes;

    send_all(connection, request, snprintf(request, sizeof request, "INFO %s\r\n", section));
    read_line(connection, text, sizeof text);
    bytes = text[0] == '$' ? atol(text + 1) : -1;
    if (bytes < 0)
        fail("the server replied `%.80s` to INFO", text);
    for (long i = 0; i < bytes + 2; i++) {
        char byte = next_byte(connection);

        if (i < (long)sizeof text - 1)
            text[i] = byte, text[i + 1] = '\0';
    }
    return text;
}

static const char *field(const char *text, const char *name)
{
    const char *place = strstr(text, name);

    return place ? place + strlen(name) : "";
}

static bool is_saving(struct connection *control)
{
    return *field(info(control, "persistence"), "rdb_bgsave_in_progress:") == '1';
}

/* The data: all values are known from the key and whether they were written before the fork or after it. */

static void fill_value(char *value, uint64_t bytes, uint64_t key, bool is_new)
{
    uint64_t state = key * 2 + is_new, stamp = random_below(&state, UINT64_MAX);

    for (uint64_t i = 0; i + sizeof stamp <= bytes; i += sizeof stamp)
        memcpy(value + i, &stamp, sizeof stamp);
    memset(value + bytes / sizeof stamp * sizeof stamp, '.', bytes % sizeof stamp);
}

/* Writes a SET request of a key and returns its length. */
static size_t set_request(char *request, const struct plan *plan, uint64_t key, bool is_new)
{
    size_t length = sprintf(request, "*3\r\n$3\r\nSET\r\n$%d\r\nkey:%012" PRIu64 "\r\n$%" PRIu64 "\r\n", KEY_BYTES, key,
                            plan->value_bytes);

    fill_value(request + length, plan->value_bytes, key, is_new);
    length += plan->value_bytes;
    memcpy(request + length, "\r\n", 2);
    return length + 2;
}

static void fill(struct connection *data, const struct plan *plan)
{
    char *requests = malloc(PIPELINED * (plan->value_bytes + 128));

    for (uint64_t key = 0; key < plan->keys;) {
        size_t length = 0;
        int sent = 0;

        for (; sent < PIPELINED && key < plan->keys; sent++, key++) {
            length += set_request(requests + length, plan, key, false);
            if ((key + 1) % (plan->keys / PROGRESS_STEPS + 1) == 0)
                report("filled_keys", key + 1);
        }
        send_all(data, requests, length);
        while (sent-- > 0)
            expect_ok(data);
    }
    free(requests);
}

/* The event */

static uint64_t server_clock(clockid_t clock)
{
    struct timespec now;

    if (clock_gettime(clock, &now) != 0)
        fail("the server's CPU clock cannot be read: %s", strerror(errno));
    return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

/*
 * Sends BGSAVE and then one request after the other, until the dump is there or MOST_WAITS were sent; returns their
 * number. The first wait begins before BGSAVE is sent: wherever the fork comes, it is in a wait.
 */
static size_t measure(struct connection *control, struct connection *data, const struct plan *plan, clockid_t clock,
                      struct wait *waits)
{
    char *request = malloc(plan->value_bytes + 128);
    uint64_t state = plan->seed;
    size_t sent = 0;

    while (sent < MOST_WAITS && access(DUMP, F_OK) != 0) {
        uint64_t key = random_below(&state, plan->keys);
        size_t length = set_request(request, plan, key, true);
        uint64_t server = server_clock(clock), ticks = __rdtsc();

        if (sent == 0) {
            key_beside_fork = key;
            send_all(control, "BGSAVE\r\n", 8);
        }
        send_all(data, request, length);
        expect_ok(data);
        waits[sent].ticks = __rdtsc() - ticks;
        waits[sent].server = server_clock(clock) - server;
        if (sent == 0) {
            char line[256];

            read_line(control, line, sizeof line);
            if (line[0] != '+')
                fail("the server replied `%s` to BGSAVE", line);
        }
        if (++sent % REQUESTS_BETWEEN_LOOKS == 0 && !is_saving(control))
            break;
    }
    free(request);
    return sent;
}

static int in_order(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* Reports the first of the waits, the longest one after it, the longest of all, and percentiles by nearest rank. */
static void report_waits(const char *kind, const struct wait *waits, size_t count, size_t offset)
{
    static const struct {
        const char *name;
        unsigned thousandths;
    } percentiles[] = { { "p50", 500 }, { "p99", 990 }, { "p99_9", 999 }, { "longest", 1000 } };
    uint64_t *values = malloc(count * sizeof *values), later = 0;
    char name[64];

    for (size_t i = 0; i < count; i++) {
        memcpy(&values[i], (const char *)&waits[i] + offset, sizeof *values);
        if (i > 0 && values[i] > later)
            later = values[i];
    }
    snprintf(name, sizeof name, "wait_%s_first", kind);
    report(name, values[0]);
    snprintf(name, sizeof name, "wait_%s_longest_later", kind);
    report(name, later);
    qsort(values, count, sizeof *values, in_order);
    for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++) {
        snprintf(name, sizeof name, "wait_%s_%s", kind, percentiles[i].name);
        report(name, values[(count * percentiles[i].thousandths + 999) / 1000 - 1]);
    }
    free(values);
}

static void reset_counters(void)
{
    int file = open(COUNTERS, O_WRONLY | O_CLOEXEC);

    if (file < 0)
        return;
    if (write(file, "0\n", 2) < 0)
        fail(COUNTERS " cannot be reset: %s", strerror(errno));
    close(file);
}

/* A kernel without the counters has no such file: nothing is reported then. */
static void report_counters(void)
{
    FILE *file = fopen(COUNTERS, "r");
    char name[64], reported[80];
    uint64_t value;

    if (!file)
        return;
    while (fscanf(file, "%63s %" SCNu64, name, &value) == 2) {
        snprintf(reported, sizeof reported, "kernel_%s", name);
        report(reported, value);
    }
    fclose(file);
}

/* Reports a line of a file of /proc about the server, in bytes. */
static void report_memory(pid_t server, const char *file, const char *line, const char *name)
{
    char path[64], text[LINE_BYTES];
    FILE *opened;

    snprintf(path, sizeof path, "/proc/%d/%s", server, file);
    opened = fopen(path, "r");
    if (!opened)
        return;
    while (fgets(text, sizeof text, opened))
        if (strncmp(text, line, strlen(line)) == 0)
            report(name, strtoull(text + strlen(line), NULL, 10) * 1024);
    fclose(opened);
}

/* The dump: what it holds must be what the server held at the moment of the fork. */

static uint64_t dump_bytes(FILE *dump, int bytes, bool is_big_endian)
{
    uint64_t value = 0;

    for (int i = 0; i < bytes; i++) {
        uint64_t byte = (unsigned char)getc(dump);

        value |= byte << 8 * (is_big_endian ? bytes - 1 - i : i);
    }
    return value;
}

/* Reads a length of the dump's format; `is_special` is set for an integer or compressed string. */
static uint64_t dump_length(FILE *dump, bool *is_special)
{
    int first = getc(dump);

    *is_special = false;
    switch (first >> 6 & 3) {
    case 0:
        return first & 63;
    case 1:
        return (uint64_t)(first & 63) << 8 | dump_bytes(dump, 1, true);
    case 2:
        return dump_bytes(dump, first == 0x81 ? 8 : 4, true);
    default:
        *is_special = true;
        return first & 63;
    }
}

static uint64_t dump_string(FILE *dump, char *text, uint64_t most_bytes)
{
    bool is_special;
    uint64_t bytes = dump_length(dump, &is_special);

    if (is_special && bytes < 3) {
        dump_bytes(dump, 1 << bytes, false);
        return 0;
    }
    if (is_special || bytes > most_bytes)
        fail("the dump has a string that nobody wrote, of %" PRIu64 " bytes", bytes);
    if (fread(text, 1, bytes, dump) != bytes)
        fail("the dump ends early");
    return bytes;
}

/* Whether a key has the value in the dump that it had at the moment of the fork. */
static bool is_as_forked(const struct plan *plan, uint64_t key, const char *value, uint64_t bytes)
{
    static char expected[MOST_VALUE_BYTES];

    if (key >= plan->keys || bytes != plan->value_bytes)
        return false;
    fill_value(expected, bytes, key, false);
    if (memcmp(value, expected, bytes) == 0)
        return true;
    fill_value(expected, bytes, key, true);
    return key == key_beside_fork && memcmp(value, expected, bytes) == 0;
}

static void check_dump(const struct plan *plan)
{
    static char buffer[1 << 20];
    char *text = malloc(MOST_VALUE_BYTES);
    uint64_t keys = 0, wrong = 0;
    FILE *dump = fopen(DUMP, "r");
    bool is_special;
    int kind;

    if (!dump || setvbuf(dump, buffer, _IOFBF, sizeof buffer) != 0 || fread(text, 1, 9, dump) != 9 ||
        memcmp(text, "REDIS", 5) != 0)
        fail("there is no dump");
    while ((kind = getc(dump)) != 0xff) {
        switch (kind) {
        case 0: {
            uint64_t key_bytes = dump_string(dump, text, MOST_VALUE_BYTES - 1), key, bytes;

            text[key_bytes] = '\0';
            key = key_bytes == KEY_BYTES ? strtoull(text + 4, NULL, 10) : UINT64_MAX;
            bytes = dump_string(dump, text, MOST_VALUE_BYTES);
            wrong += !is_as_forked(plan, key, text, bytes);
            keys++;
            break;
        }
        case 0xfa: /* a remark: name and value */
            dump_string(dump, text, MOST_VALUE_BYTES);
            dump_string(dump, text, MOST_VALUE_BYTES);
            break;
        case 0xf4: /* sizes of a slot and its tables */
            dump_length(dump, &is_special);
            /* fall through */
        case 0xfb: /* sizes of both tables */
            dump_length(dump, &is_special);
            /* fall through */
        case 0xfe: /* a database */
            dump_length(dump, &is_special);
            break;
        case EOF:
            fail("the dump ends early");
        default:
            fail("the dump has a part of kind %d, which is not known", kind);
        }
    }
    fclose(dump);
    report("dump_keys", keys);
    report("dump_values_wrong", wrong);
}

static void event(pid_t server, struct connection *control, struct connection *data, const struct plan *plan)
{
    struct wait *waits = malloc(MOST_WAITS * sizeof *waits);
    clockid_t clock;
    size_t count;
    const char *state;

    /* Touched before: writing to it must not cost anything in the event. */
    memset(waits, 1, MOST_WAITS * sizeof *waits);
    if (clock_getcpuclockid(server, &clock) != 0)
        fail("the server has no CPU clock");
    reset_counters();
    count = measure(control, data, plan, clock, waits);
    while (is_saving(control))
        pause_milliseconds(10);
    report_counters();
    state = info(control, "persistence");
    if (strncmp(field(state, "rdb_last_bgsave_status:"), "ok", 2) != 0)
        fail("the server could not save");
    report("copied_on_write_bytes", strtoull(field(state, "rdb_last_cow_size:"), NULL, 10));
    report("latest_fork_usec", strtoull(field(info(control, "stats"), "latest_fork_usec:"), NULL, 10));
    report("requests", count);
    report_waits("ticks", waits, count, offsetof(struct wait, ticks));
    report_waits("server", waits, count, offsetof(struct wait, server));
    free(waits);
}

int main(void)
{
    struct plan plan = { 0 };
    struct connection *control, *data;
    pid_t server;

    mount_all();
    open_results();
    read_plan(&plan);
    server = start_server(&plan);
    if (server < 0)
        fail("cannot start a process: %s", strerror(errno));
    control = connected(server);
    data = connected(server);
    report_ticks("started");
    fill(data, &plan);
    report_ticks("filled");
    report_memory(server, "status", "VmRSS:", "resident_bytes");
    report_memory(server, "status", "VmPTE:", "page_table_bytes");
    report_memory(server, "smaps_rollup", "Anonymous:", "anonymous_bytes");
    report_memory(server, "smaps_rollup", "AnonHugePages:", "huge_page_bytes");
    event(server, control, data, &plan);
    report_ticks("saved");
    check_dump(&plan);
    report_ticks("checked");
    report("end", 1);
    restart();
}
