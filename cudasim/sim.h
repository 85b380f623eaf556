/**
 * @file sim.h
 * @brief The inside of cudasim: what its source files share.
 * @ingroup cudasim
 *
 * How a kernel runs (launch.c, block.c, shared.c, warp.c, switch.c) is in block.h.
 *
 *     events.c   what others count, as it happens
 *     report.c   messages, places, errors that a program has not looked at
 *     memory.c   ranges of addresses, pages, which of them are open
 *     allocate.c what a program calls to get and to free memory
 *     stream.c   queues of work, events, and what waits for what
 *     handles.c  which events exist
 *     copy.c     copies and fills
 *     heap.c     malloc(), free() and assert() of kernels
 *     managed.c  memory that the host and kernels share
 *     callback.c functions of the host that a stream calls
 *     device.c   what a program learns of the device
 *     fault.c    what happens when a program touches memory that is not its own, or never ends
 *     launch.c   is a launch possible? then its grid, block by block
 *     block.c    one block: fibers, barriers
 *     shared.c   shared memory of a block
 *     warp.c     operations of a warp
 *     switch.c   from one stack to another
 *     cublas.c   matrix products
 *
 * In check mode hooks.c, check.c, shadow.c, race.c, replay.c, profile.c, sample.c and share.c look
 * at every load and store; in other builds nocheck.c stands in for them.
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
typedef enum BlockOrder { FORWARD, REVERSE, RANDOM } BlockOrder;

/** The settings in the environment; read once, before anything else. */
typedef struct Settings {
    BlockOrder schedule; /**< CUDASIM_SCHED=forward|reverse|random:N */
    unsigned seed;       /**< N of random:N */
    int threads;         /**< CUDASIM_THREADS: threads of the CPU that share a grid; 1 */
    int timeout;         /**< CUDASIM_TIMEOUT: seconds that one block may take; 0 for no limit */
    size_t memory;       /**< CUDASIM_MEMORY: MiB of device memory; 8192 */
    const char *profile; /**< CUDASIM_PROFILE: 1 or a file; NULL is none */
    int sample;          /**< CUDASIM_SAMPLE: chooses the warps of the profile; -1: the first */
    int events;          /**< CUDASIM_EVENTS: descriptor of a pipe for sim_event(); -1: none */
    bool replay;         /**< CUDASIM_REPLAY: in check mode, each launch runs twice; 1 */
    bool strict;         /**< CUDASIM_STRICT: in check mode, volatile orders nothing; 0 */
} __attribute__((aligned(PAGE))) Settings;
extern Settings sim_settings; /**< valid after sim_begin(), and then closed to writing */

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

/** `[cudasim] note: text`, which is not a problem. */
void sim_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The next report goes into a text, and is not counted yet. */
void sim_capture(void);

/** That text, to be freed; "" if the report was not to be shown. */
char *sim_captured(void);

/** Reports such a text. */
void sim_report_captured(const char *kind, const char *text);

/** Tells a judge: a line "cudasim ..." into the pipe CUDASIM_EVENTS, at once. */
void sim_event(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Ends the program, with status 86: what comes next could not be trusted. */
_Noreturn void sim_stop(void);

/** Which kernel, block and thread is running; nothing if none is. */
void sim_detail_thread(void);

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

/** Adds a line about the last call that failed, if one has. */
void sim_detail_error(void);

/** The error given to sim_fail_device(), or cudaSuccess. */
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
    bool by_kernel;    /**< a kernel's malloc() has made it */
    bool managed;      /**< device memory that the host may use as well */
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

/** Gives device memory out; the bytes are 0xFF. NULL if there is not enough. */
Allocation *sim_allocate(size_t bytes, bool pinned, const char *maker, Place place);

/** Opens the pages of an allocation for the thread that runs now. */
void sim_open(Allocation *allocation);

/** The allocation nearest to an address of device memory, or NULL. */
Allocation *sim_nearest(const volatile void *p);

/** Within an operation: opens device memory, and in check mode checks and notes the access. */
void sim_touch(const void *p, size_t bytes, bool write);

/** Makes all of device memory inaccessible again: control goes back to the host. */
void sim_close_memory(void);

/** Opens or closes device memory, past the list of what sim_close_memory() closes. */
void sim_set_open(Allocation *allocation, bool open);

/** Takes the pages away: touching them is a use after free. */
void sim_retire(Allocation *allocation);

/* ---- copy.c, fault.c ------------------------------------------------------------------------- */

/**
 * Whether the host may not touch p, in pinned memory, since a copy has not been waited for; reports
 * it. Else opens the pages, which were closed because of a neighbour.
 */
bool sim_pending_copy(const char *p, bool write, const void *pc);

/** Closes host memory, or managed memory, until the host has waited for the operation. */
struct Operation;
void sim_guard(const char *begin, size_t bytes, bool written, const struct Operation *operation);

/** Closes what the host may not touch before it has waited, and opens what it may touch again. */
void sim_guard_pending(void);

/** The time of one block begins: see Settings.timeout. */
void sim_watch(bool on);

/* ---- stream.c -------------------------------------------------------------------------------- */

/** Calls a function of the program in the midst of an operation, which it is ordered after. */
void sim_as_host(void (*call)(void *), void *context);

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
 * Puts work into a stream; it runs when a call waits for it.
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

/** The operations that one submitted to the stream now would wait for. */
Clock sim_clock_of(int slot);

/** Notes that the next operation of a stream uses the memory; reports what has no order. */
bool sim_use(Allocation *allocation, int slot, const char *what, Place place);

/** Whether there has ever been a stream beside the default one. */
bool sim_many_streams(void);

/* ---- handles.c ------------------------------------------------------------------------------- */

/** A handle is given to the program. */
void sim_handle_made(void *handle);

/**
 * The program has destroyed a handle, at `place`. Its memory must stay for now, so that its address
 * is not at once another's.
 *
 * @return another one, destroyed long before, whose memory may now go; or NULL
 */
void *sim_handle_ended(void *handle, Place place);

/**
 * Whether a handle is one that exists; else that is reported.
 *
 * @param handle from the program
 * @param kind   "event"
 * @param what   the function that was called
 * @param place  where
 */
bool sim_handle_exists(const void *handle, const char *kind, const char *what, Place place);
/* ---- managed.c ------------------------------------------------------------------------------- */

/** Opens managed memory to the host, or closes it. */
void sim_show_managed(bool to_host);

/** Closes to the host what a launch was given of shared memory. */
void sim_guard_shared(const Operation *operation);

/** Whether p is in memory that cudaHostRegister() was given. */
bool sim_registered(const volatile void *p);

/* ---- hooks.c, check.c, shadow.c, race.c, replay.c, profile.c, sample.c, share.c; nocheck.c --- */

/** Whether loads and stores are seen. */
extern const bool sim_checking;

/** Memory that was never written. */
void check_fresh(const void *p, size_t bytes);

/** Memory that the host may have written. */
void check_filled(const void *p, size_t bytes);

/** A copy or a matrix product reads or writes. */
void check_range(const void *p, size_t bytes, bool write);

/** The launch that runs must not run again: a kernel has taken or freed memory. */
void check_once(void);

/** A copy: what was not initialised stays so. */
void check_copied(void *to, const void *from, size_t bytes);

/** The running thread is about to wait, or has returned. */
void check_pause(void);

/** The pages of an allocation were opened, for an operation that has touched them. */
void check_opened(Allocation *allocation);

/** Whether what is about to be reported is for the check alone, which then says it itself. */
bool check_mute(void);

/** The program is about to be stopped. */
void check_stop(void);

#endif
