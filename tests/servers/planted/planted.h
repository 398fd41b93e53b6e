#include <stdint.h>
static inline uint64_t both(uint64_t word) {
    return word * 3 + 1;
}
uint64_t planted_get(const char *data, uint64_t length);
uint64_t planted_work(uint64_t word);
void planted_start(void);
void planted_set(uint64_t length);
