/* Replies. */
#include "server.h"

#include <stdlib.h>
#include <string.h>

void add_bytes(struct client *client, const void *data, size_t length) {
    if (client->output_length + length > client->output_size) {
        client->output_size = 2 * (client->output_length + length);
        client->output = realloc(client->output, client->output_size);
    }
    memcpy(client->output + client->output_length, data, length);
    client->output_length += length;
}

size_t format_number(char *buffer, long long value) {
    char digits[24];
    size_t length = 0, written = 0;
    unsigned long long left = value < 0 ? -(unsigned long long)value : (unsigned long long)value;
    do {
        digits[length++] = '0' + left % 10;
        left /= 10;
    } while (left);
    if (value < 0) buffer[written++] = '-';
    while (length) buffer[written++] = digits[--length];
    return written;
}

static void add_header(struct client *client, char type, long long value) {
    char line[32];
    line[0] = type;
    size_t length = 1 + format_number(line + 1, value);
    memcpy(line + length, "\r\n", 2);
    add_bytes(client, line, length + 2);
}

void add_integer(struct client *client, long long value) {
    add_header(client, ':', value);
}

void add_bulk(struct client *client, const char *data, size_t length) {
    if (data == NULL) {
        add_bytes(client, "$-1\r\n", 5);
        return;
    }
    add_header(client, '$', (long long)length);
    add_bytes(client, data, length);
    add_bytes(client, "\r\n", 2);
}

void add_status(struct client *client, const char *text) {
    add_bytes(client, "+", 1);
    add_bytes(client, text, strlen(text));
    add_bytes(client, "\r\n", 2);
}

void add_error(struct client *client, const char *text) {
    add_bytes(client, "-ERR ", 5);
    add_bytes(client, text, strlen(text));
    add_bytes(client, "\r\n", 2);
}

uint64_t checksum_value(const char *data, size_t length) {
    uint64_t sum = length;
    for (size_t index = 0; index < length; index++) sum = mix_word(sum + (unsigned char)data[index]);
    return sum;
}
