/* A heap for each rank. The contract is in rank_heap.h. */
#include "grader/rank_heap.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef CUDASIM
#include <cudasim_ranks.h>
#endif

#include "common/lab.h"
#include "kernels/base.h"

enum { MOST_RANKS = 64, NOBODY = -1, BEFORE = 64 /* bytes of a block that are ours */ };

/* In front of what is given out, which ends where its pages end; a page that nobody may touch
   follows. */
typedef struct HeapBlock {
    void *pages;
    size_t bytes; /* of the pages, without the last one */
    int rank;
    void *data; /* given out */
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
    cudasim_rank_memory(block->pages, block->bytes);
#endif
}

static void disown(HeapBlock *block) {
    used[block->rank] -= block->bytes;
#ifdef CUDASIM
    cudasim_rank_memory_ends(block->pages);
#endif
}

static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t whole_pages(size_t bytes) {
    return (bytes + BEFORE + page_bytes() - 1) / page_bytes() * page_bytes();
}

static void refuse_bytes(size_t bytes, size_t in_use) {
    fprintf(
        stderr,
        "out of memory: malloc() of %zu bytes, %zu KiB in use. A rank has %d KiB for pointers and "
        "short lists, each in pages of its own; free() gives them back, or each call leaves "
        "some. Tensors come from memory_alloc(), where they are counted\n",
        bytes, in_use >> 10, RANK_HEAP >> 10);
    exit(EXIT_RUN);
}

/* A block of zeros, as fresh pages are. */
static void *block_new(size_t bytes) {
    int rank = which_rank();
    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    size_t aligned = (bytes + 15) / 16 * 16, taken = whole_pages(aligned);
    if (rank != NOBODY && taken > RANK_HEAP - used[rank]) {
        refuse_bytes(bytes, used[rank]);
    }
    char *pages = mmap(NULL, taken + page_bytes(), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        return NULL;
    }
    if (mprotect(pages + taken, page_bytes(), PROT_NONE) != 0) {
        munmap(pages, taken + page_bytes());
        return NULL;
    }
    char *data = pages + taken - aligned;
    HeapBlock *block = (HeapBlock *)(void *)(data - BEFORE);
    *block = (HeapBlock){pages, taken, rank, data};
    if (rank != NOBODY) {
        own(block);
    }
    return data;
}

void *rank_malloc(size_t bytes) {
    void *data = block_new(bytes);
    return data != NULL ? memset(data, RANK_HEAP_FRESH, bytes) : NULL;
}

void *rank_calloc(size_t count, size_t bytes) {
    bool too_many = bytes > 0 && count > SIZE_MAX / 2 / bytes;
    return too_many ? NULL : block_new(count * bytes);
}

void rank_free(void *data) {
    if (data == NULL) {
        return;
    }
    HeapBlock *block = (HeapBlock *)(void *)((char *)data - BEFORE);
    CHECK(block->data == data, "free() of what malloc() has not given");
    if (block->rank != NOBODY) {
        disown(block);
    }
    munmap(block->pages, block->bytes + page_bytes());
}

size_t rank_heap_used(void) {
    int rank = which_rank();
    return rank != NOBODY ? used[rank] : 0;
}
