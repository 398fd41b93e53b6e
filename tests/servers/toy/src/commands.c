/* The commands. */
#include "server.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct command {
    const char *name;
    void (*handler)(struct client *client, struct slice *arguments, int count);
    int arguments; /* with its name; negative: at least so many */
    long long calls;
};

static uint64_t last_checksum;

static void ping_command(struct client *client, struct slice *arguments, int count) {
    (void)arguments, (void)count;
    add_status(client, "PONG");
}

static void set_command(struct client *client, struct slice *arguments, int count) {
    (void)count;
    table_put(arguments[1], arguments[2]);
    add_status(client, "OK");
}

static void get_command(struct client *client, struct slice *arguments, int count) {
    (void)count;
    struct slice *value = table_find(arguments[1]);
    if (value == NULL) {
        add_bulk(client, NULL, 0);
        return;
    }
    for (int round = 0; round < settings.rounds; round++)
        last_checksum += checksum_value(value->data, value->length);
    add_bulk(client, value->data, value->length);
}

static void del_command(struct client *client, struct slice *arguments, int count) {
    (void)count;
    add_integer(client, table_remove(arguments[1]));
}

static void work_command(struct client *client, struct slice *arguments, int count) {
    (void)count;
    uint64_t word = arguments[1].length;
    long rounds = strtol(arguments[2].data, NULL, 10);
    for (long round = 0; round < rounds; round++) word = word * 6364136223846793005ULL + 1442695040888963407ULL;
    last_checksum = mix_word(word);
    add_integer(client, (long long)(last_checksum >> 1));
}

static void dbsize_command(struct client *client, struct slice *arguments, int count) {
    (void)arguments, (void)count;
    add_integer(client, (long long)table_count());
}

static void config_command(struct client *client, struct slice *arguments, int count) {
    if (count == 4 && strncasecmp(arguments[1].data, "set", 3) == 0 && strncmp(arguments[2].data, "rounds", 6) == 0) {
        settings.rounds = atoi(arguments[3].data);
        add_status(client, "OK");
        return;
    }
    add_error(client, "Unknown option or number of arguments for CONFIG SET");
}

static void info_command(struct client *client, struct slice *arguments, int count);

static struct command commands[] = {
    {"ping", ping_command, 1, 0},   {"set", set_command, 3, 0},        {"get", get_command, 2, 0},
    {"del", del_command, 2, 0},     {"work", work_command, 3, 0},      {"dbsize", dbsize_command, 1, 0},
    {"config", config_command, -3, 0}, {"info", info_command, -1, 0},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void info_command(struct client *client, struct slice *arguments, int count) {
    (void)arguments, (void)count;
    char text[1024] = "# Commandstats\r\n";
    size_t length = strlen(text);
    for (size_t index = 0; index < COMMANDS; index++)
        if (commands[index].calls)
            length += snprintf(text + length, sizeof(text) - length, "cmdstat_%s:calls=%lld,usec=%lld,usec_per_call=1.00\r\n",
                               commands[index].name, commands[index].calls, commands[index].calls);
    length += snprintf(text + length, sizeof(text) - length, "# Memory\r\nused_memory:%zu\r\n", mallinfo2().uordblks);
    add_bulk(client, text, length);
}

void execute(struct client *client, struct slice *arguments, int count) {
    for (size_t index = 0; index < COMMANDS; index++) {
        struct command *command = &commands[index];
        if (strlen(command->name) != arguments[0].length) continue;
        if (strncasecmp(command->name, arguments[0].data, arguments[0].length) != 0) continue;
        if (command->arguments > 0 ? count != command->arguments : count < -command->arguments) {
            add_error(client, "wrong number of arguments");
            return;
        }
        command->calls++;
        command->handler(client, arguments, count);
        return;
    }
    add_error(client, "unknown command");
}
