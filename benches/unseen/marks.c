/* Marks which blocks of a server are executed between which requests of the lab to its counted servers.
 *
 * The compiler calls __sanitizer_cov_trace_pc at the beginning of each block (-fsanitize-coverage=trace-pc). The page
 * that a counted server shares with the lab (crates/pin/src/control.rs) has how many of the lab's requests are carried
 * out; that number's bit is set in the mark of the block. The marks are a file beside the page, so that nothing has to
 * be written when the server ends, however it does.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CARRIED_OUT_OFFSET 36
#define PAGE_BYTES 4096

extern const char __executable_start, etext;

static uint32_t *marks;
static const volatile uint32_t *carried_out;
static int is_off;

static void *mapped(const char *path, size_t bytes, int flags, int access) {
    int descriptor = open(path, flags | O_CLOEXEC, 0600);
    if (descriptor < 0) return MAP_FAILED;
    void *map = MAP_FAILED;
    if (!(flags & O_CREAT) || ftruncate(descriptor, (off_t)bytes) == 0)
        map = mmap(NULL, bytes, access, MAP_SHARED, descriptor, 0);
    close(descriptor);
    return map;
}

static void begin(void) {
    const char *page = getenv("ZEROLAP_PIN_CONTROL");
    is_off = 1;
    if (page == NULL || strrchr(page, '/') == NULL) return;
    char path[4096];
    snprintf(path, sizeof(path), "%.*s/marks", (int)(strrchr(page, '/') - page), page);
    const char *shared = mapped(page, PAGE_BYTES, O_RDONLY, PROT_READ);
    uint32_t *made =
        mapped(path, (size_t)(&etext - &__executable_start) * sizeof(*marks), O_RDWR | O_CREAT, PROT_READ | PROT_WRITE);
    if (shared == MAP_FAILED || made == MAP_FAILED) return;
    carried_out = (const volatile uint32_t *)(shared + CARRIED_OUT_OFFSET);
    marks = made;
    is_off = 0;
}

void __sanitizer_cov_trace_pc(void) {
    if (marks == NULL && is_off) return;
    if (marks == NULL) begin();
    if (marks == NULL) return;
    uint32_t number = *carried_out;
    const char *block = __builtin_return_address(0);
    marks[block - &__executable_start] |= UINT32_C(1) << (number > 31 ? 31 : number);
}
