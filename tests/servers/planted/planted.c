/* Functions in each of the forms that compilers give to them; see test_planted_execution.py. */
#include "planted.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURNS 3
static uint64_t state;

static inline uint64_t used(uint64_t word) {
    return word ^ (word >> 7);
}

static inline uint64_t unused_here(uint64_t word) {
    return word ^ (word >> 9);
}

static __attribute__((noinline)) uint64_t cloned(uint64_t word, int turns) {
    for (int turn = 0; turn < turns; turn++) word = word * 31 + turn;
    return word;
}

static __attribute__((noinline)) uint64_t cold_part(uint64_t word) {
    if (__builtin_expect(word == 12345678901ULL, 0)) {
        fprintf(stderr, "odd word %d\n", 1);
        abort();
    }
    return word + 5;
}

static uint64_t step(uint64_t word) {
    for (uint64_t turn = 0; turn < (word & 3); turn++) word += turn * 7;
    return word;
}

static __attribute__((noinline)) uint64_t recursive(uint64_t word, int depth) {
    return depth == 0 ? word : recursive(word / 2, depth - 1) + word % 5;
}

static __attribute__((noinline)) uint64_t twin_a(uint64_t word) {
    for (int turn = 0; turn < 4; turn++) word = word * 17 + 3;
    return word;
}

static __attribute__((noinline)) uint64_t twin_b(uint64_t word) {
    for (int turn = 0; turn < 4; turn++) word = word * 17 + 3;
    return word;
}

static uint64_t pointed(uint64_t word) {
    return word * 41;
}

static uint64_t pointed_never(uint64_t word) {
    return word * 43;
}

static uint64_t (*const table[])(uint64_t) = {pointed, pointed_never};

static uint64_t early(uint64_t length) {
    if (length < 1000000) return 1;
    for (int turn = 0; turn < 9; turn++) {
        state = state * 11 + length;
        printf("long %d\n", turn);
        fflush(stdout);
    }
    return state;
}

static __attribute__((noinline)) uint64_t by_macro(uint64_t word) {
    for (int turn = 0; turn < TURNS; turn++) word += word << 3;
    return word;
}

uint64_t planted_get(const char *data, uint64_t length) {
    uint64_t word = used(length) + (unsigned char)data[0];
    word = cloned(word, 3) + cold_part(word) + step(word) + recursive(word, 4) + twin_a(word);
    word += early(length) + early(length / 2) + by_macro(word) + both(word);
    return word + table[(word & 1) >> 1](word);
}

uint64_t planted_work(uint64_t word) {
    return unused_here(word) + twin_b(word) + table[1](word) + step(word);
}

void planted_start(void) {
    state += 77;
}

void planted_set(uint64_t length) {
    state += length * 3;
}
