/* Touches pages, each of which is one page fault: the samples of a recording by `page-faults` are counted beforehand. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include "work.h"

__attribute__((noinline)) static void cheap(char *pages) { touch(pages, 20); }
__attribute__((noinline)) static void costly(char *pages) { touch(pages, 40); }
__attribute__((noinline)) static void serve(char *pages) { cheap(pages); costly(pages + 20 * PAGE); folded_in(pages + 60 * PAGE); touch(pages + 70 * PAGE, 1); }
__attribute__((noinline)) static void background(char *pages) { cheap(pages); touch(pages + 20 * PAGE, 1); }

static char *fresh_pages(long count) {
    char *pages = mmap(0, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    /* A huge page would take one fault for all. */
    madvise(pages, count * PAGE, MADV_NOHUGEPAGE);
    return pages;
}

static void *other(void *pages) {
    pthread_setname_np(pthread_self(), "bio;worker");
    background(pages);
    return 0;
}

int main(void) {
    pthread_t thread;
    /* Where a recorder attaches, it does so while the program waits here. */
    getchar();
    pthread_setname_np(pthread_self(), "main-thread");
    pthread_create(&thread, 0, other, fresh_pages(21));
    pthread_join(thread, 0);
    serve(fresh_pages(71));
    return 0;
}
