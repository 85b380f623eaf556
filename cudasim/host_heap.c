#include <search.h>

#include "device.h"
#include "heap_block.h"
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
static HostBlock newest; /* not in the tree yet: most blocks do not live to see the next */
static int busy;

/* Blocks that have an address in common count as the same. */
static int compare_blocks(const void *one, const void *other) {
    const HostBlock *a = one, *b = other;
    return a->begin + a->usable <= b->begin ? -1 : a->begin >= b->begin + b->usable;
}

static const HostBlock *find_block(const void *p) {
    const HostBlock wanted = {.begin = (char *)(uintptr_t)p, .usable = 1};
    if (compare_blocks(&newest, &wanted) == 0) {
        return &newest;
    }
    void *node = tfind(&wanted, &blocks, compare_blocks);
    return node != NULL ? *(HostBlock **)node : NULL;
}

static void drop(const HostBlock *block) {
    if (block == &newest) {
        newest = (HostBlock){0};
    } else if (block != NULL) {
        tdelete(block, &blocks, compare_blocks);
        free((void *)(uintptr_t)block);
    }
}

static void into_tree(HostBlock given) {
    HostBlock *block = sim_realloc(NULL, sizeof *block), *there;
    *block = given;
    while ((there = *(HostBlock **)tsearch(block, &blocks, compare_blocks)) != block) {
        drop(there); /* given back unseen */
    }
}

void *host_heap_took(void *p, size_t bytes) {
    if (p == NULL || bytes == 0) {
        return p;
    }
    spin_lock(&busy);
    if (newest.begin != NULL) {
        into_tree(newest);
    }
    newest = (HostBlock){p, bytes, block_room(p)};
    spin_unlock(&busy);
    return p;
}

void host_heap_gives_back(void *p) {
    spin_lock(&busy);
    drop(find_block(p));
    spin_unlock(&busy);
}

/* Bytes from p on, SIZE_MAX where nothing is known of it. */
static size_t room_at(const char *p) {
    spin_lock(&busy);
    const HostBlock *block = find_block(p);
    bool known = block != NULL && block_room(block->begin) == block->usable;
    size_t before = known ? (size_t)(p - block->begin) : 0;
    size_t room = !known ? SIZE_MAX : block->bytes > before ? block->bytes - before : 0;
    spin_unlock(&busy);
    return room;
}

size_t host_room(const void *p) {
    size_t given = room_at(p), declared = host_variable_room(p);
    return given < declared ? given : declared;
}

bool host_holds(const char *call, const char *end, const void *p, size_t bytes, Place place) {
    size_t room = host_room(p);
    if (bytes > room) {
        sim_report("out-of-bounds access", "%s at %s:%d: the %s has %zu byte%s, and the copy %zu",
                   call, sim_file(place), place.line, end, room, room == 1 ? "" : "s", bytes);
        sim_detail("in memory of the host, %s; on a GPU the copy goes on into what lies beside it",
                   room < host_variable_room(p) ? "from malloc() or new"
                                                : "a static or global variable");
    }
    return bytes <= room;
}
