#include "queue.h"

/* Vector clocks: how far each queue has come, as seen from somewhere. */

size_t clock_bytes(const Clock *clock) {
    return offsetof(Clock, of) + (size_t)clock->width * sizeof clock->of[0];
}

void clock_copy(Clock *to, const Clock *from) {
    memcpy(to, from, clock_bytes(from));
}

Clock *clock_keep(Clock *old, const Clock *from) {
    Clock *kept = sim_realloc(old, clock_bytes(from));
    clock_copy(kept, from);
    return kept;
}

static void widen(Clock *clock, int width) {
    for (; clock->width < width; clock->width++) {
        clock->of[clock->width] = 0;
    }
}

void clock_set(Clock *clock, int slot, uint64_t number) {
    widen(clock, slot + 1);
    clock->of[slot] = number;
}

void clock_join(Clock *clock, const Clock *other) {
    widen(clock, other->width);
    for (int s = 0; s < other->width; s++) {
        clock->of[s] = other->of[s] > clock->of[s] ? other->of[s] : clock->of[s];
    }
}
