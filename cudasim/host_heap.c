#include <malloc.h>
#include <search.h>

#include "device.h"
#include "host_heap.h"
#include "spin.h"

/* The blocks that malloc() and new have given to the program's own code, as a tree: of a copy from
   or to one it is then known how much it has room for. A library may take back a block unseen; then
   the C library gives the address out anew, as a rule with another size. */

typedef struct HostBlock {
    char *begin;
    size_t bytes;  /* that were asked for */
    size_t usable; /* that the C library has given */
} HostBlock;

static void *blocks;
static int busy;

/* Blocks that have an address in common count as the same. */
static int compare_blocks(const void *one, const void *other) {
    const HostBlock *a = one, *b = other;
    return a->begin + a->usable <= b->begin ? -1 : a->begin >= b->begin + b->usable;
}

static HostBlock *find_block(const HostBlock *wanted) {
    void *node = tfind(wanted, &blocks, compare_blocks);
    return node != NULL ? *(HostBlock **)node : NULL;
}

static void drop(HostBlock *block) {
    tdelete(block, &blocks, compare_blocks);
    free(block);
}

void *host_heap_took(void *p, size_t bytes) {
    if (p == NULL || bytes == 0) {
        return p;
    }
    HostBlock *block = sim_realloc(NULL, sizeof *block), *there;
    *block = (HostBlock){p, bytes, malloc_usable_size(p)};
    spin_lock(&busy);
    while ((there = *(HostBlock **)tsearch(block, &blocks, compare_blocks)) != block) {
        drop(there); /* given back unseen */
    }
    spin_unlock(&busy);
    return p;
}

void host_heap_gives_back(void *p) {
    spin_lock(&busy);
    HostBlock *block = find_block(&(HostBlock){.begin = p, .usable = 1});
    if (block != NULL) {
        drop(block);
    }
    spin_unlock(&busy);
}

/* Bytes from p on, SIZE_MAX where nothing is known of it. */
static size_t room_at(const char *p) {
    spin_lock(&busy);
    const HostBlock *block = find_block(&(HostBlock){.begin = (char *)(uintptr_t)p, .usable = 1});
    bool known = block != NULL && malloc_usable_size(block->begin) == block->usable;
    size_t before = known ? (size_t)(p - block->begin) : 0;
    size_t room = !known ? SIZE_MAX : block->bytes > before ? block->bytes - before : 0;
    spin_unlock(&busy);
    return room;
}

bool host_holds(const char *call, const char *end, const void *p, size_t bytes, Place place) {
    size_t given = room_at(p), declared = host_variable_room(p);
    size_t room = given < declared ? given : declared;
    if (bytes > room) {
        sim_report("out-of-bounds access", "%s at %s:%d: the %s has %zu bytes, and the copy %zu",
                   call, sim_file(place), place.line, end, room, bytes);
        sim_detail("in memory of the host, %s; on a GPU the copy goes on into what lies beside it",
                   given < declared ? "from malloc() or new" : "a static or global variable");
    }
    return bytes <= room;
}
