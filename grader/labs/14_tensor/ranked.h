/**
 * @file ranked.h
 * @brief The judge of lab 14: a whole model, cut into slices by the judge itself, and given to
 * ranks.
 * @ingroup grader
 */
#ifndef GRADER_LABS_14_TENSOR_RANKED_H
#define GRADER_LABS_14_TENSOR_RANKED_H

#include "grader/judge_ranks.h"
#include "grader/labs/14_tensor/protocol.h"
#include "grader/labs/14_tensor/term.h"

enum { TP_SECONDS = 20, MOST_PARAMS = 80 };

/** A whole model and the ranks that share it. */
typedef struct Ranked {
    Check *check;
    Given given;                  /**< the whole: config, weights, batches, reference */
    int R;                        /**< ranks */
    Param param[MOST_PARAMS];     /**< of the whole */
    int params;                   /**< how many */
    size_t at[MOST_PARAMS];       /**< where each begins, end to end */
    double *before;               /**< (P) gradients that are there before */
    int32_t option[RANK_OPTIONS]; /**< "ranks" */
} Ranked;

/** The ranks that have the rows of the embedding which are left over, in one term or another. */
typedef enum RowsRule {
    ROWS_FIRST,  /**< the first ones */
    ROWS_LAST,   /**< the last ones */
    ROWS_SPREAD, /**< rank r begins at r V / R, rounded down */
} RowsRule;

/** The rows of a rank by such a rule. */
void judge_rows_by(RowsRule rule, int V, int R, int rank, int *first, int *count);

/** Rows of the embedding of a rank. */
void judge_rows(int V, int R, int rank, int *first, int *count);

/** Numbers of a rank's slice of parameter `at`. */
size_t judge_count(const ModelConfig *config, int at, int R, int rank);

/** The index in the whole of number i of that slice. */
size_t judge_place(const ModelConfig *config, int at, int R, int rank, size_t i);

/** Whether all ranks have all of it. */
bool judge_is_whole(int at);

/** Draws a whole model for R ranks; on the simulated GPU where the checks are to run there. */
Ranked ranked_new(Check *check, ModelConfig config, int R);

/** Draws a ragged batch whose tokens and targets have the first and the last row of each rank. */
Batch ranked_batch(const Ranked *ranked, int B, int T);

/** Gives ranks their slices of weights and gradients, and all that is the same for all. */
void ranked_give(Ranked *ranked, size_t budget);

/** (slice) a rank's part of (P) numbers, end to end. */
double *ranked_slice(const Ranked *ranked, const double *whole, int rank, size_t *count);

/** (slice) a rank's part of one parameter of (P) numbers. */
double *ranked_part(const Ranked *ranked, const double *whole, int at, int rank, size_t *count);

/** Gives each rank numbers of its own or the same: rank_name(what, rank, "window", 0). */
void ranked_give_floats(const Ranked *ranked, const char *what, int rank, const double *values,
                        size_t n);

/** n normal numbers as the storage type holds them, in double. */
double *ranked_normal(const Ranked *ranked, size_t n, double scale);

/**
 * Compares all gradients of all ranks that came back with (P) numbers, parameter by parameter.
 *
 * @return whether they are right
 */
bool ranked_expect_gradients(const Ranked *ranked, const double *want);

/** Those that all ranks have: the same bits on each? `what` are numbers end to end. */
bool ranked_expect_same(const Ranked *ranked, const char *what);

/**
 * Of models in half: whether all-reduces of `stored` numbers of the model and of `floats` send what
 * they should, all ranks together. Of floats others say it.
 */
bool ranked_expect_sent(const Ranked *ranked, size_t stored, size_t floats);

/**
 * Makes the next run one on the other device: on the CPU, whose ops wait for nothing, or on
 * simulated GPUs, whose memory the host does not read.
 *
 * @param ranked given
 * @return false where all checks are to run on the GPU, and this one has
 */
bool ranked_on_other_device(Ranked *ranked);

/** Prepares a tensor of each rank that will be wanted. */
void ranked_want(const Ranked *ranked, const char *what, size_t n);

#endif
