/**
 * @file protocol.h
 * @brief How the judge of lab 07 and its probe speak of tensors and of steps.
 * @ingroup grader
 *
 * An op is called for several steps on a list of tensors, all of whose numbers lie end to end.
 * Given are "head" (HEAD_NUMBERS), "flags" and shapes of the tensors, "numbers" of the update,
 * states, and for one step after the other "rates", the learning rate, and "grad". Wanted is each
 * state after each step, and the step's gradients as they then are: step_name(). With a resumption
 * the op gets two more lists: before the steps the second tensor alone, and at the end none.
 */
#ifndef GRADER_LABS_07_OPTIMIZERS_PROTOCOL_H
#define GRADER_LABS_07_OPTIMIZERS_PROTOCOL_H

#include "common/plan.h"
#include "common/rules.h"
#include "grader/wire.h"

enum { SECONDS = 20 /**< for a run of the probe */ };

/** Places in "head". */
enum {
    HEAD_TENSORS, /**< tensors of the list */
    HEAD_STEPS,   /**< steps that are taken */
    HEAD_T,       /**< number of the first one */
    HEAD_RESUME,  /**< afterwards, go on once more from the states after this many; 0: do not */
    HEAD_UNTIL,   /**< stop at a hole of this task or a later one, as if it did nothing; 0: never */
    HEAD_NUMBERS, /**< how many */
};

/** Bits of "flags". */
enum {
    FLAG_DECAYS = 1, /**< weight decay pulls on the tensor */
    FLAG_BYTES = 2,  /**< adam8: its moments are bytes */
    FLAG_MATRIX = 4, /**< adafactor: it has rows */
};

/** Codebooks that are given: each step takes the next one, in turns. */
enum { BOOKS = 2 };

/** "m_code 3": after step 3, counted from 0. In name[WIRE_NAME]. */
const char *step_name(char *name, const char *what, int step);

/** "adafactor_many": columns of its matrix. */
enum { MANY_COLS = 8 };

/** After HEAD_RESUME, the last step once more: this many is added to its number. */
enum { STEP_AGAIN = 1000 };

/** A model to count the bytes of: V, T, L, NH, C, precision, optimizer. */
enum { BYTES_NUMBERS = 7 };

/** An option of optim_choose() with its blocks, as "option" and "block" travel. */
typedef struct ChooseOption {
    PlanOption option;            /**< its `block` means nothing on the way */
    PlanBlock block[PLAN_BLOCKS]; /**< those that it has */
} ChooseOption;

/** One question: "asks". */
typedef struct ChooseAsk {
    ModelConfig config; /**< the model */
    uint64_t budget;    /**< bytes */
    int32_t optims;     /**< how many of optim[] */
    int32_t optim[3];   /**< in this order */
} ChooseAsk;

/** One answer, in "answers": result, optimizer, option, the ways of its blocks, and whether
    plan_choose() was given scratch memory as it wants it. */
enum { ANSWER_NUMBERS = 4 + PLAN_BLOCKS };

#endif
