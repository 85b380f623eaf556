#include "cudasim/clock/memory.h"

#include <stdio.h>
#include <stdlib.h>

static void *or_end(void *p) {
    if (p == NULL) {
        fprintf(stderr, "record: out of memory\n");
        exit(1);
    }
    return p;
}

void *clock_new(size_t count, size_t size) {
    return or_end(calloc(count > 0 ? count : 1, size));
}

void *clock_grow(void *array, int count, int *room, size_t size) {
    if (count < *room) {
        return array;
    }
    *room = 2 * *room + 16;
    return or_end(realloc(array, (size_t)*room * size));
}
