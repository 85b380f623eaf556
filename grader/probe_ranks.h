/**
 * @file probe_ranks.h
 * @brief Probes of labs with several ranks: a submission runs as R ranks in one process.
 * @ingroup grader
 *
 *     static void body(RankRun *run) {
 *         Trainer trainer = given_trainer(run->in, run->memory);
 *         ... the hole, with run->comm ...
 *         rank_give_gradients(run, "gradients", trainer.model, 0);
 *         rank_give_bytes(run);
 *     }
 *     static void windows(const Wire *in, Wire *out) {
 *         ranks_run(in, out, body);
 *     }
 *
 * Each rank has a device, memory, a budget, the communicator of all, a copy of the submission's
 * static data (common/own_data.h) and a heap for it (grader/rank_heap.h), as a process would: on
 * the CPU no other rank can reach these, nor its stack. Given
 * are, beside what grader/probe_training.h names, "ranks" (below) and "budget" (bytes for each
 * rank; 0 for no limit). Wire bytes, calls and the record leave the process as they happen:
 * grader/judge_ranks.h has them.
 */
#ifndef GRADER_PROBE_RANKS_H
#define GRADER_PROBE_RANKS_H

#include "grader/probe_training.h"

struct ncclComm;

/** "ranks", as WIRE_I32; a lab has its own from RANKS_OWN on. */
enum {
    RANKS_COUNT,       /**< R */
    RANKS_GPU,         /**< on simulated GPUs; else on the CPU, in memory of the host */
    RANKS_RECORD,      /**< the record of operations goes to the judge */
    RANKS_OWN,         /**< the first that is a lab's own */
    RANK_OPTIONS = 16, /**< how many travel */
};

/** A rank while it runs. */
typedef struct RankRun {
    const Wire *in;
    Wire *out;
    const int32_t *option; /**< (RANK_OPTIONS) */
    int rank;              /**< from 0 on */
    int ranks;             /**< how many */
    struct ncclComm *comm; /**< an ncclComm_t of all ranks; NULL in ranks_run_alone() */
    Device *device;        /**< its own */
    Memory *memory;        /**< its own, empty, with the budget */
} RankRun;

/** The program of a rank. */
typedef void rank_body(RankRun *run);

/** Runs R ranks, and returns when all have ended. */
void ranks_run(const Wire *in, Wire *out, rank_body *body);

/** The same on simulated GPUs, whatever RANKS_GPU says: for a check that runs on both devices. */
void ranks_run_on_gpu(const Wire *in, Wire *out, rank_body *body);

/** Runs the same program once for each rank, one after the other, without a communicator or a
    budget: for the kit's own steps, to compare with. */
void ranks_run_alone(const Wire *in, Wire *out, rank_body *body);

/**
 * Clears the places where this rank has no tensor: free memory of its device (a CPU's), and the
 * depth of its stack. So the counted bytes are all that lasts. To be called between two calls of
 * the submission.
 */
void ranks_forget(const RankRun *run);

/** Hands back floats of the device as rank_name(what, rank, "window", i). */
void rank_give(const RankRun *run, const char *what, int i, const float *values, size_t count);

/** Hands back all gradients that are here, end to end; a place stays blank where there is none. */
void rank_give_gradients(const RankRun *run, const char *what, const Model *model, int i);

/** The same for weights, as floats. */
void rank_give_weights(const RankRun *run, const char *what, const Model *model, int i);

/** Hands back the bytes by kind at the peak, and their total: into "bytes" (R, MEMORY_KINDS + 1),
    as WIRE_U64. */
void rank_give_bytes(const RankRun *run);

/** Hands back a number of this rank: number i of row `rank` in a table (R, columns) of WIRE_U64. */
void rank_give_number(const RankRun *run, const char *table, size_t columns, size_t i,
                      uint64_t value);

/** The same for the bits of a double. */
void rank_give_double(const RankRun *run, const char *table, size_t columns, size_t i,
                      double value);

#endif
