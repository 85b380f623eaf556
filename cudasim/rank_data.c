#include <sys/mman.h>

#include "block.h"
#include "cudasim_ranks.h"
#include "rank.h"

/* Static data of which each rank has its own. One rank's is in place; that of the others is kept
   in copies, and changes places with it. */

enum {
    MOST_DATA = 40 << 10,
    MOST_SANITIZED = 1 << 20, /* with AddressSanitizer's descriptions of the variables among them */
    MOST_REGIONS = 64
};

static struct {
    char *begin;
    size_t bytes;
} region[MOST_REGIONS];
static int regions;
static size_t region_bytes;

static int count;    /* of ranks; 0: none run */
static char *copies; /* (count, region_bytes) */
static int in_place; /* the rank whose data is there */

/* There if the program has AddressSanitizer. */
void __sanitizer_start_switch_fiber(void **kept, const void *lowest, size_t bytes)
    __attribute__((weak));

static size_t most_data(void) {
    return __sanitizer_start_switch_fiber != NULL ? MOST_SANITIZED : MOST_DATA;
}

void cudasim_add_rank_data(const char *file, int line, void *begin, size_t bytes) {
    ENTER("cudasim_rank_data", file, line);
    if (regions == MOST_REGIONS || bytes > most_data() - region_bytes || count > 0) {
        sim_report("unsupported", "cudasim_rank_data at %s:%d: %s", sim_file((Place){file, line}),
                   line, count > 0 ? "ranks are running" : "too much static data");
        sim_detail("%zu bytes more than %zu: each rank has a copy of at most %zu, in %d pieces; "
                   "take memory with malloc() instead",
                   bytes, region_bytes, most_data(), MOST_REGIONS);
        sim_stop();
    }
    region[regions].begin = begin;
    region[regions++].bytes = bytes;
    region_bytes += bytes;
}

/* Between the variables of a region AddressSanitizer has bytes that memcpy() may not touch. */
__attribute__((no_sanitize("address"))) static void
copy_data(volatile char *to, const volatile char *from, size_t bytes) {
    typedef uint64_t __attribute__((aligned(1), may_alias)) Word;
    size_t i = 0;
    for (; i + sizeof(Word) <= bytes; i += sizeof(Word)) {
        *(volatile Word *)(to + i) = *(const volatile Word *)(from + i);
    }
    for (; i < bytes; i++) {
        to[i] = from[i];
    }
}

static char *copy_of(int rank) {
    return copies + (size_t)rank * region_bytes;
}

static void save_data(char *to) {
    for (int i = 0; i < regions; i++) {
        copy_data(to, region[i].begin, region[i].bytes);
        to += region[i].bytes;
    }
}

static void load_data(const char *from) {
    for (int i = 0; i < regions; i++) {
        copy_data(region[i].begin, from, region[i].bytes);
        from += region[i].bytes;
    }
}

void rank_data_begin(int ranks) {
    count = ranks;
    in_place = 0;
    copies = region_bytes > 0 ? sim_map((size_t)count * region_bytes) : NULL;
    for (int r = 0; r < count; r++) {
        save_data(copy_of(r));
    }
}

void rank_data_in_place(int rank) {
    if (rank != in_place) {
        save_data(copy_of(in_place));
        load_data(copy_of(rank));
        in_place = rank;
    }
}

void rank_data_end(void) {
    rank_data_in_place(0);
    if (copies != NULL) {
        munmap(copies, (size_t)count * region_bytes);
    }
    copies = NULL;
    count = 0;
}

void *rank_place_of(int rank, const void *p) {
    const char *at = p;
    size_t begin = 0;
    for (int i = 0; i < regions && count > 0 && rank != NO_RANK && rank != in_place; i++) {
        if (region[i].begin <= at && at < region[i].begin + region[i].bytes) {
            return copy_of(rank) + begin + (at - region[i].begin);
        }
        begin += region[i].bytes;
    }
    return (void *)(uintptr_t)p;
}
