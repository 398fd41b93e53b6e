/* A small server that speaks RESP2 over a unix socket: what the lab's tests change, build and measure. */
#ifndef TOY_SERVER_H
#define TOY_SERVER_H

#include <stddef.h>
#include <stdint.h>

#define VERSION "1.0.0"
#define MAX_ARGUMENTS 64

struct slice {
    const char *data;
    size_t length;
};

struct client {
    int descriptor;
    char *input, *output;
    size_t input_length, input_size, output_length, output_size;
};

struct settings {
    const char *socket_path;
    int port;
    int rounds; /* how often a reply's checksum is computed */
};

extern struct settings settings;
extern long long now_us;

/* format.c */
void add_bytes(struct client *client, const void *data, size_t length);
void add_status(struct client *client, const char *text);
void add_error(struct client *client, const char *text);
void add_integer(struct client *client, long long value);
void add_bulk(struct client *client, const char *data, size_t length);
size_t format_number(char *buffer, long long value);
uint64_t checksum_value(const char *data, size_t length);

/* table.c */
void table_init(uint64_t seed);
struct slice *table_find(struct slice key);
void table_put(struct slice key, struct slice value);
int table_remove(struct slice key);
size_t table_count(void);

/* commands.c */
void execute(struct client *client, struct slice *arguments, int count);

static inline uint64_t mix_word(uint64_t word) {
    word ^= word >> 30;
    word *= 0xbf58476d1ce4e5b9ULL;
    return word ^ (word >> 27);
}

#endif
