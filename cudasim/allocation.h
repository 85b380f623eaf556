/**
 * @file allocation.h
 * @brief The inside of cudasim, memory: what was given out, and who may touch it now.
 * @ingroup cudasim
 */
#ifndef CUDASIM_ALLOCATION_H
#define CUDASIM_ALLOCATION_H

#include "sim.h"

/* ---- memory.c -------------------------------------------------------------------------------- */

/** The last operation of a queue that was given an allocation. */
typedef struct LastUse {
    int slot;        /**< queue */
    uint64_t number; /**< operation */
} LastUse;

/** A piece of device memory, or of pinned host memory. */
typedef struct Allocation {
    char *base;        /**< what the program was given */
    size_t bytes;      /**< what it asked for */
    char *pages;       /**< the pages around it; one guard page follows */
    size_t length;     /**< bytes of these pages */
    int number;        /**< 1, 2, ... */
    bool pinned;       /**< host memory */
    unsigned flags;    /**< of cudaHostAlloc() */
    bool by_kernel;    /**< a kernel's malloc() has made it */
    bool managed;      /**< device memory that the host may use as well */
    bool live;         /**< its pages exist */
    bool unordered;    /**< a use that does not wait for its making was reported */
    bool given_back;   /**< the program has freed it; with cudaFreeAsync it may live on a while */
    bool open;         /**< the pages may be touched now */
    Place made;        /**< by which call */
    Place freed;       /**< by which call */
    const char *maker; /**< "cudaMalloc", "cudaMallocAsync", ... */
    bool pooled;       /**< from cudaMallocAsync(): peer access is the pool's */
    int rank;          /**< that has it; NO_RANK: all */
    int device;        /**< whose memory it is; of host memory, the current one when it was made */
    int maker_stream;  /**< stream whose operation maker_number makes it, or -1 */
    uint64_t maker_number; /**< see maker_stream */
    LastUse *used;  /**< [0, used_count): the last operation of each queue that was given it */
    int used_count; /**< such queues */
} Allocation;

/** Memory of a device in bytes, whole pages. */
typedef struct SimUse {
    size_t now;  /**< given out */
    size_t peak; /**< most so far, or since a program has set it back */
} SimUse;

/** Whether p is in the range of device memory, valid or not. */
bool sim_on_device(const volatile void *p);

/** Whether p is in the range of pinned memory, valid or not. */
bool sim_in_pinned(const volatile void *p);

/** Where the range of device memory begins, and its length in bytes. */
const char *sim_device_range(size_t *bytes);

/** The same for pinned memory. */
const char *sim_pinned_range(size_t *bytes);

/** The allocation whose pages hold p, alive or freed, device or pinned; else NULL. */
Allocation *sim_allocation(const volatile void *p);

/**
 * Adds a line that says what lies at p: "byte 4 of allocation #2 (64 bytes, cudaMalloc at ...)".
 */
void sim_detail_address(const volatile void *p);

/**
 * Whether [p, p + bytes) is live device memory; reports what is wrong.
 *
 * @param what  who asks: "cudaMemcpy, destination"
 * @param p     device address
 * @param bytes length
 * @param file  place of the call
 * @param line  place of the call
 */
bool sim_check_range(const char *what, const void *p, size_t bytes, const char *file, int line);

/** Within an operation, the same: what cudaFreeAsync() gives back later is still there. */
bool sim_check_range_now(const char *what, const void *p, size_t bytes, Place place);

/** Whether it is none of what kernels have of malloc(), which calls cannot use; else reported. */
bool sim_not_of_heap(const char *what, const void *p, Place place);

/** Gives out memory of a device, or of the host; the bytes are 0xFF. NULL if there is none left. */
Allocation *sim_allocate(int device, size_t bytes, bool pinned, const char *maker, Place place);

/** Opens the pages of an allocation for the thread that runs now. */
void sim_open(Allocation *allocation);

/** The allocation nearest to an address of device memory, or NULL. */
Allocation *sim_nearest(const volatile void *p);

/** Within an operation: opens device memory, and in check mode checks and notes the access. */
void sim_touch(const void *p, size_t bytes, bool write);

/** Whether memory is open that is not of the device whose operation has opened it. */
bool sim_others_open(void);

/** Makes all of device memory inaccessible again: control goes back to the host. */
void sim_close_memory(void);

/** Opens or closes device memory, past the list of what sim_close_memory() closes. */
void sim_set_open(Allocation *allocation, bool open);

/** Frees all memory of a device that the rank which runs still has. */
void sim_retire_all(int device, Place place);

/** Adds what exists to the leaks: all memory for -1, else what this rank has on a device. */
void sim_memory_left(int device);

/** Bytes of pinned host memory that a program has. */
size_t sim_pinned(void);

/** Takes the pages away: touching them is a use after free. */
void sim_retire(Allocation *allocation);

/* ---- pinned.c -------------------------------------------------------------------------------- */

/**
 * Whether the host may not touch p, in pinned memory, since a copy has not been waited for; reports
 * it. Else opens the pages, which were closed because of a neighbour.
 */
bool sim_pending_copy(const char *p, bool write, const void *pc);

struct Operation;
/**
 * Closes host memory, or managed memory, until the host has waited for the operation.
 *
 * @param begin where it begins
 * @param bytes bytes
 * @param written the operation stores there, so the host may not even read
 * @param operation what uses it
 */
void sim_guard(const char *begin, size_t bytes, bool written, const struct Operation *operation);

/**
 * The same for memory of the host that cannot be closed, as its neighbours on a page are in use.
 * There only check mode finds the host's accesses, by sim_pending_unclosed().
 */
void sim_guard_unclosed(const char *begin, size_t bytes, bool written,
                        const struct Operation *operation);

/** Whether there is such memory now. */
extern bool sim_guards_unclosed;

/** The host is about to touch memory of any kind: reported if an operation may still use it. */
void sim_pending_unclosed(const char *p, size_t bytes, bool write, const void *pc);

/** Closes what the host may not touch before it has waited, and opens what it may touch again. */
void sim_guard_pending(void);

/* ---- local.c --------------------------------------------------------------------------------- */

/** The program's free() or delete is about to take back memory: work may still use it. */
void sim_host_frees(const char *begin);

/* ---- managed.c ------------------------------------------------------------------------------- */

/** Opens managed memory to the host, or closes it. */
void sim_show_managed(bool to_host);

/** Closes to the host what a launch was given of shared memory. */
void sim_guard_shared(const struct Operation *operation);

/** Whether p, of the host, is in memory that cudaHostRegister() was given. */
bool sim_registered(const volatile void *p);

/** Stops the program if free() or delete is about to take back memory that is still registered. */
void sim_refuse_registered(const char *begin, const void *pc);

#endif
