/**
 * @file sim.h
 * @brief The inside of cudasim: what all of its source files share.
 * @ingroup cudasim
 *
 * Memory is in allocation.h, work in operation.h, how a kernel runs in block.h.
 *
 *     entry.c    which thread of the host has its turn
 *     events.c   what others count, as it happens
 *     settings.c what the environment asks for
 *     report.c   messages, places, the end of a program
 *     errors.c   what calls came to, and whether the program has looked
 *     memory.c   ranges of addresses, pages, which of them are open
 *     allocate.c what a program calls to get and to free memory
 *     queue.c    queues of work, and what waits for what; clocks.c: the clocks that say it
 *     rank.c     ranks: several hosts in one process; rank_memory.c: what only one can reach
 *     threads.c  threads of the host that wait for each other
 *     nccl/, mpi/  NCCL in one process, and between processes: cudasim/nccl/transport.h
 *     record.c   a record of what enters queues, and of waits; clock/ writes, reads and reckons it
 *     overlap.c  whether two entries of it are ordered
 *     use.c      which memory waiting work will use
 *     variables.c  variables of each device
 *     stream.c   streams
 *     stream_event.c  events
 *     handles.c  which events and graphs exist
 *     capture.c, graph.c, graph_node.c, graph_exec.c  graphs: see graph.h
 *     kernel.c   which kernels there are
 *     copy.c     copies
 *     fill.c     fills
 *     pinned.c   memory of the host that work still uses
 *     peer.c     whose memory a device may use, and a rank
 *     pool.c     pools of memory
 *     heap.c     malloc(), free() and assert() of kernels
 *     print.c    printf() of kernels
 *     managed.c  memory that the host and kernels share
 *     callback.c functions of the host that a stream calls
 *     local.c    memory of the host that work will use and that may be gone by then
 *     device.c   what a program learns of a device
 *     devices.c  which devices there are, and which one is current
 *     interrupted.c  what the processor says of the instruction that a signal has interrupted
 *     fault.c    what happens when a program touches memory that is not its own
 *     watch.c    launches that never end, threads that wait in a loop
 *     launch.c   is a launch possible? then it is put into a queue
 *     worker.c   workers of threads of the host that have ended
 *     grid.c     the blocks of a launch, shared by the cores
 *     block.c    one block: its threads, and the fibers that run them
 *     barrier.c  __syncthreads(), and what is done when all threads wait
 *     shared.c   shared memory of a block
 *     warp.c     operations of a warp
 *     async.c    asynchronous copies to shared memory
 *     wmma.c     what the lanes of a warp must do together for a tensor core
 *     xorwow.c   skipping ahead in one of cuRAND's generators
 *     curand.c, curand_draw.c  cuRAND's generators for the host
 *     switch.c   from one stack to another
 *     cublas.c, cublas_check.c, cublas_product.c  matrix products
 *
 * In check mode hooks.c, quick.c, check.c, site.c, address.c, shadow.c, race.c, replay.c,
 * profile.c, sample.c and share.c look at every load and store; in other builds nocheck.c stands in
 * for them. traffic.c counts sectors there and in builds with TRAFFIC=1, whose count.c does nothing
 * else; nocount.c stands in for both in the ordinary build.
 */
#ifndef CUDASIM_SIM_H
#define CUDASIM_SIM_H

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>

#include "cudasim_core.h"

enum {
#ifdef __aarch64__
    PAGE = 64 << 10, /**< what can be shut by itself: kernels there have pages of 4, 16 or 64 KiB */
    STACK_BYTES = 128 << 10, /**< a fiber's stack, and the closed page below it */
#else
    PAGE = 4096,            /**< what can be shut by itself */
    STACK_BYTES = 64 << 10, /**< a fiber's stack, with the closed page below it */
#endif
    MAX_THREADS = 1024, /**< threads of a block */
    WARP = 32,          /**< lanes of a warp */
    MAX_WARPS = MAX_THREADS / WARP,
    STATIC_SHARED = 48 << 10,  /**< bytes of shared memory without asking for more */
    DYNAMIC_SHARED = 99 << 10, /**< bytes with: the smallest limit from sm_80 to sm_90 */
    SHARED_VARIABLES = 512,    /**< `__shared__` variables of a program */
    LOCAL_BYTES = 64 << 10,    /**< of a thread's local variables: what its limit is said to be */
    NO_RANK = -1,              /**< the rank of a thread of the host that is none */
    QUEUES = 512, /**< streams of all devices, and queues in which graphs run what need not wait */
};

/** A line of the program's source. */
typedef struct Place {
    const char *file; /**< as the compiler names it */
    int line;         /**< from 1 on */
} Place;

/** Whether two lines are one: mostly their names are one string. */
static inline bool sim_same_place(Place a, Place b) {
    return a.line == b.line && (a.file == b.file || strcmp(a.file, b.file) == 0);
}

/**
 * How far each queue had come, as seen from somewhere. It is as wide as the queues in use, and only
 * so much of it is copied, and may exist: see clock_join() in queue.h. Never assign one to another.
 */
typedef struct Clock {
    int width;           /**< entries; those from here on are 0 */
    uint64_t of[QUEUES]; /**< operations of the queue that are certainly done */
} Clock;

/** Operations of a queue that are certainly done. */
static inline uint64_t clock_at(const Clock *clock, int slot) {
    return slot < clock->width ? clock->of[slot] : 0;
}

/** In which order threads, lanes and blocks get their turn. */
typedef enum BlockOrder { FORWARD, REVERSE, RANDOM } BlockOrder;

/** The settings in the environment; read once, before anything else. */
typedef struct Settings {
    BlockOrder schedule; /**< CUDASIM_SCHED=forward|reverse|random:N */
    unsigned seed;       /**< N of random:N */
    int threads;         /**< CUDASIM_THREADS: cores that share a grid */
    int timeout;         /**< CUDASIM_TIMEOUT: seconds that one block may take; 0 for no limit */
    size_t memory;       /**< CUDASIM_MEMORY: MiB of memory of each device; 8192 */
    int devices;         /**< CUDASIM_DEVICES; 0: not said, which is 1 */
    const char *profile; /**< CUDASIM_PROFILE: 1 or a file; NULL is none */
    int sample;          /**< CUDASIM_SAMPLE: chooses the warps of the profile; -1: the first */
    bool dry;     /**< CUDASIM_DRY: what is given to devices is recorded, and none of it runs */
    bool traffic; /**< CUDASIM_TRAFFIC: sectors of each operation are counted; 1 with TRAFFIC=1 */
    int events;   /**< CUDASIM_EVENTS: descriptor of a pipe for sim_event(); -1: none */
    bool replay;  /**< CUDASIM_REPLAY: in check mode, each launch runs twice; 1 */
    bool strict;  /**< CUDASIM_STRICT: in check mode, volatile orders nothing; 0 */
    bool leaks;   /**< CUDASIM_LEAKS: what is never given back is reported; 0 */
    bool exited;  /**< CUDASIM_EXITED: barriers do not wait for threads that have left; 0 */
    const char *without; /**< CUDASIM_WITHOUT: kernels to leave out, commas between; or NULL */
    int blocks;          /**< CUDASIM_BLOCKS: that many of a launch are run; 0: all */
    int refuse;          /**< CUDASIM_REFUSE: the launch that is refused, from 1 on; 0: none */
} __attribute__((aligned(PAGE))) Settings;
extern Settings sim_settings; /**< valid after sim_begin(), and then closed to writing */

/* ---- entry.c --------------------------------------------------------------------------------- */

/**
 * The first line of each function that a program calls: from here to the function's end other
 * threads of the host wait. It may call others of the kind. A kernel that calls it is reported.
 */
#define ENTER(what, file, line)                                                                    \
    __attribute__((cleanup(sim_leave), unused)) int sim_turn =                                     \
        sim_enter((what), (Place){file, line}, __builtin_frame_address(0))

/** A part of ENTER: waits for the thread's turn. The frame is the function's on the stack. */
int sim_enter(const char *what, Place place, const void *frame);

/** A part of ENTER: lets the next thread in. */
void sim_leave(const int *entered);

/** This host goes out of all calls that it is within, until sim_enter_again(). */
void sim_leave_all(void);

/** See sim_leave_all(). */
void sim_enter_again(void);

/** sim_enter() where a kernel may be, too: at a fault, at the end of the program. */
void sim_enter_fault(void);

/** Enters the runtime as for a fault, unless another thread is in it: then false. */
bool sim_enter_if_free(void);

/** Ends what sim_enter_fault() or sim_enter_if_free() has begun. */
void sim_leave_fault(void);

/** Reads the settings, reserves memory, installs handlers; later calls do nothing. */
void sim_begin(void);

/** A part of sim_begin(): the environment. */
void sim_read_settings(void);

/** Whether CUDASIM_WITHOUT names a kernel: its launches do nothing, not even fail. */
bool sim_left_out(const char *kernel);

/** A part of sim_begin(): at the end, what is still queued is done, and problems are counted. */
void sim_catch_end(void);

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

/** Takes it away. */
void sim_drop_signal_stack(void);

/** Memory for the simulator itself, zero, taken when it is touched. Ends the program if there is
 * none. */
void *sim_map(size_t bytes);

/** As realloc(); ends the program if there is no memory. */
void *sim_realloc(void *old, size_t bytes);

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

/** A line of the last report or note, where a size is that of a negative number. */
void sim_detail_size(size_t bytes);

/** The next report goes into a text, and is not counted yet. */
void sim_capture(void);

/** That text, to be freed; "" if the report was not to be shown. */
char *sim_captured(void);

/** Reports such a text. */
void sim_report_captured(const char *kind, const char *text);
/** Problems, and those that were found on a line again. */
int sim_findings(void);

/** Tells a judge: a line "cudasim ..." into the pipe CUDASIM_EVENTS, at once. */
void sim_event(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Ends the program, with status 86: what comes next could not be trusted. */
_Noreturn void sim_stop(void);

/** Which kernel, block and thread is running; nothing if none is. */
void sim_detail_thread(void);

/** The file's name without its folders. */
const char *sim_file(Place place);

/** A host ends: reports an error that it has not looked at. */
void sim_report_unseen(void);

/* ---- print.c --------------------------------------------------------------------------------- */

/**
 * printf(), of a kernel or of the host. In a kernel it returns how many arguments it took, as in
 * CUDA, and what a GPU does not know of the format is reported.
 *
 * @param format as of printf()
 * @param values the arguments
 * @param pc     the code that called it
 * @param again  true if the kernel has printed this before
 */
int sim_print(const char *format, va_list values, const void *pc, bool again)
    __attribute__((format(printf, 1, 0)));

/* ---- errors.c -------------------------------------------------------------------------------- */

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

/** Says that malloc() in a kernel has returned NULL, where it has. */
void sim_detail_heap(void);

/** The error given to sim_fail_device(), or cudaSuccess. */
cudaError_t sim_device_error(void);

/* ---- interrupted.c --------------------------------------------------------------------------- */

/** Of a signal handler's context: the instruction, as if it were a return address. */
const void *sim_program_counter(void *context);

/** Of a signal handler's context after a fault: whether memory was to be written. */
bool sim_was_write(const void *context);

/**
 * Whether an instruction of an aarch64 processor that touches memory writes there: the bits of the
 * load and store encodings, where the system does not say it. An atomic writes.
 */
bool sim_aarch64_writes(uint32_t code);

/**
 * Of a signal and its handler's context: whether a function was called where none is. Then *caller
 * is the return address.
 */
bool sim_called_nowhere(const siginfo_t *info, const void *context, const void **caller);

/** Whether the processor refused an access because its address is not aligned. */
bool sim_is_misaligned(const siginfo_t *info);

/** The line of the program where a fault or a tick came: "my.cu:12 (scale)". */
void sim_describe_fault(const void *pc, bool in_kernel, char *where, size_t size);

/* ---- watch.c --------------------------------------------------------------------------------- */

/** A launch begins, or is over: see Settings.timeout. */
void sim_watch(bool on);

/** A part of sim_begin(): handlers of the clock's signals. */
void sim_catch_ticks(void);

/** Changes when a block is over. */
extern volatile unsigned sim_progress;

/* ---- traffic.c, count.c; nocount.c ----------------------------------------------------------- */

/** Whether the compiler announces loads and stores: in check mode, and where they are counted. */
extern const bool sim_announced;

/** Whether anybody counts. */
bool traffic_counts(void);

/** Counts bytes of device memory that the operation in hand touches. */
void traffic_access(const void *p, size_t bytes, bool write);

/** Bytes of the sectors that the operation has read and written; false where nobody counts. */
bool traffic_of_operation(double *read, double *written);

/* ---- hooks.c, check.c, shadow.c, race.c, replay.c, profile.c, sample.c, share.c; nocheck.c --- */

/** Whether loads and stores are checked. */
extern const bool sim_checking;

/** Memory that was never written. */
void check_fresh(const void *p, size_t bytes);

/** Memory that the host may have written. */
void check_filled(const void *p, size_t bytes);

/** A copy or a matrix product reads or writes. */
void check_range(const void *p, size_t bytes, bool write);

/** A copy or fill reads or writes a `__device__` or `__constant__` variable, or pinned memory. */
void check_order(const void *p, size_t bytes, bool write);

/** A kernel uses pinned memory, or was given it. */
void check_mapped(void);

/** There is managed memory. */
void check_managed(void);

/** A variable of another device than before is there. */
void check_other(const void *p, size_t bytes);

/** The launch that runs must not run again: a kernel has taken or freed memory. */
void check_once(void);

/** The time for a kernel that asks now: the same in each run of a launch. */
long long check_clock(long long now);

/** A copy to the host begins. Up to `padding` bytes between two members may be unwritten. */
void check_padded(const void *p, size_t bytes, size_t padding);

/** A copy: what was not initialised stays so. */
void check_copied(void *to, const void *from, size_t bytes);

/** The running thread is about to wait, or has returned. */
void check_pause(void);

struct Allocation;
/** The pages of an allocation were opened, for an operation that has touched them. */
void check_opened(struct Allocation *allocation);

/** Whether what is about to be reported is for the check alone, which then says it itself. */
bool check_mute(void);

/** The host has waited for work. */
void check_waited(void);

/** The program is about to be stopped, or to end. */
void check_stop(void);

#endif
