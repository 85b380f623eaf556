#include "grader/labs/08_prefetch/part_left.h"

#include <cuda_runtime.h>
#include <cudasim_left.h>
#include <stdbool.h>

#include "grader/probe_heap.h"

enum { OPENINGS = 12, EVENTS_AT_REST = 1024 };

uint64_t left_by_each(void (*open_and_close)(void *context), void *context) {
    for (int i = 0; i < EVENTS_AT_REST; i++) {
        cudaEvent_t event;
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
        cudaEventDestroy(event);
    }
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < OPENINGS && least > 0; i++) {
        int handles = cudasim_left().handles;
        uint64_t before = heap_bytes();
        open_and_close(context);
        uint64_t more = heap_since(before);
        bool stay = cudasim_left().handles > handles;
        least = stay ? 0 : more < least ? more : least;
    }
    return least;
}
