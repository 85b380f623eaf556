/**
 * @file operation.h
 * @brief The inside of cudasim, work for the device: how it is queued, and what it waits for.
 * @ingroup cudasim
 */
#ifndef CUDASIM_OPERATION_H
#define CUDASIM_OPERATION_H

#include "allocation.h"

/* ---- queue.c --------------------------------------------------------------------------------- */

struct CudasimEntry;

/** A piece of work for the device, before it is in a queue. */
typedef struct Work {
    const char *what;        /**< "kernel scale", "cudaMemcpyAsync"; must live on */
    Place place;             /**< of the call */
    cudaGraphNodeType type;  /**< of the node that it would be in a graph; a kernel if not set */
    void (*run)(void *);     /**< does it, and may do it again; NULL: nothing to do */
    void (*release)(void *); /**< frees the context; NULL: nothing to free */
    void *context;           /**< its arguments */
    /** Called each time that it has entered a queue; NULL: nothing to do */
    void (*entered)(void *context, const struct Operation *operation);
    /** Fills in what a record says of it, beside its order; NULL: nothing */
    void (*account)(const void *context, struct CudasimEntry *entry);
    const struct Needs *needs; /**< of work that several ranks do together; NULL: one does it */
} Work;

/** The needs of work that several ranks do together, each in a queue of its own. */
typedef struct Needs {
    /**
     * All that comes before the work is over. The queue that must get on before it can run; its
     * own queue if it can run now; -1 if other ranks had their turn in the meantime, who may even
     * have run it: all is asked again.
     */
    int (*queue)(void *context);
    /** Says for whom it waits: "rank 0's ncclSend #1 (...) waits for rank 1's ..." */
    void (*tell)(const void *context, char *text, size_t size);
} Needs;

/** Work that waits in a queue, in a graph, or both. */
typedef struct HeldWork HeldWork;

/** A piece of work in a queue. */
typedef struct Operation {
    struct Operation *next; /**< in the queue */
    const char *what;       /**< the work's */
    Place place;            /**< the work's */
    Place replayed;         /**< of the cudaGraphLaunch that has put it here; or no file */
    int rank;               /**< that has submitted it, or NO_RANK */
    int stream;             /**< slot of its queue */
    uint64_t number;        /**< in its queue, from 1 on */
    uint64_t serial;        /**< among all that were ever submitted */
    HeldWork *job;          /**< what to do */
    const Clock *clock;     /**< what must be done before it, and itself */
} Operation;

/**
 * Puts work into a stream; it runs when a call waits for it. A stream that is captured notes it in
 * its graph instead.
 *
 * @param stream queue; NULL is the default stream of the current device
 * @param work   what to do; its context is given away
 * @return where it is in the queue; NULL if it was only noted
 */
const Operation *sim_submit(cudaStream_t stream, Work work);

/** The same with a copy of the context. */
const Operation *sim_submit_copy(cudaStream_t stream, Work work, size_t bytes);

/** The slot of a stream, or -1 after a report: there is none. NULL is the current device's default
 * stream. */
int sim_stream_slot(cudaStream_t stream, const char *what, Place place);

/** Whether the host has waited for an operation. */
bool sim_host_ordered(int slot, uint64_t number);

/** Whether the operation would be ordered after number `number` of stream slot `slot`. */
bool sim_ordered(const Operation *operation, int slot, uint64_t number);

/** The operations that one submitted to the stream now would wait for. */
void sim_clock_of(int slot, Clock *clock);

/** The serial of the last operation that was submitted. */
uint64_t sim_submitted(void);

/** Whether there has ever been a queue beside one default stream. */
bool sim_many_streams(void);

/* ---- queue_run.c ----------------------------------------------------------------------------- */

/** Runs a stream to its end, and what that needs; the host is then ordered after it. */
void sim_wait_stream(int slot);

/** The same for all streams of a device that the rank has. */
void sim_wait_device(int device);

/** The same for all devices and ranks. */
void sim_wait_all(void);

/** Whether there is work that nothing orders after the operation which runs; if none does, any. */
bool sim_others_wait(void);

/** The operation that runs now, or NULL: the host does. */
const Operation *sim_operation(void);

/** Calls a function of the program in the midst of an operation, which it is ordered after. */
void sim_as_host(void (*call)(void *), void *context);

/** The operation that such a function was called for, or NULL. */
const Operation *sim_host_function(void);

/** Whether such a function runs. */
bool sim_in_host_function(void);

/** Stops the program if a function of the host that a stream has called is running. */
void sim_refuse_in_host_function(const char *what, Place place);

/* ---- capture.c ------------------------------------------------------------------------------- */

/**
 * Whether a call may give work to a stream; what a capture forbids is reported.
 *
 * @param stream from the program
 * @param what   the function that was called
 * @param place  where
 * @param slot   takes the stream's slot
 */
cudaError_t sim_may_submit(cudaStream_t stream, const char *what, Place place, int *slot);

/** Whether the host may wait for a stream: not while it is captured. */
cudaError_t sim_may_wait_stream(int slot, const char *what, Place place);

/** Whether the host may wait for all streams of the current device: not while one is captured. */
cudaError_t sim_may_wait_device(const char *what, Place place);

/** Whether a call may take or free memory, or do else what could wait. */
cudaError_t sim_may_allocate(const char *what, Place place);

/* ---- use.c ----------------------------------------------------------------------------------- */

/**
 * Notes that the next operation of a stream uses the memory; reports what has no order. For work
 * that is captured this is asked again whenever the graph is launched.
 */
bool sim_use(Allocation *allocation, int slot, const char *what, Place place);

/* ---- handles.c ------------------------------------------------------------------------------- */

/**
 * A handle is given to the program.
 *
 * @param handle it
 * @param call   the function that has made it
 * @param place  where that was called
 */
void sim_handle_made(void *handle, const char *call, Place place);

/**
 * The program has destroyed a handle. Its memory rests for a while, so that its address is not at
 * once another's.
 *
 * @param handle  one that exists
 * @param call    the function that was called
 * @param place   where
 * @param release frees it, in the end
 */
void sim_handle_ended(void *handle, const char *call, Place place, void (*release)(void *));

/**
 * Whether a handle is one that exists; else that is reported.
 *
 * @param handle from the program
 * @param kind   "event"
 * @param what   the function that was called
 * @param place  where
 */
bool sim_handle_exists(const void *handle, const char *kind, const char *what, Place place);

/* ---- leaks.c --------------------------------------------------------------------------------- */

/** One thing that was never given back, made by a call; `bytes` is 0 for all but memory. */
void leaks_add(const char *call, Place place, size_t bytes);

/** Adds the handles that exist. */
void sim_handles_left(void);

/** With CUDASIM_LEAKS: reports the memory of the current device, which is about to be reset. */
void sim_report_leaks_of_device(void);

/** Reports all that the program has left at its end, a report for each line. */
void sim_report_leaks(void);

/* ---- launch.c -------------------------------------------------------------------------------- */

/** How a kernel was launched, if the work is that of a kernel with an address of its own. The array
 * of arguments is overwritten by the next call. */
bool sim_launch_parameters(const Work *work, cudaKernelNodeParams *p);

#endif
