/**
 * @file queue.h
 * @brief The inside of cudasim, queues: what streams, events and graphs are made of.
 * @ingroup cudasim
 */
#ifndef CUDASIM_QUEUE_H
#define CUDASIM_QUEUE_H

#include "cudasim_record.h"
#include "operation.h"

/** The purpose of a queue. */
typedef enum QueueKind {
    QUEUE_UNUSED,   /**< nothing */
    QUEUE_DEFAULT,  /**< a device's default stream */
    QUEUE_STREAM,   /**< a stream of the program */
    QUEUE_LANE,     /**< what need not wait of graphs that are launched */
    QUEUE_RECORDER, /**< a stream that only ever captures: see graph_node.c */
} QueueKind;

/** A queue of operations of a device, which run one after the other. */
typedef struct Queue {
    QueueKind kind;                /**< what it is for */
    int device;                    /**< where its operations run */
    int rank;                      /**< whose it is, or NO_RANK */
    Place made;                    /**< a stream's cudaStreamCreate() */
    Operation *first;              /**< the next to run; NULL: none waits */
    Operation *last;               /**< see first */
    uint64_t submitted;            /**< number of the last operation */
    uint64_t done;                 /**< number of the last that has run */
    Clock clock;                   /**< of the last operation, and of what the next one waits for */
    bool blocking;                 /**< ordered with its device's default stream */
    unsigned flags;                /**< of cudaStreamCreateWithFlags() */
    int priority;                  /**< orders nothing */
    cudaAccessPolicyWindow window; /**< changes nothing */
    cudaSynchronizationPolicy policy; /**< changes nothing; 0: none was set */
    cudaStream_t handle;              /**< NULL: not a stream of the program, or the default one */
} Queue;

/** A queue; [0] is the default stream of device 0, outside of ranks. */
Queue *queue_of(int slot);

/** All queues that were ever used have slots below this. */
int queue_count(void);

/** A queue of a device that nobody uses, from now on for this; -1 if there are no more. */
int queue_take(int device, QueueKind kind);

/** The rank whose queues the rank that runs has: its own. */
int queue_owner(void);

/** The slot of a device's default stream, as the rank has it that runs. */
int queue_default(int device);

/** Puts work at the end of a queue. */
const Operation *queue_add(int slot, HeldWork *job, Place replayed);

/** Whether a queue has come to an operation. Who asks again and again gets on, one at a time. */
cudaError_t queue_query(int slot, uint64_t number, const Clock *clock);

/** Joins a clock with all that the rank which runs has submitted to a device. */
void queue_join_device(int device, Clock *clock);

/** All that it submits to a device from now on comes after what has a place in the clock. */
void queue_device_waits(int device, const Clock *clock);

/* ---- queue_run.c ----------------------------------------------------------------------------- */

/** Runs a queue up to an operation, and before each what it waits for. */
void queue_run_to(int slot, uint64_t number);

/** Runs the next operation of a queue, and before it what it waits for, as far as that can be done
 * without waiting for other ranks. */
void queue_try(int slot);

/** Says for whom the first operation of a queue waits: "rank 0's ncclSend #1 (...) waits for" */
void queue_tell(int slot, char *text, size_t size);

/** Whether queue_try() runs: nothing may wait for other ranks. */
bool queue_only_asked(void);

/** A queue other than `but` that has not come as far as a clock says; -1: there is none. */
int queue_lacking(const Clock *clock, int but);

/** The work that runs is done for this operation from here on; returns the one before. */
const Operation *queue_act_for(const Operation *operation);

/** The host is ordered after what has a place in the clock; all of that has run. */
void queue_host_waits(const Clock *clock);

/* ---- clocks.c -------------------------------------------------------------------------------- */

/** The part of a clock that is in use. */
size_t clock_bytes(const Clock *clock);

/** Each place becomes the later one of two. */
void clock_join(Clock *clock, const Clock *other);

/** A copy. */
void clock_copy(Clock *to, const Clock *from);

/** An entry of a clock; it was not greater. */
void clock_set(Clock *clock, int slot, uint64_t number);

/** A copy in memory of its own, no larger than needed, in place of `old`, which may be NULL; free()
 * frees it. */
Clock *clock_keep(Clock *old, const Clock *from);

/* ---- use.c ----------------------------------------------------------------------------------- */

/** Memory that work uses, as far as a call knows. */
typedef struct Use {
    Allocation *allocation; /**< its record */
    int number;             /**< of the allocation: the record may be another's by now */
} Use;

/** The words of a program about a launch or product: see cudasim_note(). */
typedef struct Note {
    const char *op;             /**< its name; NULL: nothing was said */
    double flops;               /**< operations */
    double bytes;               /**< read and written */
    bool in_op;                 /**< it is of an op, which says its precision */
    CudasimPrecision precision; /**< of the arithmetic */
} Note;

/** A job: work that waits, and what it uses when it is launched again. */
struct HeldWork {
    Work work;     /**< what to do */
    Note note;     /**< what is said of it, if there is a record */
    Use *uses;     /**< [0, use_count): noted when it was captured */
    int use_count; /**< how many */
    int device;    /**< where it runs */
    int holders;   /**< operations and nodes that hold it */
};

/** A job of the device that runs it or is current; its maker holds it. */
HeldWork *held_work_new(Work work);

/** One more holds it; returns it. */
HeldWork *held_work_hold(HeldWork *job);

/** One less holds it: the last one frees it. NULL is allowed. */
void held_work_drop(HeldWork *job);

/** Gives to a job the memory that was noted for the call that has made it. */
void use_given_to(HeldWork *job);

/** The last operation of a queue that was given the memory; 0: none. */
uint64_t use_number(const Allocation *allocation, int slot);

/** Marks the memory that was noted for a call as used by its operation. */
void use_by(const Operation *operation);

/** A graph is launched: whether the job's memory is there, and ordered before queue `slot`. */
bool use_again(const HeldWork *job, int slot, Place launched);

#endif
