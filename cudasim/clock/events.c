#include "cudasim/clock/events.h"

#include <stdbool.h>

#include "cudasim/clock/memory.h"

static bool earlier(const Event *a, const Event *b) {
    if (a->time != b->time) {
        return a->time < b->time;
    }
    return a->what != b->what ? a->what < b->what : a->index < b->index;
}

void events_add(Events *events, double time, Happening what, int index, unsigned plan) {
    events->event = clock_grow(events->event, events->count, &events->room, sizeof *events->event);
    Event event = {time, what, index, plan};
    int i = events->count++;
    for (; i > 0 && earlier(&event, &events->event[(i - 1) / 2]); i = (i - 1) / 2) {
        events->event[i] = events->event[(i - 1) / 2];
    }
    events->event[i] = event;
}

Event events_next(Events *events) {
    Event *heap = events->event, first = heap[0], last = heap[--events->count];
    int i = 0;
    for (int child; (child = 2 * i + 1) < events->count; i = child) {
        child += child + 1 < events->count && earlier(&heap[child + 1], &heap[child]);
        if (!earlier(&heap[child], &last)) {
            break;
        }
        heap[i] = heap[child];
    }
    heap[i] = last;
    return first;
}
