/**
 * @file check.h
 * @brief Check mode: what is done with every load and store of a kernel.
 * @ingroup cudasim
 *
 * The `.cu` files are compiled with `-fsanitize=thread`, which makes the compiler call
 * `__tsan_read4(p)` and the like before each access. Usually a library answers that looks for
 * races between threads of the host; here hooks.c does.
 */
#ifndef CUDASIM_CHECK_H
#define CUDASIM_CHECK_H

#include "allocation.h"
#include "block.h"

/** A line of source in 32 bits: an address of code, or a number in the table of places. */
typedef uint32_t Site;

/** One load, store or atomic of the thread that runs. */
typedef struct Access {
    const char *p;    /**< first byte */
    size_t bytes;     /**< 1 to 16, or a range */
    bool write;       /**< a store or an atomic */
    bool atomic;      /**< an atomic */
    bool shared;      /**< to shared memory */
    bool is_volatile; /**< as the program has declared it */
    Site site;        /**< where */
} Access;

enum { THREAD_LOCALS = 65536 /**< bytes before and after threadIdx that hold such variables */ };

/* ---- site.c ---------------------------------------------------------------------------------- */

/** The site of an address of code. */
Site site_of_code(const void *pc);

/** The address of code that is site 0. */
const char *site_origin(void);

/** The site of a line. */
Site site_of_place(Place place);

/** "file.cu:12 (kernel)" */
void describe_site(Site site, char *text, size_t size);

/** Whether first_report() has seen the kind with this site, as either of the two. */
bool reported_before(const char *kind, Site site);

/** True once for each kind, site and other site: a loop would report the same line forever. */
bool first_report(const char *kind, Site site, Site other);

/* ---- address.c ------------------------------------------------------------------------------- */

/** Whether p is in a variable of the program: on a GPU a `__device__` one. */
bool in_image(const char *p);

/** Whether p and q are in, or nearest to, one shared variable of the block, or in its dynamic
 * memory. */
bool same_shared(const Worker *worker, const char *p, const char *q);

/** Whether an access to shared memory stays within one variable of the block. */
bool shared_bounds(const Worker *worker, const Access *access);

/** Says which shared variable, or which allocation, holds p. */
void detail_memory(const char *p, bool shared);

/* ---- check.c --------------------------------------------------------------------------------- */

/**
 * Checks one load or store of the thread that runs: bounds, initialisation, races; and counts it.
 *
 * @param address first byte
 * @param bytes   1 to 16, or a range
 * @param write   a store
 * @param aligned whether the address must be a multiple of `bytes`
 * @param is_volatile as the program has declared it
 * @param site    where
 */
void check_access(const void *address, size_t bytes, bool write, bool aligned, bool is_volatile,
                  Site site);

/** The same for an atomic: it reads and writes, and races with none of its kind. */
void check_atomic(const void *address, size_t bytes, Site site);

/** The compiler's own check is about to report a line: what it says need not be said twice. */
void check_compiler_says(const char *kind, Place place);

/* ---- shadow.c: which bytes have been written? ------------------------------------------------ */

/** A bit for each byte of device memory. */
unsigned char *shadow_device_bits(void);

/** Marks bytes of device or shared memory. */
void shadow_mark(const void *p, size_t bytes, bool written);

/** Whether all of them were written. */
bool shadow_written(const void *p, size_t bytes);

/** How many of them were written before the first that was not. */
size_t shadow_written_from(const void *p, size_t bytes);

/**
 * Structures were written member by member: marks what may lie between their members, fewer bytes
 * than the alignment of what follows and at most `most`. Stops where it is more.
 */
void shadow_pad(const void *p, size_t bytes, size_t most);

/** Gives the bytes at `to` the marks of those at `from`. */
void shadow_copy(const void *to, const void *from, size_t bytes);

/* ---- race.c ---------------------------------------------------------------------------------- */

/** Compares an access with those before it, and remembers it. */
void race_access(const Access *access);

/** A copy or a matrix product, for other streams to be compared with. */
void race_range(const void *p, size_t bytes, bool write);

/** The thread's last store is done: was it another value than the one that it raced with? A read
    may come before the store, where one statement does both. */
void race_flush(bool by_read);

/** The thread stops, or something else is to be reported: what its reads were for stays unknown. */
void race_settle(void);

/** An atomicCAS at p is next: what its thread has read there before was only a guess. After it
 * NULL. */
void race_compares(const void *p);

/* ---- quick.c --------------------------------------------------------------------------------- */

/** A launch begins, or runs again, or its blocks have other numbers now. */
void quick_begin(void);

/** From here on quick.h passes over what the running thread's block has read. */
void quick_know(void);

/** No longer: another thread may be next, or the next access is to be looked at. */
void quick_forget(void);

/** Accesses that quick_look() has found right. */
double quick_accesses(void);

/** Reports an access of a kernel, with its line, its thread and what the memory is; false if that
 * line has been reported before. */
bool report_access(const char *kind, const Access *access, const char *what);

/* ---- unwritten.c: reads of what nothing has written ------------------------------------------ */

/** An access to memory that has bits for it: a read of what nothing has written is reported. */
void check_written(const Access *access);

/** The same of a range that a copy or a call reads. */
void check_range_written(const void *p, size_t bytes);

/* ---- held.c: reports that wait for the end of the launch ------------------------------------- */

/** The report that sim_report() begins next is held; p is the memory that was read too early, or
 * NULL. */
void held_begin(const char *kind, Site site, Site other, const void *p);

/** That was all; `complete` if no later one of the same lines can say more. */
void held_end(bool complete);

/** Forgets an incomplete report of these lines, whichever of the two came first in it. @return
    whether there was one */
bool held_improves(const char *kind, Site site, Site other);

/** Forgets what is held about a line, and the shared variable that p is in: another report explains
 * it. */
void held_forget_site(const char *kind, Site site, const void *p);

/** Forgets what is held about a block; of the first such report, if there is one, the two lines. */
bool held_forget_block(const char *kind, unsigned block, Site *site, Site *other);

/** The same of a report about what was read too early at p, while other streams have work that may
 * explain it. */
void held_end_late(void);

/** The number of those that there ever were. */
int held_late(void);

/** Forgets those about memory of an allocation: work that comes too late explains them. */
void held_forget_memory(const Allocation *allocation);

/** Reports what is held; where other streams have work, not what that may explain. */
void held_release(void);

/** Reports all that is held. */
void held_release_all(void);

/** Nobody has used this memory yet. */
void race_forget(const void *p, size_t bytes);

/** A launch begins; its blocks have numbers from sim_first_block() on. */
void race_launch(void);

/* ---- profile.c ------------------------------------------------------------------------------- */

/** Counts an access of a warp that is looked at. */
void profile_access(const Access *access);

/** Opens the output at the first launch, and begins to look at this one. */
void profile_launch_begins(const Launch *launch);

/** Adds up what they did, and tells it. */
void profile_launch_ends(void);

/* ---- sample.c: which warps the profile looks at ---------------------------------------------- */

enum {
    SAMPLES = 4, /**< warps of a launch that are looked at, at most */
};

/** A launch begins. */
void sample_launch_begin(const Launch *launch);

/**
 * The running thread touches device memory: its warp may be drawn now, once in its life.
 *
 * @return the sample that is this warp from now on (what was counted for it is to be forgotten);
 *         -1 where none changed
 */
int sample_consider(void);

/** The lane that the running thread has in the warp of sample s; -1 if it is of another warp. */
int sample_lane(int s);

/** The launch is over: nobody is looked at until the next. */
void sample_launch_end(void);

/* ---- share.c --------------------------------------------------------------------------------- */

/** Counts bytes of device memory that the running thread moves. */
void share_moved(size_t bytes);

/** Tells how the launch shared its work. */
void share_launch_ends(const Launch *launch);

/* ---- replay.c: what is not seen must not matter ---------------------------------------------- */

/** A launch begins. */
void replay_begin(void);

/** Whether the launch, which has run once, is to run again: on memory in disguise. */
bool replay_again(const Launch *launch);

/** The launch that runs is not to run again. */
void replay_give_up(void);

/** The launch is over: memory is as its first run left it. Reports where the second differs. */
void replay_end(const Launch *launch);

/** Whether this is the second run: nothing is checked but that it ends as the first did. */
bool replay_runs(void);

/** An access in the second run: its bytes are without disguise until others are announced. */
void replay_access(const void *p, size_t bytes);

/** The same for 1, 2, 4, 8 or 16 bytes of the device, at a multiple of that. */
void replay_show(char *p, size_t bytes);

/** The running thread stops, or has returned. */
void replay_pause(void);

/** A store to device memory is seen in the first run. */
void replay_written(const char *p, size_t bytes);

/** A `__device__` variable or pinned memory is about to be written. */
void replay_elsewhere(const char *p, size_t bytes);

/** The time for a kernel that asks now: in the second run that of the first. */
long long replay_clock(long long now);

/** The pages of an allocation were opened. */
void replay_opened(Allocation *allocation);

/** Something is to be reported. True in the second run: it went another way, and that is all. */
bool replay_astray(void);

/** The program is about to be stopped. */
void replay_stopped(void);

#endif
