/**
 * @file rank.h
 * @brief The inside of cudasim, hosts: what is known of each thread of the host and of each rank.
 * @ingroup cudasim
 */
#ifndef CUDASIM_RANK_H
#define CUDASIM_RANK_H

#include "queue.h"

enum { MOST_RANKS = 64 /**< that run at once */ };

/** The state of a thread of the host, or of a rank. */
typedef struct Host {
    int rank;          /**< its number, or NO_RANK */
    int device;        /**< current: what calls without a stream are for */
    Place refused;     /**< a cudaSetDevice() that has failed, and nobody has looked; or no file */
    bool counted;      /**< of a thread: see thread_has_come() */
    int depth;         /**< calls of the runtime that it is within */
    const char *call;  /**< the outermost of them, or the last */
    Place call_place;  /**< its line */
    const char *frame; /**< its frame on the stack: what runs of the program lies above */
    Clock *clock;      /**< what it has waited for; threads of a process share one */
    cudaStreamCaptureMode mode; /**< of cudaThreadExchangeStreamCaptureMode() */
    cudaError_t last;           /**< for cudaGetLastError() */
    cudaError_t error;          /**< of the last call that failed, asked for or not */
    bool unseen;                /**< the program could not see `last`, and did not ask */
    const char *what;           /**< the call that failed */
    Place place;                /**< its line */
    unsigned failed;            /**< how many have */
    cudaError_t ignored;        /**< of the first whose status the program has thrown away */
    const char *ignored_what;   /**< that call; NULL: none, or the program has asked since */
    Place ignored_place;        /**< its line */
} Host;

/** The one that runs. */
Host *sim_host(void);

/** Whether a rank runs, and this is its thread. */
bool sim_is_rank(void);

/** The rank whose operation runs, else the one that runs; NO_RANK outside of ranks. */
int sim_rank(void);

/** The call in which a rank waits, and whom it waits for. */
typedef struct RankWait {
    const char *call;             /**< "ncclAllReduce" */
    Place place;                  /**< its line */
    bool (*ready)(void *context); /**< whether it may go on; changes nothing */
    void *context;                /**< passed to the two functions */
    /** Says whom it waits for: "rank 1 to call ncclAllReduce #3"; the text is at most size bytes */
    void (*tell)(void *context, char *text, size_t size);
    size_t bytes; /**< of the context, which is copied; 0: it does not lie on the rank's stack */
    int of;       /**< 1 + the rank whose call it is, where that has to go on first; 0: its own */
} RankWait;

/**
 * Returns when it is ready; other ranks run meanwhile. If no rank can go on, that is reported as a
 * deadlock, and the program ends. So it is where there are no ranks: nobody else would do anything.
 */
void rank_wait(const RankWait *wait);

/** The clock of a rank's host, or of those that are not ranks. */
const Clock *rank_clock(int rank);

/* ---- threads.c ------------------------------------------------------------------------------- */

/** A thread of the host calls the runtime for the first time. */
void thread_has_come(Host *host);

/** rank_wait() of a thread that is not a rank: it waits for other threads, or for the ranks. */
void thread_wait(const RankWait *wait, bool for_ranks);

/* ---- rank.c ---------------------------------------------------------------------------------- */

/** Puts the static data of a rank in place, and opens its memory, beside that of the rank on whose
 * stack the program is: work that it has submitted runs. */
void rank_in_place(int rank);

/** The rank that owns an address below its stack: it has overflowed; -1 if none has. */
int rank_overflow(const void *p);

/** Lets the other ranks run that can. */
void rank_yield(void);

/**
 * The same for a rank that asks whether work is over, and it is not. If all ranks do nothing else
 * but ask, again and again, that is reported as a deadlock.
 *
 * @param slot  of the queue, which cannot get on
 * @param turns changes whenever work is given to a device, or has run
 */
void rank_asks(int slot, uint64_t turns);

/* ---- rank_data.c ----------------------------------------------------------------------------- */

/** Each rank gets the static data as it is; that of rank 0 is in place. */
void rank_data_begin(int ranks);

/** Puts that of a rank in place. */
void rank_data_in_place(int rank);

/** That of rank 0 stays. */
void rank_data_end(void);

/** Where an address of a rank is now: static data of one that is not in place lies elsewhere. */
void *rank_place_of(int rank, const void *p);

/* ---- rank_memory.c --------------------------------------------------------------------------- */

enum { EVERY_RANK = -2 };

/** Whole pages of host memory are this rank's alone. @return false: there are too many pieces */
bool rank_memory_add(int rank, void *begin, size_t bytes);

/** It is not any more, and is open; NULL: all of the rank's. */
void rank_memory_remove(int rank, const void *begin);

/** Opens the memory of two ranks, which may be one or NO_RANK, and closes that of all others. */
void rank_memory_show(int rank, int beside);

/** Opens the memory of a rank, or of EVERY_RANK, besides. */
void rank_memory_show_too(int rank);

/** The rank whose memory that is, or NO_RANK. */
int rank_memory_owner(const void *p);

#endif
