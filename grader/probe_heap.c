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

/* Small pieces that are left do not show in each call: malloc() fetches several of a size at once,
   and mallinfo2() takes those that it puts aside for given out. They show in as many calls. */
uint64_t heap_left(void (*call)(void *context), void *context) {
    enum { ASIDE = 8, ROUNDS = 4, PIECE = 16 };
    uint64_t first = 0, least = UINT64_MAX;
    for (int round = -1; round < ROUNDS; round++) {
        uint64_t before = heap_bytes();
        for (int i = 0; i < ASIDE; i++) {
            call(context);
        }
        if (round < 0) {
            first = heap_bytes(); /* what a first call keeps is not lost */
        } else if (heap_since(before) < least) {
            least = heap_since(before);
        }
    }
    uint64_t pieces = heap_since(first) / PIECE, calls = ROUNDS * ASIDE;
    return least == 0 ? 0 : (pieces + calls / 2) / calls * PIECE;
}
