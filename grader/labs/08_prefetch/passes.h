/**
 * @file passes.h
 * @brief The judge's part of lab 08, task 4: passes whose inputs of segments go to the host.
 * @ingroup grader
 */
#ifndef GRADER_LABS_08_PREFETCH_PASSES_H
#define GRADER_LABS_08_PREFETCH_PASSES_H

#include "grader/judge_peak.h"
#include "grader/judge_profile.h"
#include "grader/judge_record.h"
#include "grader/judge_training.h"
#include "grader/labs/08_prefetch/protocol.h"

enum { MOST_PASSES = 4, MOST_SEGMENTS = 16 };

/** Mistakes that the record shows of an offload. */
typedef enum PassMistake {
    PASS_SENT_EARLY,    /**< out before it is written */
    PASS_OVERWRITTEN,   /**< a place is written while it is copied */
    PASS_FETCHED_EARLY, /**< back while the place is read */
    PASS_READ_EARLY,    /**< read before it is back */
    PASS_NOT_SENT,      /**< fetched, and the copy out is not over */
    PASS_IN_DEFAULT,    /**< copies in the default stream */
    PASS_PASSES_WAIT,   /**< the host waits */
    PASS_PAGEABLE,      /**< the host memory is not pinned */
    PASS_SENT_LATE,     /**< out after its segment */
    PASS_FETCHED_LATE,  /**< back when it is needed */
    PASS_WAITS,         /**< a segment waits for the copy that should run beside it */
    PASS_MISTAKES,
} PassMistake;

/** One segment's input on its way. Of a segment's work the record's entries of GELU stand for all:
    one for each block, after the reads of its input and before its output is written. */
typedef struct Journey {
    const CudasimEntry *out, *back;
    const CudasimEntry *first, *last; /**< blocks of its segment, forward */
    const CudasimEntry *again;        /**< the first block, once more */
    const CudasimEntry *spent;        /**< the first block, backward: the last to read the input */
} Journey;

/** The inputs of a check, and the plain step's results. */
typedef struct OffloadRun {
    Check *check;
    ModelConfig config;
    int segment, segments;
    Batch batch[MOST_PASSES];
    int passes, window;
    bool again; /**< with other offloads before, beside and amid */
    uint64_t seed, budget;
    Param *params;
    int param_count;
    float **plain; /**< (steps * param_count) gradients */
    uint64_t loss[MOST_PASSES], stream[MOST_PASSES];

    CudasimRecord record;
    int pass;                       /**< looked at last: one that cannot be followed, or the last */
    Journey journey[MOST_SEGMENTS]; /**< in that pass */
    const CudasimEntry *head;       /**< its backward there */
    int outs, backs;                /**< copies there */
    int forwards, backwards;        /**< runs of a block there */
    double moved[2];                /**< bytes of copies in all passes: out, back */
    bool present[PASS_MISTAKES];
} OffloadRun;

/** Two steps of two micro-batches of different shapes, one without any target. */
OffloadRun *passes_new(Check *check, int L, int segment, float dropout);

/** The same in half. */
void passes_in_half(OffloadRun *run);

/** Bytes of activations at the peak of such a step, from plain steps of the kit. */
size_t passes_peak(const ModelConfig *config, int B, int T, int segment);

/** The same, worked out. */
size_t passes_peak_worked_out(const ModelConfig *config, int B, int T, int segment);

/** Bytes of a segment's input. */
size_t passes_input(const ModelConfig *config, int B, int T);

/** A budget of all that is alive at the peak, and no byte more. With segments of one block, no
    segment of lab 04 fits into it. */
void passes_set_budget(OffloadRun *run);

/** A budget with room for one input more. A plain step does not fit into it. */
void passes_set_wide_budget(OffloadRun *run);

/** Runs the plain step, which is kept, then the submission. @return whether both finished */
bool passes_both(OffloadRun *run);

/** Losses, gradients, and places in the dropout stream, bit by bit. */
bool passes_same_as_plain(const OffloadRun *run);

/** As many bytes as all inputs have go out and come back, or more: a step that copies nothing has
    the right bits, too. */
bool passes_expect_all_moved(const OffloadRun *run);

/** Every input goes out once and comes back once in each pass, and nothing else moves. */
bool passes_expect_moved(const OffloadRun *run);

/** The same of one more pass, with all blocks in one segment; and of both runs, that pinned memory
    is for the inputs of segments and no more. */
bool passes_expect_one_segment(const OffloadRun *run);

/** One more pass, with segments of `segment` blocks; then `expect`. */
bool passes_expect_in_segments(const OffloadRun *run, int segment,
                               bool (*expect)(const OffloadRun *));

/** The peak of each pass. */
bool passes_expect_peak(const OffloadRun *run);

/** offload_close() gives all back that offload_open() has taken. */
bool passes_expect_given_back(const OffloadRun *run);

/** Pinned memory is for the inputs of all segments, of the largest batch, and for no more. */
bool passes_expect_host(const OffloadRun *run);

/** Each copy after what it needs, and before what needs it. */
bool passes_expect_edges(const OffloadRun *run);

/** Each copy may run beside the segment that it is meant to run beside; the host waits neither
    within a pass nor between two. */
bool passes_expect_overlap(const OffloadRun *run);

#endif
