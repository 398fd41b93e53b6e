/* A hash table with chains, seeded so that nobody can choose colliding keys. */
#include "server.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096

struct entry {
    struct entry *next;
    struct slice key, value;
};

static struct entry *buckets[BUCKETS];
static uint64_t hash_seed;
static size_t entries;

void table_init(uint64_t seed) {
    hash_seed = seed;
}

static uint64_t hash_key(struct slice key) {
    uint64_t hash = hash_seed;
    for (size_t index = 0; index < key.length; index++) hash = (hash ^ (unsigned char)key.data[index]) * 0x100000001b3ULL;
    return hash ^ (hash >> 32);
}

static struct entry **find_link(struct slice key) {
    struct entry **link = &buckets[hash_key(key) % BUCKETS];
    while (*link && ((*link)->key.length != key.length || memcmp((*link)->key.data, key.data, key.length) != 0))
        link = &(*link)->next;
    return link;
}

static struct slice copy_of(struct slice source) {
    char *data = malloc(source.length + 1);
    memcpy(data, source.data, source.length);
    data[source.length] = '\0';
    return (struct slice){data, source.length};
}

struct slice *table_find(struct slice key) {
    struct entry *entry = *find_link(key);
    return entry ? &entry->value : NULL;
}

void table_put(struct slice key, struct slice value) {
    struct entry **link = find_link(key);
    if (*link == NULL) {
        *link = calloc(1, sizeof(struct entry));
        (*link)->key = copy_of(key);
        entries++;
    } else {
        free((char *)(*link)->value.data);
    }
    (*link)->value = copy_of(value);
}

int table_remove(struct slice key) {
    struct entry **link = find_link(key), *entry = *link;
    if (entry == NULL) return 0;
    *link = entry->next;
    free((char *)entry->key.data);
    free((char *)entry->value.data);
    free(entry);
    entries--;
    return 1;
}

size_t table_count(void) {
    return entries;
}
