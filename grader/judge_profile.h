/**
 * @file judge_profile.h
 * @brief Judges of labs with kernels: what the simulator has reported, and what it has counted.
 * @ingroup grader
 *
 * The simulator sends it as it happens (check_events()): a line for each problem, each launch, and
 * each line of source that a warp has come to. It shares its process with the hand-in, so nobody
 * asks for a mean: each line is judged by itself, and can only make things worse.
 */
#ifndef GRADER_JUDGE_PROFILE_H
#define GRADER_JUDGE_PROFILE_H

#include "grader/check.h"

/** Lets the simulator tell; before the probe is run. */
void profile_want(Check *check);

/** With the traffic of several warps of each launch, which are drawn from the run's seed. */
void profile_want_traffic(Check *check);

/** Without a second run of each launch, which finds accesses that were not seen. */
void profile_want_once(Check *check);

/* ---- a kernel that ends the program ---------------------------------------------------------- */

/** Whether all that a check asks for has come back, and is right; it says nothing to the check. */
typedef bool ProfileRight(const void *context);

/**
 * After a run that was cut short: runs the case again without the kernel that was
 * launched last, and so on with the next one that ends it. One op has kernels of several tasks, and
 * a check must not be lost by the kernel of another task.
 *
 * @param check      the check, whose last run was cut short
 * @param probe_case as of that run
 * @param seconds    wall time of each run
 * @param right      asked once a run ends by itself
 * @param context    handed to `right`
 * @return whether all is right without those kernels; if not, the check has ended as it had before
 */
bool profile_run_without(Check *check, const char *probe_case, double seconds, ProfileRight *right,
                         const void *context);

/* ---- launches -------------------------------------------------------------------------------- */

/**
 * Whether the launches of a case are possible, and whether it asks after each of them if it was
 * refused: the case runs once more for each launch, which is refused then. No kernel runs, so
 * neither sizes nor numbers cost anything, and nothing can come back. Last in a check.
 *
 * @param check      the check, which has got the launches' sizes
 * @param probe_case a case that makes these calls and ends; it may take as many seconds
 * @param seconds    wall time of each run
 * @param size       the size of the calls in words: "2,100,000 rows of 8 numbers"
 */
bool profile_expect_launches(Check *check, const char *probe_case, double seconds,
                             const char *size);

/**
 * Whether the work of a case grows with its size where that would take far too long to run: a grid
 * may have fewer blocks than the work has pieces, and then a block must go on with others. Of each
 * launch two blocks are run; what the busier of them moves, times the blocks, must grow at least
 * half as much as the size. Last in a check.
 *
 * @param check      the check, which has given "many" (WIRE_U64)
 * @param probe_case a case that makes one call of the size in "many", and ends; what is
 *                   in its tensors does not matter
 * @param seconds    wall time of each run
 * @param few        a size at which numbers have been judged
 * @param many       a size beyond it
 * @param pieces     the unit of both: "numbers", "rows"
 */
bool profile_expect_whole(Check *check, const char *probe_case, double seconds, uint64_t few,
                          uint64_t many, const char *pieces);

/* ---- reports --------------------------------------------------------------------------------- */

/** Problems that were reported. */
int profile_problems(const Check *check);

/** Whether the simulator has reported no problem. A report says why numbers are wrong. */
bool profile_expect_no_problem(Check *check);

/** The same, and all accesses of all launches were seen. */
bool profile_expect_clean(Check *check);

/** Whether all accesses of all launches were seen; else the other counts say nothing. */
bool profile_expect_seen(Check *check);

/**
 * Whether kernels have computed what came back, as far as it was fetched: the host has got no byte
 * of device memory but the results, and no matrix product was called. That neither is among the
 * calls that a hand-in may name is seen before; this sees a call by address.
 *
 * @param check the check, which has run
 * @param bytes of the results, as they lie on the device
 */
bool profile_expect_no_fetch(Check *check, size_t bytes);

/* ---- traffic --------------------------------------------------------------------------------- */

/** So many times the fewest sectors may be touched, or one more for each request: rows need not
   begin where a sector does. */
#define PROFILE_MOST_SECTORS 1.15

/** So many sectors beyond its fewest may a single request touch, where its line is good on the
   whole: a warp may reach over the ends of some rows. */
#define PROFILE_WORST_REQUEST 8

/** Whether the lanes of all warps that were looked at take neighbours. sectors[0] are read, [1] are
   written. */
bool profile_expect_neighbours(Check *check, double sectors[2]);

/* ---- how work is shared ---------------------------------------------------------------------- */

/** How much of the work may be one thread's, one block's, or lost on lanes that wait. */
typedef struct ProfileShares {
    double thread; /**< part of the bytes that one thread may move, over all launches */
    double block;  /**< part that one block may move; more than 1: all of them */
    double lanes;  /**< part that lanes may leave while others of their warp move data */
} ProfileShares;

/** Of a few sizes, some of them small: that it is a kernel at all. */
extern const ProfileShares profile_any_kernel;

/** Of a size that is worth a GPU. */
extern const ProfileShares profile_good_kernel;

/**
 * Whether the launches are kernels: threads of several blocks share the work.
 *
 * @param check  the check
 * @param bytes  the fewest that the ops of the run can read and write, together
 * @param shares how it must be shared
 */
bool profile_expect_shared(Check *check, double bytes, ProfileShares shares);

#endif
