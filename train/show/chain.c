/* A chain of layers, as allocations and nothing else. Of a segment that has run, its last output is
   kept: a boundary. While a segment is worked on, each of its layers keeps all that its backward
   needs, its output included: an interior. For every length of a segment: the peak, and how many
   layers run twice.

       chain --layers 36 --boundary 1 --interior 1     plain deep network: the square root fits
       chain --layers 36 --boundary 1 --interior 24    transformer blocks: it does not */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/lab.h"
#include "common/memory.h"

enum { UNIT = 256 }; /* bytes of one unit: sizes are only compared */

typedef struct Chain {
    int layers, boundary, interior; /* count, units, units */
} Chain;

static void take(Memory *memory, const char *name, int layer, int units) {
    memory_alloc(memory, MEMORY_ACTIVATIONS, name, layer, (size_t)units * UNIT);
}

/* Forward of layers that are kept, then their backward, which needs them in the opposite order. */
static void keep_and_spend(Memory *memory, const Chain *chain, int first, int end) {
    MemoryMark mark = memory_mark(memory);
    for (int layer = first; layer < end; layer++) {
        take(memory, "interior", layer, chain->interior);
    }
    memory_release(memory, mark);
}

/* A step with segments of S layers; the last one is kept. Returns the peak in units. */
static size_t step(Memory *memory, const Chain *chain, int S) {
    int last = (chain->layers - 1) / S * S;
    MemoryMark bottom = memory_mark(memory);
    memory_peak_reset(memory);
    take(memory, "input", -1, chain->boundary);
    for (int first = 0; first < last;
         first += S) { /* forward: each layer's interior goes at once */
        take(memory, "boundary", first + S - 1, chain->boundary);
        MemoryMark scratch = memory_mark(memory);
        take(memory, "interior", first, chain->interior);
        memory_release(memory, scratch);
    }
    keep_and_spend(memory, chain, last, chain->layers);
    for (int first = last - S; first >= 0; first -= S) { /* backward: run again, then spend */
        memory_release(memory, memory_mark(memory) - 1);
        keep_and_spend(memory, chain, first, first + S);
    }
    memory_release(memory, bottom);
    MemoryUse peak = memory_peak(memory);
    return memory_total(&peak) / UNIT;
}

static void print_all(const Chain *chain) {
    Device *device = device_cpu_new((size_t)1 << 34);
    Memory *memory = device != NULL ? memory_new(device, (MemoryOptions){0}) : NULL;
    if (memory == NULL) {
        exit(EXIT_RUN);
    }
    size_t peak[1001], least = 0;
    for (int S = 1; S <= chain->layers; S++) {
        peak[S] = step(memory, chain, S);
        least = S == 1 || peak[S] < least ? peak[S] : least;
    }
    printf("%d layers, boundary %d, interior %d\n\n  segment  peak  run again\n", chain->layers,
           chain->boundary, chain->interior);
    for (int S = 1; S <= chain->layers; S++) {
        int bar = (int)(50 * peak[S] / peak[chain->layers]);
        printf("  %7d %5zu %10d  %.*s%s\n", S, peak[S], (chain->layers - 1) / S * S, bar,
               "##################################################",
               peak[S] == least ? "  <- least memory" : "");
    }
    printf("\nThe square root of the number of layers is %.1f.\n", sqrt(chain->layers));
    memory_free(memory);
    device_free(device);
}

static bool parse(int argc, char **argv, Chain *chain) {
    for (int i = 1; i < argc; i += 2) {
        int *to = strcmp(argv[i], "--layers") == 0     ? &chain->layers
                  : strcmp(argv[i], "--boundary") == 0 ? &chain->boundary
                  : strcmp(argv[i], "--interior") == 0 ? &chain->interior
                                                       : NULL;
        char *end = NULL;
        long value = i + 1 < argc ? strtol(argv[i + 1], &end, 10) : 0;
        if (to == NULL || end == NULL || *end != '\0' || value < 1 || value > 1000) {
            return false;
        }
        *to = (int)value;
    }
    return true;
}

int main(int argc, char **argv) {
    Chain chain = {.layers = 36, .boundary = 1, .interior = 1};
    if (!parse(argc, argv, &chain)) {
        fprintf(stderr,
                "usage: chain [--layers 1..1000] [--boundary 1..1000] [--interior 1..1000]\n");
        return EXIT_USAGE;
    }
    print_all(&chain);
    return stdout_flush() == 0 ? 0 : EXIT_RUN;
}
