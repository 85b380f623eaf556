/**
 * @file block.h
 * @brief The inside of cudasim, how a kernel runs: launches, the block of a worker, its threads and
 * warps.
 * @ingroup cudasim
 */
#ifndef CUDASIM_BLOCK_H
#define CUDASIM_BLOCK_H

#include "sim.h"

/** The state of a CUDA thread. */
typedef enum ThreadState {
    FRESH,     /**< not begun */
    READY,     /**< runs, or may go on */
    BARRED,    /**< waits in __syncthreads() */
    MEETING,   /**< waits in an operation of its warp */
    GATHERING, /**< waits for __activemask(): who else comes? */
    LOOKING,   /**< looks again and again whether another thread has done something */
    GONE,      /**< has returned */
} ThreadState;

enum { COPY_BYTES = 16 /**< of an asynchronous copy, at most */ };
typedef struct Fiber Fiber;      /**< a stack, see struct Fiber */
typedef cudasim_meeting Meeting; /**< where lanes of a warp come together */

/** A CUDA thread of the block that runs. */
typedef struct Thread {
    uint3 index;      /**< threadIdx */
    Meeting *meeting; /**< if MEETING, which */
    unsigned active;  /**< if it was GATHERING, the lanes that were there */
    Place waits;      /**< if it waits, where; a barrier's place is the block's */
} Thread;

/** A stack on which threads run, one after the other; parked while its thread waits. What a switch
 * to it needs is together. */
struct Fiber {
    void *stack_pointer; /**< where it was left */
    int thread;          /**< the thread on it, or -1 */
    uint3 index;         /**< threadIdx of that */
    int lane;            /**< and its place in its warp */
    Fiber *next;         /**< in the list of free ones */
    char *stack;         /**< lowest address */
};

enum { READY_ROOM = 2 * MAX_THREADS /**< places in the ring of those that may go on */ };

enum { MEETINGS = 2 * WARP /**< groups of one warp that may be in different operations at once */ };

/** A launch that was accepted. */
typedef struct Launch {
    cudasim_launch_site site; /**< how it was written */
    void (*thread)(void *);   /**< runs one CUDA thread */
    void *arguments;          /**< of the kernel */
    size_t argument_bytes;    /**< how large they are */
    void (*release)(void *);  /**< frees them */
} Launch;
typedef cudasim_launch_site LaunchSite;         /**< a launch as it was written */
typedef cudasim_shared_variable SharedVariable; /**< a `__shared__` variable */

/** An `extern __shared__` array. */
typedef struct DynamicName {
    const char *name;     /**< as declared; NULL: none yet */
    const char *function; /**< in which */
    Place place;          /**< where */
} DynamicName;

/** The fences that one thread passes for all of its warp or block: see race.c. */
typedef struct SharedFence {
    bool released;        /**< a thread has released what it had fenced */
    bool acquired;        /**< a thread has looked at an atomic */
    uint16_t released_at; /**< meetings of the warp, or barriers of the block, the last time */
    uint16_t acquired_at; /**< the same, the first time */
} SharedFence;

/** One thread of the CPU, and the block that it runs. */
typedef struct Worker {
    const Launch *launch; /**< whose block this is */
    bool in_kernel;       /**< a CUDA thread is running */
    bool aborted;         /**< the block could not be finished */
    unsigned block;       /**< number of the block among all that ever ran, from 1 on */
    uint3 index;          /**< blockIdx */
    size_t place;         /**< of the block in the order of its launch */
    bool has_turn;        /**< no block before it runs: what it does may be seen by others */
    struct Worker *next;  /**< in the list of those without a block, or put aside */

    Thread thread[MAX_THREADS];   /**< of the block */
    uint8_t state[MAX_THREADS];   /**< of each, a ThreadState */
    Fiber *fiber_of[MAX_THREADS]; /**< the stack that each is on, once begun */
    int threads;                  /**< how many */
    int alive;                    /**< of these, not GONE */
    uint16_t order[MAX_THREADS];  /**< in which they begin */
    int order_threads;            /**< threads for which order[] was made; 0: none */
    int begun;                    /**< of these, begun */
    Fiber *ready[READY_ROOM];     /**< ring: the stacks of those that may go on */
    unsigned ready_first;         /**< its first */
    unsigned ready_end;           /**< one past its last */
    uint3 shape;                  /**< block size that thread[].index was made for */

    Fiber home;   /**< the worker's own stack */
    Fiber *fiber; /**< that runs now */
    Fiber *spare; /**< without a thread */
    int fibers;   /**< made so far */
    Fiber *pool;  /**< MAX_THREADS + 1 of them */
    char *stacks; /**< of MAX_THREADS + 1 fibers */

    int looks;        /**< of a thread in its turn, one after the other, that found nothing new */
    unsigned turn;    /**< which: how many turns there had been */
    int alive_before; /**< when all that could go on were looking: see barrier.c */
    unsigned barriers_before; /**< the same */
    int barred_before;        /**< the same */

    int barred;         /**< threads in the barrier */
    unsigned barriers;  /**< that the block has passed */
    Place barrier;      /**< where its first thread waits */
    unsigned parked;    /**< the barrier after which the block waited for its grid last; 0: none */
    Place grid_barrier; /**< where it did */
    Place grid_wanted;  /**< where a thread of it has come to the grid's barrier last */
    bool at_grid_barrier; /**< it waits there now */
    int reduced;          /**< of __syncthreads_count() and the like, so far */
    int result;           /**< the same, when all have come */

    Meeting meeting[MAX_WARPS][MEETINGS]; /**< by warp */
    int met[MAX_WARPS];                   /**< of them, those that this block has used */
    unsigned gone[MAX_WARPS];             /**< lanes that have returned */
    uint16_t meetings[MAX_WARPS];         /**< that the warp has passed in this block */

    char *shared;        /**< where static shared memory begins */
    size_t shared_used;  /**< of the arena */
    size_t shared_bytes; /**< of the block's variables */
    char *dynamic;       /**< dynamic shared memory, which ends against a guard page */
    char *dynamic_end;   /**< that page */
    SharedVariable *variable[SHARED_VARIABLES]; /**< by id */
    char *variable_at[SHARED_VARIABLES];        /**< by id */
    unsigned variable_block[SHARED_VARIABLES];  /**< by id: the block that has it; 0: none yet */
    int variable_top;                           /**< the highest id that any block here has had */
    DynamicName dynamic_name; /**< by which dynamic memory was last asked for in this block */

    struct Copies *copies; /**< asynchronous ones, by thread; NULL before the first: see async.c */

    void *race_cells;                  /**< of check mode, for shared memory: see race_cells.c */
    unsigned char *written_bits;       /**< the same: see shadow.c */
    unsigned char fenced[MAX_THREADS]; /**< what each thread of fenced_block has fenced: race.c */
    SharedFence warp_fence[MAX_WARPS]; /**< the same of its warps */
    unsigned fenced_block;             /**< see fenced */

    unsigned random; /**< state of the random schedule */
} Worker;

/** This CPU thread's worker; NULL before its first block. */
extern __thread Worker *sim_worker;

/** Gives the block the dynamic shared memory that its launch asks for, full of ones. */
void sim_begin_dynamic_shared(Worker *worker);
/** One more line of a report on dynamic shared memory: where the launch asks for none, how to. */
void sim_detail_dynamic(void);

/** A kernel is launched: its address is known from now on. */
void sim_know_kernel(const LaunchSite *site);

/** Threads that a block of the kernel may have, by its __launch_bounds__ where that is known. */
unsigned sim_most_threads(const void *kernel);

/** Bytes of dynamic shared memory that a launch of the kernel may ask for. */
size_t sim_shared_limit(const void *kernel);
/** A worker for this CPU thread, which goes back when the thread ends. */
Worker *sim_take_worker(void);

/** A worker beside that of this CPU thread. */
Worker *sim_new_worker(void);

/** Prepares a block of a launch: its threads have not begun. worker->place is set. */
void sim_begin_block(Worker *worker, const Launch *launch, unsigned number);

/** Runs a block until it waits for its grid, has ended or has failed; sim_worker is its worker. */
void sim_resume_block(Worker *worker);

/** A block is over, or will never go on. */
void sim_end_block(Worker *worker);

/** Of the threads of a block that have passed a barrier, the first leaves the processor to other
 * blocks. */
void sim_park_block(Worker *worker, Place place);

/** A block goes on as another one, to race detection. */
void sim_renumber_block(Worker *worker, unsigned number);

/** Runs a cooperative launch; false if it could not be finished. */
bool sim_run_cooperative(const Launch *launch);

/** Numbers for the blocks of a launch, or of what follows a grid's barrier: the first. */
unsigned sim_new_blocks(unsigned count);

/** The number of one more block. */
unsigned sim_new_block(void);

/** Leaves the processor to other blocks until sim_resume_block(). */
void sim_leave_block(Worker *worker);

/** This CPU thread's worker, made at its first call. */
Worker *sim_get_worker(void);

/** The number of the first block of the launch that runs. */
unsigned sim_first_block(void);

/** Counts a copy among the launches; its number, as of a launch with one block. */
unsigned sim_new_operation(void);

/** Leaves the block that runs: the launch has failed. */
_Noreturn void sim_abort_block(void);

/** Reports that the host has called what only a kernel can do, and ends the program. */
_Noreturn void sim_refuse_on_host(const char *what, Place place);

/** The worker, if a kernel runs; else a report that `what` was called by the host, and the end. */
static inline Worker *sim_need_kernel(const char *what, Place place) {
    Worker *worker = sim_worker;
    if (worker == NULL || !worker->in_kernel) {
        sim_refuse_on_host(what, place);
    }
    return worker;
}

/**
 * Puts the running thread aside until sim_wake() is called. Called last, it costs least: see
 * switch.c.
 *
 * @return result, when the thread goes on
 */
void *sim_suspend(Worker *worker, void *result);

/**
 * The running thread has looked at memory and found what it knew: an atomic that has changed
 * nothing, a volatile load. After many of them the other threads of the block have their turn.
 */
void sim_idle(void);

/** The same where no thread is ready to go on. */
void *sim_suspend_or_begin(Worker *worker, void *result);

/** All threads wait: some of them go on, or it is reported that none can. */
void sim_resolve_stuck(Worker *worker);

/** Puts numbers of threads in another order: of the random schedule. */
void sim_shuffle(Worker *worker, uint16_t *items, int n);

/** The running thread waits for something that others do: it looks again when all of them wait. */
void sim_look_later(void);

/**
 * A waiting thread may go on, after those who were woken before it. Who wakes many keeps the end of
 * the ring in a variable: in memory, each would have to wait until the one before it is stored.
 *
 * @param end worker->ready_end, or what was returned for the thread before
 * @return the ring's new end; the last one is to become worker->ready_end
 */
static inline unsigned sim_wake(Worker *worker, int thread, unsigned end) {
    worker->state[thread] = READY;
    worker->ready[end % READY_ROOM] = worker->fiber_of[thread];
    return end + 1;
}

/** When all threads wait: reports a meeting that never completes, and leaves the block. */
_Noreturn void sim_report_stuck_meeting(Worker *worker, int thread);

/** Leaves an operation of the warp in which all have met; the last lane frees its place. */
static inline void sim_part(Meeting *meeting) {
    if (--meeting->inside == 0) {
        meeting->mask = 0;
    }
}

/** An operation of a warp, as CUDA calls it: of enum cudasim_warp_operation. */
const char *sim_operation_name(int operation);

/** A thread has returned; its warp waits for it no longer. */
void sim_leave_warp(Worker *worker, int thread);

/** "(1,0,0)" */
const char *sim_thread_name(const Worker *worker, int thread, char text[40]);

/** Adds "in kernel ..., thread ..." for one that waits. */
void sim_detail_waiting(Worker *worker, int thread);

/** When all threads wait: the lanes that are in __activemask() together go on. False if none is. */
bool sim_answer_gathering(Worker *worker);

/* ---- async.c -------------------------------------------------------------------------------- */

/** A block begins: none of its threads has copies under way. */
void sim_drop_copies(Worker *worker);

/** Whether an asynchronous copy to [p, p + bytes) is under way; its use before the wait for it
 * counts as reported. */
bool sim_copy_pending(Worker *worker, const char *p, size_t bytes);

/** Adds a line about that copy. */
void sim_detail_pending(Worker *worker, const char *p, size_t bytes);

/* ---- switch.c -------------------------------------------------------------------------------- */

/** Prepares a stack on which `begin` will run, and must never return. */
void *sim_stack_make(char *lowest, char *end, void (*begin)(void));

/**
 * Leaves this stack, noting where, and goes on where `to` was left.
 *
 * @return result, when this stack is gone back to
 */
void *sim_stack_switch(void **from, void *to, void *result);

/* ---- grid.c ---------------------------------------------------------------------------------- */

/** Runs the blocks of a launch; false if one could not be finished. */
bool sim_run_grid(const Launch *launch);

/** Waits until all blocks before this one are over. */
void sim_wait_for_turn(Worker *worker);

/** The block that runs is about to do something whose order others can see. */
static inline void sim_in_turn(Worker *worker) {
    if (!worker->has_turn) {
        sim_wait_for_turn(worker);
    }
}

/** Whether all blocks before this one are over; for a signal handler, which cannot wait. */
bool sim_is_first(const Worker *worker);

/** All threads of the block wait for others to do something: perhaps those of another block. */
void sim_let_others_run(Worker *worker);

/** How many blocks are put aside, as all their threads wait in loops. */
int sim_blocks_aside(void);

/** Sends the clock's signal to the other cores that run blocks. */
void sim_tell_cores(void);

/* ---- check.c; nocheck.c ---------------------------------------------------------------------- */

/** The running thread is about to wait, or has returned. */
static inline void sim_pause(void) {
    if (sim_checking) {
        check_pause();
    }
}

/** A launch begins. */
void check_launch_begins(const Launch *launch);

/** All blocks of the grid have come to its barrier. */
void check_epoch(void);

/** A launch has run: whether it is to run again, since the check wants to compare. */
bool check_launch_again(const Launch *launch);

/** Threads of the block that runs have missed a barrier: what they do now has no order. A line of
    the report names what they have raced for before, which may be why. */
void check_diverged(void);
/** Whether the running block has read memory that nothing had written. */
bool check_read_unwritten(void);

/** An asynchronous copy, begun at `place` by the running thread, has written. */
void check_landed(const void *p, size_t bytes, Place place);

/** A launch has ended. */
void check_launch_ends(const Launch *launch);

#endif
