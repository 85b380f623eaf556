/**
 * @file sim.h
 * @brief The inside of cudasim: what its source files share.
 * @ingroup cudasim
 *
 *     report.c   messages, places, errors that a program has not looked at
 *     memory.c   ranges of addresses, pages, which of them are open
 *     allocate.c what a program calls to get and to free memory
 *     stream.c   queues of work, events, and what waits for what
 *     copy.c     copies and fills
 *     fault.c    what happens when somebody touches memory that is not theirs, or never ends
 *     launch.c   is a launch possible? then its grid, block by block
 *     block.c    one block: fibers, barriers
 *     shared.c   shared memory of a block
 *     warp.c     operations of a warp
 *     switch.c   from one stack to another
 *     cublas.c   matrix products
 *
 * In check mode hooks.c, check.c, shadow.c, race.c and profile.c look at every load and store; in
 * other builds nocheck.c stands in for them.
 */
#ifndef CUDASIM_SIM_H
#define CUDASIM_SIM_H

#include <stdbool.h>

#include "cudasim_core.h"

enum {
    PAGE = 4096,
    MAX_THREADS = 1024, /**< threads of a block */
    WARP = 32,          /**< lanes of a warp */
    MAX_WARPS = MAX_THREADS / WARP,
    STATIC_SHARED = 48 << 10,  /**< bytes of shared memory without asking for more */
    DYNAMIC_SHARED = 99 << 10, /**< bytes with: the smallest limit from sm_80 to sm_90 */
    SHARED_VARIABLES = 512,    /**< `__shared__` variables of a program */
    STACK_BYTES = 64 << 10,    /**< a fiber's stack */
    MAX_STREAMS = 32,
};

/** A line of the program's source. */
typedef struct Place {
    const char *file; /**< as the compiler names it */
    int line;         /**< from 1 on */
} Place;

/** In which order threads, lanes and blocks get their turn. */
typedef enum Schedule { FORWARD, REVERSE, RANDOM } Schedule;

/** What the environment asks for; read once, before anything else. */
typedef struct Settings {
    Schedule schedule;   /**< CUDASIM_SCHED=forward|reverse|random:N */
    unsigned seed;       /**< N of random:N */
    int threads;         /**< CUDASIM_THREADS: threads of the CPU that share a grid; 1 */
    int timeout;         /**< CUDASIM_TIMEOUT: seconds that one block may take; 0 is no limit */
    size_t memory;       /**< CUDASIM_MEMORY: MiB of device memory; 8192 */
    const char *profile; /**< CUDASIM_PROFILE: 1 or a file; NULL is none */
} Settings;
extern Settings sim_settings; /**< valid after sim_begin() */

/** Reads the settings, reserves memory, installs handlers; later calls do nothing. */
void sim_begin(void);

/** A part of sim_begin(): the environment. */
void sim_read_settings(void);

/**
 * Whether the program has ended, and only what was still queued is being done. Libraries may be
 * gone then: what they have made since sim_begin() is taken down first.
 */
bool sim_ending(void);

/** A part of sim_begin(): ranges of addresses. */
void sim_reserve_memory(void);

/** A part of sim_begin(): handlers of signals. */
void sim_catch_faults(void);

/** Gives this thread of the CPU a stack for signal handlers. */
void sim_signal_stack(void);

/* ---- report.c -------------------------------------------------------------------------------- */

/**
 * Begins a report: `[cudasim] kind: text`. The program will end with status 86.
 *
 * @param kind   the class of the problem, from a fixed list: docs/cudasim.md
 * @param format printf format of the text, then its values
 */
void sim_report(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** One more line of the last report. */
void sim_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Ends the program, with status 86: what comes next could not be trusted. */
_Noreturn void sim_stop(void);

/** Which kernel, block and thread is running; nothing if none is. */
void sim_detail_thread(void);

/** The source line of a machine address: "file.cu:12 (kernel)". */
void sim_describe_code(const void *pc, char *text, size_t size);

/** The file's name without its folders. */
const char *sim_file(Place place);

/**
 * Notes what a call came to, for cudaGetLastError().
 *
 * @param error  what
 * @param what   the function or kernel
 * @param place  where
 * @param silent true if the program could not see it: a launch returns nothing
 * @return error
 */
cudaError_t sim_error(cudaError_t error, const char *what, Place place, bool silent);

/** The device cannot go on: every later call returns this error. */
void sim_fail_device(cudaError_t error);

/** What sim_fail_device() said, or cudaSuccess. */
cudaError_t sim_device_error(void);

/* ---- memory.c -------------------------------------------------------------------------------- */

/** How far each stream had come, as seen from somewhere. */
typedef struct Clock {
    uint64_t of[MAX_STREAMS]; /**< operations of the stream that are certainly done */
} Clock;

/** A piece of device memory, or of pinned host memory. */
typedef struct Allocation {
    char *base;        /**< what the program was given */
    size_t bytes;      /**< what it asked for */
    char *pages;       /**< the pages around it; one guard page follows */
    size_t length;     /**< bytes of these pages */
    int number;        /**< 1, 2, ... */
    bool pinned;       /**< host memory */
    bool live;         /**< its pages exist */
    bool given_back;   /**< the program has freed it; with cudaFreeAsync it may live on a while */
    bool open;         /**< the pages may be touched now */
    Place made;        /**< by which call */
    Place freed;       /**< by which call */
    const char *maker; /**< "cudaMalloc", "cudaMallocAsync", ... */
    int maker_stream;  /**< stream whose operation maker_number makes it, or -1 */
    uint64_t maker_number; /**< see maker_stream */
    Clock used;            /**< the last operation of each stream that was given it */
} Allocation;

/** Device memory in bytes, whole pages. */
typedef struct SimUse {
    size_t now;  /**< given out */
    size_t peak; /**< most so far, or since a program has set it back */
} SimUse;
extern SimUse sim_use_of_memory; /**< what cudaMemGetInfo() and the pool's attributes tell */

/** Memory for the simulator itself, zero, taken when it is touched. Ends the program if there is
 * none. */
void *sim_map(size_t bytes);

/** As realloc(); ends the program if there is no memory. */
void *sim_realloc(void *old, size_t bytes);

/** Whether p is in the range of device memory, valid or not. */
bool sim_on_device(const volatile void *p);

/** Where the range of device memory begins, and its length in bytes. */
const char *sim_device_range(size_t *bytes);

/** The allocation whose pages hold p, alive or freed, device or pinned; else NULL. */
Allocation *sim_allocation(const volatile void *p);

/** Adds a line that says what lies at p: "byte 4 of allocation #2 (64 bytes, cudaMalloc at ...)".
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

/** Gives device memory out; the bytes are 0xFF. NULL if there is not enough. */
Allocation *sim_allocate(size_t bytes, bool pinned, const char *maker, Place place);

/** Opens the pages of an allocation for whoever runs now. */
void sim_open(Allocation *allocation);

/** The allocation nearest to an address of device memory, or NULL. */
Allocation *sim_nearest(const volatile void *p);

/** Within an operation: opens device memory, and in check mode checks and notes the access. */
void sim_touch(const void *p, size_t bytes, bool write);

/** Makes all of device memory inaccessible again: control goes back to the host. */
void sim_close_memory(void);

/** Takes the pages away: whoever touches them now uses freed memory. */
void sim_retire(Allocation *allocation);

/* ---- copy.c, fault.c ------------------------------------------------------------------------- */

/**
 * Whether the host may not touch p, in pinned memory, since a copy has not been waited for; reports
 * it. Else opens the pages, which were closed because of a neighbour.
 */
bool sim_pending_copy(const char *p, bool write, const void *pc);

/** Closes what the host may not touch before it has waited, and opens what it may touch again. */
void sim_guard_pending(void);

/** The time of one block begins: see Settings.timeout. */
void sim_watch(bool on);

/* ---- stream.c -------------------------------------------------------------------------------- */

/** A piece of work in a queue. */
typedef struct Operation {
    struct Operation *next;  /**< in the queue */
    const char *what;        /**< "kernel scale", "cudaMemcpyAsync" */
    Place place;             /**< of the call */
    int stream;              /**< slot of its stream */
    uint64_t number;         /**< in its stream, from 1 on */
    uint64_t serial;         /**< among all that were ever submitted */
    Clock clock;             /**< what must be done before it */
    void (*run)(void *);     /**< does it */
    void (*release)(void *); /**< frees the context */
    void *context;           /**< its arguments */
} Operation;

/**
 * Puts work into a stream; it runs when somebody waits for it.
 *
 * @param stream  queue; NULL is the default stream
 * @param what    for reports; must live on
 * @param file    place of the call
 * @param line    place of the call
 * @param run     does the work
 * @param context arguments, which are copied
 * @param bytes   their size
 */
void sim_submit(cudaStream_t stream, const char *what, const char *file, int line,
                void (*run)(void *), const void *context, size_t bytes);

/** The same with a context that is given away: release() frees it. */
const Operation *sim_submit_owned(cudaStream_t stream, const char *what, Place place,
                                  void (*run)(void *), void *context, void (*release)(void *));

/** The slot of a stream, or -1 after a report if there is no such stream. */
int sim_stream_slot(cudaStream_t stream, const char *what, Place place);

/** Runs a stream to its end, and what that needs; the host is then ordered after it. */
void sim_wait_stream(int slot);

/** Whether the host has waited for an operation. */
bool sim_host_ordered(int slot, uint64_t number);

/** The same for all streams. */
void sim_wait_device(void);

/** The operation that runs now, or NULL: the host does. */
const Operation *sim_operation(void);

/** Whether the operation would be ordered after number `number` of stream slot `slot`. */
bool sim_ordered(const Operation *operation, int slot, uint64_t number);

/** What an operation submitted to the stream now would wait for. */
Clock sim_clock_of(int slot);

/** Notes that the next operation of a stream uses the memory; reports what has no order. */
bool sim_use(Allocation *allocation, int slot, const char *what, Place place);

/** Whether there has ever been a stream beside the default one. */
bool sim_many_streams(void);

/* ---- block.c, warp.c, launch.c --------------------------------------------------------------- */

/** What a CUDA thread is doing. */
typedef enum ThreadState {
    FRESH,   /**< not begun */
    RUNNING, /**< has the processor */
    READY,   /**< may go on */
    BARRED,  /**< waits in __syncthreads() */
    MEETING, /**< waits in an operation of its warp */
    GONE,    /**< has returned */
} ThreadState;

typedef struct Fiber Fiber;      /**< a stack, see struct Fiber */
typedef cudasim_meeting Meeting; /**< lanes of a warp that come together */

/** A CUDA thread of the block that runs. */
typedef struct Thread {
    uint3 index;       /**< threadIdx */
    ThreadState state; /**< what it does */
    Fiber *fiber;      /**< the stack it is on, once begun */
    Meeting *meeting;  /**< if MEETING, which */
    Place waits;       /**< if BARRED or MEETING, where */
} Thread;

/** A stack on which threads run, one after the other; parked while its thread waits. */
struct Fiber {
    void *stack_pointer; /**< where it was left */
    int thread;          /**< the thread on it, or -1 */
    Fiber *next;         /**< in the list of free ones */
    char *stack;         /**< lowest address */
};

enum { MEETINGS = 8 /**< groups of one warp that may be in different operations at once */ };

/** A place in the warp where the lanes of a mask come together. */
struct cudasim_meeting {
    unsigned mask;                  /**< lanes that must come; 0: not in use */
    unsigned arrived;               /**< lanes that have */
    int operation;                  /**< enum cudasim_warp_operation */
    int inside;                     /**< lanes that have not left; -1 before all have come */
    Place place;                    /**< of the first to arrive */
    unsigned long long value[WARP]; /**< what each lane brought */
};

/** A launch that was accepted. */
typedef struct Launch {
    cudasim_launch_site site; /**< how it was written */
    void (*thread)(void *);   /**< runs one CUDA thread */
    void *arguments;          /**< of the kernel */
    void (*release)(void *);  /**< frees them */
} Launch;
typedef cudasim_launch_site LaunchSite;         /**< a launch as it was written */
typedef cudasim_shared_variable SharedVariable; /**< a `__shared__` variable */

/** One thread of the CPU, and the block that it runs. */
typedef struct Worker {
    const Launch *launch; /**< whose block this is */
    bool in_kernel;       /**< a CUDA thread is running */
    bool aborted;         /**< the block could not be finished */
    unsigned block;       /**< number of the block among all that ever ran, from 1 on */

    Thread thread[MAX_THREADS];      /**< of the block */
    int threads;                     /**< how many */
    int alive;                       /**< of these, not GONE */
    uint16_t order[MAX_THREADS];     /**< in which they begin */
    int order_threads;               /**< threads for which order[] was made; 0: none */
    int begun;                       /**< of these, begun */
    uint16_t ready[2 * MAX_THREADS]; /**< ring of those that may go on */
    unsigned ready_first;            /**< its first */
    unsigned ready_end;              /**< one past its last */
    uint3 shape;                     /**< block size that thread[].index was made for */

    Fiber home;   /**< the worker's own stack */
    Fiber *fiber; /**< that runs now */
    Fiber *spare; /**< without a thread */
    int fibers;   /**< made so far */
    char *stacks; /**< of MAX_THREADS + 1 fibers */

    int barred;        /**< threads in the barrier */
    unsigned barriers; /**< that the block has passed */
    Place barrier;     /**< where its first thread waits */
    int reduced;       /**< of __syncthreads_count() and the like, so far */
    int result;        /**< the same, when all have come */

    Meeting meeting[MAX_WARPS][MEETINGS]; /**< by warp */
    bool met[MAX_WARPS];                  /**< whether the warp has had any in this block */
    unsigned gone[MAX_WARPS];             /**< lanes that have returned */
    uint16_t meetings[MAX_WARPS];         /**< that the warp has passed in this block */

    char *shared;        /**< where static shared memory begins */
    size_t shared_used;  /**< of the arena */
    size_t shared_bytes; /**< of the block's variables */
    char *dynamic;       /**< dynamic shared memory, which ends against a guard page */
    char *dynamic_end;   /**< that page */
    SharedVariable *variable[SHARED_VARIABLES]; /**< by id */
    char *variable_at[SHARED_VARIABLES];        /**< by id */
    unsigned variable_block[SHARED_VARIABLES];  /**< by id: the block that has it */
    bool no_dynamic_reported;                   /**< in this launch */

    unsigned random; /**< state of the random schedule */
} Worker;

/** This CPU thread's worker; NULL before its first block. */
extern __thread Worker *sim_worker;

/** Gives the block the dynamic shared memory that its launch asks for, full of ones. */
void sim_begin_dynamic_shared(Worker *worker);

/** Runs one block of a launch. */
void sim_run_block(Worker *worker, const Launch *launch, dim3 index, unsigned number);

/** This CPU thread's worker, made at its first call. */
Worker *sim_get_worker(void);

/** The number of the first block of the launch that runs. */
unsigned sim_first_block(void);

/** Counts a copy among the launches; its number, as of a launch with one block. */
unsigned sim_new_operation(void);

/** Leaves the block that runs: the launch has failed. */
_Noreturn void sim_abort_block(void);

/** The worker, if a kernel runs; else a report that `what` was called by the host, and the end. */
Worker *sim_need_kernel(const char *what, Place place);

/** Puts the running thread aside until somebody calls sim_wake(). */
void sim_suspend(Worker *worker);

/** A waiting thread may go on. */
void sim_wake(Worker *worker, int thread);

/** When all threads wait: reports a meeting that never completes, and leaves the block. */
_Noreturn void sim_report_stuck_meeting(Worker *worker, int thread);

/** A thread has returned; its warp waits for it no longer. */
void sim_leave_warp(Worker *worker, int thread);

/** "(1,0,0)" */
const char *sim_thread_name(const Worker *worker, int thread, char text[40]);

/** Adds "in kernel ..., thread ..." for one that waits. */
void sim_detail_waiting(Worker *worker, int thread);

/* ---- switch.c -------------------------------------------------------------------------------- */

/** Prepares a stack on which `begin` will run, and must never return. */
void *sim_stack_make(char *lowest, char *end, void (*begin)(void));

/** Leaves this stack, noting where, and goes on where `to` was left. */
void sim_stack_switch(void **from, void *to);

/* ---- hooks.c, check.c, shadow.c, race.c, profile.c; nocheck.c
 * ----------------------------------------- */

/** Whether loads and stores are seen. */
extern const bool sim_checking;

/** Memory that nobody has written. */
void check_fresh(const void *p, size_t bytes);

/** A copy or a matrix product reads or writes. */
void check_range(const void *p, size_t bytes, bool write);

/** A copy: what was not initialised stays so. */
void check_copied(void *to, const void *from, size_t bytes);

/** The running thread is about to wait, or has returned. */
void check_pause(void);

/** A launch begins, or has ended. */
void check_launch(const Launch *launch, bool begins);

#endif
