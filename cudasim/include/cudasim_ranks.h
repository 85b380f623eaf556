/**
 * @file cudasim_ranks.h
 * @brief Ranks: several hosts in one process, each with a device, as if each were a process.
 * @ingroup cudasim
 */
#ifndef CUDASIM_RANKS_H
#define CUDASIM_RANKS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The program of a rank. */
typedef void (*cudasim_rank_body)(int rank, void *context);

/**
 * Runs a program as several ranks, and returns when all have ended. They run by turns on this
 * thread of the host, each on a stack of its own: one goes on until it waits for another. There are
 * at least as many devices as ranks, unless CUDASIM_DEVICES says less. If no rank can go on, that
 * is reported as a deadlock, and the program ends.
 *
 * @param count   ranks, 1 to 64
 * @param body    called once for each rank, whose current device is rank modulo devices
 * @param context passed to each
 * @return 0; the process ends otherwise
 */
#define cudasim_ranks_run(count, body, context)                                                    \
    cudasim_run_ranks(__FILE__, __LINE__, (count), (body), (context))
/** @cond */
int cudasim_run_ranks(const char *file, int line, int count, cudasim_rank_body body, void *context);
/** @endcond */

/** The rank that runs, from 0 on; 0 outside of cudasim_ranks_run(). */
int cudasim_rank(void);

/** How many ranks there are; 1 outside of cudasim_ranks_run(). */
int cudasim_rank_count(void);

/**
 * Writable static data of which each rank has a copy of its own. The copies begin with what is
 * there when the ranks start, and rank 0's is there when they have ended. Call it before
 * cudasim_ranks_run().
 *
 * @param begin first byte
 * @param bytes length; all calls together at most 40 KiB
 */
#define cudasim_rank_data(begin, bytes) cudasim_add_rank_data(__FILE__, __LINE__, (begin), (bytes))
/** @cond */
void cudasim_add_rank_data(const char *file, int line, void *begin, size_t bytes);
/** @endcond */

/**
 * Memory of the host that is the calling rank's alone, as if it were a process: an access of
 * another rank is reported, *memory of another rank*. From the first call on that holds for the
 * stacks of all ranks, too. Collectives of host memory work as before (cudasim_comm_on_host()).
 * Outside of ranks it does nothing.
 *
 * @param begin first byte, at the begin of a page
 * @param bytes length, whole pages
 */
#define cudasim_rank_memory(begin, bytes)                                                          \
    cudasim_add_rank_memory(__FILE__, __LINE__, (begin), (bytes))
/** No rank owns it any more: to be called before it is given back to the system. */
#define cudasim_rank_memory_ends(begin) cudasim_drop_rank_memory(__FILE__, __LINE__, (begin))
/**
 * Clears the calling rank's stack below its frames and 64 KiB more. Outside of ranks it does
 * nothing.
 */
void cudasim_rank_stack_ends(void);
/** @cond */
void cudasim_add_rank_memory(const char *file, int line, void *begin, size_t bytes);
void cudasim_drop_rank_memory(const char *file, int line, const void *begin);
/** @endcond */

#ifdef __cplusplus
}
#endif

#endif
