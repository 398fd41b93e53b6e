#define PAGE 65536L /* the largest that Linux has */
/* A part of its caller's own code wherever it is used. It counts in memory on the stack: GCC gives a function that needs
   no stack no frame either, whatever it is asked for. */
#define touch(pages, count) for (volatile long page = 0; page < (count); page++) ((volatile char *)(pages))[page * PAGE] = 1
static inline __attribute__((always_inline)) void folded_in(char *pages) { touch(pages, 10); }
