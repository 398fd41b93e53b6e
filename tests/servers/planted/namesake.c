/* A function of the name of another one. */
#include "planted.h"
static uint64_t step(uint64_t word) {
    for (uint64_t turn = 0; turn < (word & 7); turn++) word += turn * 13;
    return word;
}
uint64_t namesake_work(uint64_t word) {
    return step(word) + both(word);
}
