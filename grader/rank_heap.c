/* A heap for each rank. The contract is in rank_heap.h. */
#include "grader/rank_heap.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef CUDASIM
#include <cudasim_ranks.h>
#endif

#include "common/lab.h"
#include "kernels/base.h"

enum { MOST_RANKS = 64, NOBODY = -1, BEFORE = 64 /* bytes of a block that are ours */ };

/* In front of what is given out. */
typedef struct HeapBlock {
    size_t bytes;
    int rank;
} HeapBlock;

static size_t used[MOST_RANKS];

/* The rank that runs, where there are several: then memory is one rank's alone. */
static int which_rank(void) {
#ifdef CUDASIM
    return cudasim_rank_count() > 1 ? cudasim_rank() : NOBODY;
#else
    return NOBODY;
#endif
}

static void own(HeapBlock *block) {
    used[block->rank] += block->bytes;
#ifdef CUDASIM
    cudasim_rank_memory(block, block->bytes);
#endif
}

static void disown(HeapBlock *block) {
    used[block->rank] -= block->bytes;
#ifdef CUDASIM
    cudasim_rank_memory_ends(block);
#endif
}

static size_t whole_pages(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + BEFORE + page - 1) / page * page;
}

static void refuse_bytes(size_t bytes, size_t in_use) {
    fprintf(stderr,
            "out of memory: malloc() of %zu bytes, %zu KiB in use: a rank has %d KiB of it, in "
            "pages, for pointers and short lists; tensors come from memory_alloc(), where they are "
            "counted\n",
            bytes, in_use >> 10, RANK_HEAP >> 10);
    exit(EXIT_RUN);
}

void *rank_malloc(size_t bytes) {
    int rank = which_rank();
    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    size_t taken = whole_pages(bytes);
    if (rank != NOBODY && taken > RANK_HEAP - used[rank]) {
        refuse_bytes(bytes, used[rank]);
    }
    HeapBlock *block =
        mmap(NULL, taken, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
        return NULL;
    }
    *block = (HeapBlock){taken, rank};
    if (rank != NOBODY) {
        own(block);
    }
    return (char *)block + BEFORE;
}

void *rank_calloc(size_t count, size_t bytes) {
    bool too_many = bytes > 0 && count > SIZE_MAX / 2 / bytes;
    return too_many ? NULL : rank_malloc(count * bytes); /* fresh pages are zero */
}

void rank_free(void *data) {
    if (data == NULL) {
        return;
    }
    HeapBlock *block = (HeapBlock *)((char *)data - BEFORE);
    CHECK((uintptr_t)block % (uintptr_t)sysconf(_SC_PAGESIZE) == 0,
          "free() of what malloc() has not given");
    if (block->rank != NOBODY) {
        disown(block);
    }
    munmap(block, block->bytes);
}
