/* All that the lab asks of a server when it has built it. */
#include <stdio.h>

int main(void) {
    puts("Redis server v=1.0.0 sha=00000000:0 malloc=libc bits=64 build=0");
    return 0;
}
