#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "cudasim_ranks.h"
#include "rank.h"

/* Memory of the host that is one rank's alone: its stack, and what the program has said. It is
   closed while others run, who as processes could not reach it. To close and to open takes longer
   than all else of a change of rank, so nothing is closed where nothing was said. */

enum { MOST_PIECES = 4096 };

typedef struct HostPiece {
    char *begin;
    size_t bytes;
    int rank;
    bool open;
} HostPiece;

static HostPiece piece[MOST_PIECES];
static int pieces;
static bool apart;                        /* something was said */
static int shown[2] = {NO_RANK, NO_RANK}; /* nobody else's is open */

static void set_open(HostPiece *p, bool open) {
    if (p->open != open) {
        mprotect(p->begin, p->bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE);
        p->open = open;
    }
}

void rank_memory_show(int rank, int beside) {
    if (!apart || (rank == shown[0] && beside == shown[1])) {
        return;
    }
    for (int i = 0; i < pieces; i++) {
        set_open(&piece[i], piece[i].rank == rank || piece[i].rank == beside);
    }
    shown[0] = rank;
    shown[1] = beside;
}

void rank_memory_show_too(int rank) {
    for (int i = 0; i < pieces; i++) {
        set_open(&piece[i], piece[i].open || piece[i].rank == rank || rank == EVERY_RANK);
    }
    shown[0] = shown[1] = NO_RANK;
}

int rank_memory_owner(const void *p) {
    const char *at = p;
    for (int i = 0; i < pieces; i++) {
        if (piece[i].begin <= at && at < piece[i].begin + piece[i].bytes) {
            return piece[i].rank;
        }
    }
    return NO_RANK;
}

bool rank_memory_add(int rank, void *begin, size_t bytes) {
    if (pieces == MOST_PIECES) {
        return false;
    }
    piece[pieces++] = (HostPiece){begin, bytes, rank, .open = true};
    shown[0] = shown[1] = NO_RANK;
    return true;
}

void rank_memory_remove(int rank, const void *begin) {
    for (int i = pieces; i-- > 0;) {
        if (piece[i].rank == rank && (begin == NULL || piece[i].begin == begin)) {
            set_open(&piece[i], true);
            piece[i] = piece[--pieces];
        }
    }
}

/* ---- what the program says ------------------------------------------------------------------- */

void cudasim_add_rank_memory(const char *file, int line, void *begin, size_t bytes) {
    ENTER("cudasim_rank_memory", file, line);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    bool whole = (uintptr_t)begin % page == 0 && bytes % page == 0;
    if (!sim_is_rank()) {
        return;
    }
    apart = true;
    if (!whole || !rank_memory_add(sim_host()->rank, begin, bytes)) {
        sim_report("unsupported", "cudasim_rank_memory at %s:%d: %s", sim_file((Place){file, line}),
                   line, whole ? "too many pieces" : "not whole pages");
        sim_detail("%zu bytes from %p on: at most %d pieces of whole pages of %ju bytes", bytes,
                   begin, MOST_PIECES, (uintmax_t)page);
        sim_stop();
    }
}

void cudasim_drop_rank_memory(const char *file, int line, const void *begin) {
    ENTER("cudasim_rank_memory_ends", file, line);
    if (sim_is_rank()) {
        rank_memory_remove(sim_host()->rank, begin);
    }
}

/* The frames of this function's callers end above it; some room is left below. */
void cudasim_rank_stack_ends(void) {
    enum { ROOM = 64 << 10 };
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    char *here = __builtin_frame_address(0),
         *end = (char *)(((uintptr_t)here - ROOM) / page * page);
    for (int i = 0; i < pieces; i++) {
        char *begin = piece[i].begin;
        if (begin <= here && here < begin + piece[i].bytes && begin < end) {
            madvise(begin, (size_t)(end - begin), MADV_DONTNEED);
        }
    }
}
