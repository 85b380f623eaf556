/**
 * @file makespan.h
 * @brief How long a recorded program takes on a declared machine, at least.
 * @ingroup cudasim
 *
 * The simulated machine has, for each rank, a host that makes one call after the other and waits
 * where the program waited; and for each device an engine for arithmetic, engines for copies, and a
 * link each way. Entries start when the host has issued them and all that comes before is over.
 *
 * *Kernels* (and products, fills, copies within a device) take the larger of bytes / memory rate
 * and FLOPs / rate of their precision, but not less than the machine's floor. Up to `kernels` of
 * them run at once; together they never exceed the rate of memory or of arithmetic: where they
 * would, all that use it slow down alike. *Copies* have the bus, one at a time each way.
 * *Collectives* begin when all ranks have come and hold the links of all; with S bytes and R ranks
 * they take
 *
 *     all-reduce 2 (R - 1) / R * S / link,  reduce-scatter and all-gather (R - 1) / R * S / link,
 *     broadcast and reduce S / link
 *
 * where S is the larger of a rank's two buffers (nccl-tests, doc/PERFORMANCE.md). A *message*
 * begins when sender and receiver have come, and takes S / link. Calls of one group begin side by
 * side, and what follows them waits for all. Between nodes `network` takes the place of `link`.
 *
 * So it has rates and no efficiencies: a lower bound for this order of work, declared and not
 * measured, and every report says so.
 */
#ifndef CUDASIM_CLOCK_MAKESPAN_H
#define CUDASIM_CLOCK_MAKESPAN_H

#include <stdio.h>

#include "cudasim/clock/machine.h"

/** When an entry runs [s]. */
typedef struct Span {
    double begin; /**< it starts; of a host's wait, the host begins to wait */
    double end;   /**< it is over */
} Span;

/** The time of a whole record [s]. */
typedef struct Makespan {
    double seconds;   /**< from the first call to the end of the last entry */
    double kernels;   /**< during which some kernel runs, on the busiest device */
    double copies;    /**< the same of copies between host and device */
    double links;     /**< the same of collectives, and of copies between devices */
    double launching; /**< that a host spends on launches, of the busiest rank */
    double waiting;   /**< that a host waits, of the rank that waits longest */
    size_t unknown;   /**< launches of which neither bytes nor arithmetic are known */
} Makespan;

/**
 * Reckons the time of a record.
 *
 * @param      record  entries, ascending by id
 * @param      machine what runs it
 * @param[out] spans   (record->count) when each runs; may be NULL
 * @param[out] result  the whole
 * @return false, and a line on stderr, for a record that cannot run to its end: a rank never comes
 *         to a collective, a message is never received, or a host waits forever
 */
bool makespan(const CudasimRecord *record, const Machine *machine, Span *spans, Makespan *result);

/** Prints a result, with the machine's name and what such a number is. */
void makespan_print(const Makespan *result, const CudasimRecord *record, const Machine *machine,
                    FILE *file);

/**
 * Writes the spans for ui.perfetto.dev or chrome://tracing: a process for each device and host, a
 * lane for each stream.
 *
 * @return whether all of it was written
 */
bool makespan_trace(const CudasimRecord *record, const Span *spans, const Machine *machine,
                    FILE *file);

#endif
