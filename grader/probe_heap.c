#include "grader/probe_heap.h"

#include <malloc.h>

uint64_t heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd; /* large blocks are counted apart */
}

uint64_t heap_since(uint64_t before) {
    uint64_t now = heap_bytes();
    return now > before ? now - before : 0;
}

uint64_t heap_left(void (*call)(void *context), void *context) {
    enum { CACHED = 8 }; /* pieces of one size that free() puts aside, and mallinfo2() counts */
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < CACHED; i++) {
        call(context);
    }
    for (int i = 0; i < 4; i++) {
        uint64_t before = heap_bytes();
        call(context);
        uint64_t more = heap_since(before);
        least = more < least ? more : least;
    }
    return least;
}
