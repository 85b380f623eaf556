/**
 * @file protocol.h
 * @brief What the judge and the probe of lab 04 say to each other.
 * @ingroup grader
 */
#ifndef GRADER_LABS_04_CHECKPOINT_PROTOCOL_H
#define GRADER_LABS_04_CHECKPOINT_PROTOCOL_H

#include <string.h>

#include "common/model.h"
#include "grader/probe_training.h"

/** The "options" of a step. */
enum {
    OPTION_GPU,         /**< on the GPU */
    OPTION_SEGMENT,     /**< Checkpoint */
    OPTION_ATTENTION,   /**< Checkpoint */
    OPTION_WINDOW,      /**< micro-batches of a step */
    OPTION_CLOSED,      /**< memory is closed, not checked: there is no place beside the budget */
    OPTION_THREADS,     /**< that share the work */
    OPTION_ASK_SEGMENT, /**< checkpoint_segment() chooses the segment, for "choose" bytes */
    OPTIONS,
};

/** Another model, whose passes come after those of the first: "others", an array of these as
    WIRE_BYTES. Of each, two passes: one with a dloss of 0, one with the share; and before them one
    that runs something else again, where that is given. */
typedef struct OtherModel {
    ModelConfig config;
    Checkpoint checkpoint;
    Checkpoint before; /**< of that pass; {0}: it is not taken */
    uint64_t budget;   /**< bytes of everything */
    uint64_t after;    /**< the same without the pass before */
} OtherModel;

/** Whether there is a pass before. */
static inline bool other_changes(const OtherModel *other) {
    return other->before.segment > 0 || other->before.attention_only;
}

enum {
    OTHER_B = 3,     /**< sequences of its passes */
    OTHER_T = 7,     /**< tokens of each: a mask ends within a counter of the stream */
    MOST_OTHERS = 3, /**< in a check */
    /** Of each: bits of its loss, hash of its gradients, place in the stream; whether it took more
        than it should, after the pass before; whether attention ran more often than it should,
        where that pass ran attention again; and, where there is none before, the hash of its
        gradients after one more, in which a third model's comes between forward and backward. */
    OTHER_RESULTS = 6,
};

/** The line of one whose memory is refused. */
#define OTHER_REFUSED "other model: %d"

/** The events of the probe (grader/probe_events.h). */
enum {
    TOLD_BLOCK = 'A',     /**< block 0 runs forward; the next letters are the next ones */
    TOLD_BLOCKS = 16,     /**< how many letters those are */
    TOLD_ATTENTION = 'a', /**< attention of a block does */
    TOLD_PASS = 'p',      /**< a pass is over */
};

/** The probe's line about the stack when memory is refused: the judge reads it as advice. */
#define HELD "held: %d blocks, %d of them with probabilities, %d inputs"

#endif
