/**
 * @file race.h
 * @brief Two accesses that nothing orders: what race.c finds and race_report.c puts into words.
 * @ingroup cudasim
 */
#ifndef CUDASIM_RACE_H
#define CUDASIM_RACE_H

#include "check.h"

/** An access, as a cell remembers it. */
typedef struct Party {
    uint32_t block;    /**< number of the block, or of the copy; 0: none */
    Site site;         /**< line */
    uint16_t barriers; /**< that the block had passed */
    uint16_t meetings; /**< that the warp had passed */
    uint16_t thread;   /**< of the block; several readers: WARP_OF | warp, or MANY */
    uint8_t bytes;     /**< which of the 4, as bits; of readers also SETTLED, OWNED, RIVAL */
    uint8_t atomic;    /**< bytes of the atomic, and OF_BLOCK; PLAIN or FLAG */
} Party;

/** The last accesses to 4 bytes. */
typedef struct Cell {
    Party writer; /**< the last that was not atomic */
    Party reader; /**< since then; or an atomic */
} Cell;

/** The state that few cells need. */
typedef struct Aside {
    uint16_t owner[4]; /**< whose each byte is, of a word that is read in parts: OWNED */
    Party rival;       /**< another reader than the cell's, of another block or operation: RIVAL */
} Aside;

/* ---- race_cells.c ---------------------------------------------------------------------------- */

/** The cell of an address: of memory of a device or a block, pinned memory, or a variable. */
Cell *race_cell(const char *p);

/** The rest of a cell's state. */
Aside *race_aside(const Cell *cell);

/** The cells of device memory. */
Cell *race_device_cells(void);

/* ---- race_host.c ----------------------------------------------------------------------------- */

/** Whether a kernel was given pinned memory, or there is managed memory: what the host does there
 * is then looked at. */
extern bool race_watches_host;

/** Whether there is managed memory: the host may have been anywhere before a kernel. */
extern bool race_watches_managed;

/** The host is about to touch memory, of whatever kind. */
void race_host(const void *p, size_t bytes, bool write, Site site);

/** The same by a volatile or atomic access, which is a sign to a kernel or from it. */
void race_host_flag(const void *p, bool reads, bool writes);

/** Whether such a sign came after the work with this number: the host's, or a kernel's. */
bool race_host_signalled(uint32_t block, bool by_host);

/* ---- race.c ---------------------------------------------------------------------------------- */

/** Compares what the host does in pinned memory with what was there before, and remembers it. */
void race_of_host(const char *p, size_t bytes, bool write, Site site);

/** Whether the number of a block, of an earlier operation, is that of something the host did. */
bool race_by_host(uint32_t block);

/** Whether something is known of the running thread's accesses that later ones may settle. */
extern bool race_unsettled;

enum {
    WARP_OF = 0x8000, /**< Party.thread: with a warp's number, several threads of it */
    MANY = 0xFFFF,    /**< Party.thread: several threads of several warps */
    RIVAL = 0x40,     /**< Party.bytes: one more reader is known: race_keep_rival() */
    OWNED = 0x20,     /**< Party.bytes: who has read each byte is known: race_own() */
    SETTLED = 0x10,   /**< Party.bytes: each thread of the block may read what the writer left */
    PLAIN = 0,        /**< Party.atomic: an ordinary access */
    FLAG = 1,         /**< Party.atomic: a volatile one, in the way of a flag */
    OF_BLOCK = 0x10,  /**< Party.atomic: atomic to threads of the block alone: atomicAdd_block() */
};

/** Two accesses to one word. */
typedef struct Race {
    const char *p; /**< the word */
    Party before;  /**< who was there first */
    Party now;     /**< who comes */
    bool wrote;    /**< before has stored */
    bool writes;   /**< now stores */
    bool shared;   /**< memory of the block */
} Race;

/** The warp of Party.thread; -1 if there are several. */
static inline int race_warp(uint16_t thread) {
    return thread == MANY ? -1 : thread & WARP_OF ? thread & 0x3FF : thread / WARP;
}

/**
 * Whether a thread reads back a part of a word that it has just written itself. The write says of
 * these bytes all that the read would; and the cell, which knows one reader or several, goes on
 * knowing which bytes are its neighbours'.
 */
static inline bool race_reads_back(const Party *writer, const Party *now) {
    return now->bytes != 0xF && (writer->bytes & now->bytes) == now->bytes &&
           writer->block == now->block && writer->thread == now->thread &&
           writer->barriers == now->barriers && writer->meetings == now->meetings &&
           writer->atomic == PLAIN && now->atomic == PLAIN;
}

/**
 * A thread reads a part of a word: notes whose these bytes are. Threads that each read and change a
 * part of their own do not race.
 *
 * @param cell  of the word
 * @param now   the read
 * @param known bytes whose readers are known already, as bits
 */
void race_own(const Cell *cell, const Party *now, unsigned known);

/** Keeps the cell's reader as its rival: of another block, and nothing orders the next after it. */
void race_keep_rival(const Cell *cell);

/** The first byte of the cell that holds p. */
static inline const char *race_word(const char *p) {
    return (const char *)((uintptr_t)p & ~(uintptr_t)3);
}

/** Whether the two blocks of a race have fences and atomics, and their threads do not meet them. */
bool race_between_signs(const Race *race);

/** Two accesses that touch the same bytes in no order: an error unless both are atomic. */
void race_found(const Race *race);

/**
 * The running thread is about to store to the word at p. Where its earlier read of these bytes was
 * in doubt, this says why it read.
 *
 * @param p      where it stores
 * @param bytes  which of the word's, as bits
 * @param atomic by an atomic
 * @return whether a doubt was settled: the store itself is then no race of its own
 */
bool race_explains(const char *p, unsigned bytes, bool atomic);

#endif
