/**
 * @file communicator.h
 * @brief The inside of cudasim, communicators: what the files of NCCL ask each other.
 * @ingroup cudasim
 */
#ifndef CUDASIM_COMMUNICATOR_H
#define CUDASIM_COMMUNICATOR_H

#include "transport.h"

/** The function of NCCL that a program has called, and where. */
typedef struct CallSite {
    const char *function; /**< "ncclAllReduce" */
    Place place;          /**< its line */
} CallSite;

/* ---- communicator.c -------------------------------------------------------------------------- */

/**
 * Begins a report about a call, "function at file:line: text", and keeps the text for
 * ncclGetLastError().
 *
 * @param result what the call will return
 * @param kind   the class of the report
 * @param caller the call
 * @param format printf format of the text, then its values
 * @return result
 */
ncclResult_t nccl_wrong(ncclResult_t result, const char *kind, CallSite caller, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));

/** Whether a communicator exists, and may be used by who runs; what is wrong is reported. */
ncclResult_t comm_known(ncclComm_t comm, CallSite caller);

/** The same, and that it may move data. */
ncclResult_t comm_usable(ncclComm_t comm, CallSite caller);

/** The record of a communicator of which the transport knows nothing yet. */
Communicator *comm_new(int rank, int ranks, int device, CallSite caller);

/** Whether the settings of a communicator can be had; NULL is always right. */
ncclResult_t comm_check_config(const ncclConfig_t *config, CallSite caller);

/** One more needs the record of a communicator; returns it. */
Communicator *comm_hold(Communicator *comm);

/** One less needs it: the last one frees it. */
void comm_drop(Communicator *comm);

/** A call has entered a queue, as its operation `number`. */
void comm_queued(Communicator *comm, const QueuedCall *queued, uint64_t number);

/** Waits until all ranks have come: the communicator can be used. */
void comm_join(Communicator *comm, CallSite caller);

/* ---- split.c --------------------------------------------------------------------------------- */

/** A split that waits for all ranks. */
typedef struct Split {
    Communicator *parent; /**< of which it makes a part */
    ncclComm_t *made;     /**< where the program wants the new communicator */
    Communicator *child;  /**< it; NULL: the rank has no part in it */
    CallSite caller;      /**< the call */
} Split;

/** The second part of ncclCommSplit(): waits for the colors of all ranks, and makes the child. */
void split_form(Split *split);

/** The third part: waits until all members of the child have come. */
void split_join(Split *split);

/* ---- group.c --------------------------------------------------------------------------------- */

/** Whether the host that runs is between ncclGroupStart and ncclGroupEnd. */
bool group_is_open(void);

/** A call finds the group open that should have ended before: that is reported, and the group's
 * calls come to nothing. */
void group_abandon(CallSite caller);

/** A communicator is joined at the end of the group. */
void group_add_join(Communicator *comm, CallSite caller);

/** A split is done at the end of the group, or now if none is open. */
void group_add_split(Split split);

/** A call is launched at the end of the group, or now if none is open. */
void group_add_call(QueuedCall call);

/** A call was wrong: if a group is open, nothing of it will be launched. */
void group_fail(ncclResult_t result);

#endif
