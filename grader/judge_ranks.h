/**
 * @file judge_ranks.h
 * @brief Judges of labs with several ranks: what ranks are given, what they have sent, and in which
 * order.
 * @ingroup grader
 *
 * The other side is grader/probe_ranks.h. The simulator tells calls and bytes as they happen:
 * a submission could add to them, and take nothing back.
 */
#ifndef GRADER_JUDGE_RANKS_H
#define GRADER_JUDGE_RANKS_H

#include "grader/judge_record.h"
#include "grader/judge_training.h"
#include "grader/probe_ranks.h"
#include "grader/rank_order.h"

enum { MOST_RANKS = 8 };

/** A call of NCCL that was carried out, on one rank. */
typedef struct RankCall {
    int rank;              /**< whose, as the ranks of the run are counted */
    char name[24];         /**< "ncclAllReduce" */
    uint64_t communicator; /**< 1 for the one that the ranks are given, then as they are made */
    uint64_t number;       /**< of the communicator's collectives, or of messages to a peer */
    double bytes;          /**< that it has sent, as cudasim_wire_bytes() counts */
    size_t at;             /**< the place in check_events() where it stands */
} RankCall;

/** All of a run, each rank's in the order in which they were carried out. */
typedef struct RankCalls {
    RankCall *call;
    int count;
} RankCalls;

/**
 * Gives "ranks" and "budget", and lets the simulator tell.
 *
 * @param check  the check
 * @param option (RANK_OPTIONS) borrowed
 * @param budget bytes of each rank; 0 for no limit
 */
void ranks_give(Check *check, const int32_t *option, size_t budget);

/** Wants an array of n floats of each rank, rank_name(what, rank, "window", i), i below `times`. */
void ranks_want(Check *check, int ranks, const char *what, int times, size_t n);

/** One of them that came back. */
const float *ranks_got(const Check *check, const char *what, int rank, int i);

/** Wants what rank_give_bytes() hands back. */
void ranks_want_bytes(Check *check, int ranks);

/** Bytes of a rank by kind that came back. */
MemoryUse ranks_bytes(const Check *check, int rank);

/**
 * Runs a case of the probe, as check_run(). Where the ranks wait for each other forever, the check
 * says so in a sentence, and the simulator's report names ranks, lines, and who waits for whom.
 */
bool ranks_start(Check *check, const char *probe_case, double seconds);

/** After a run that did not finish: says so in that sentence, where calls did not meet. */
void ranks_tell_unmet(Check *check);

/** Whether the calls that did not meet in the last run are one of a single number and one of
    more: of a rank that asks, and of one that does not. */
bool ranks_asked_alone(const Check *check);

/** Takes the calls of the last run; freed with the check. @return false where they are none */
bool ranks_take_calls(Check *check, RankCalls *calls);

/** Bytes that a rank has sent; rank -1: all of them together. */
double ranks_sent(const RankCalls *calls, int rank);

/** How many calls of that name a rank has made; NULL: of any name. */
int ranks_called(const RankCalls *calls, int rank, const char *name);

#endif
