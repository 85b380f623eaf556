/**
 * @file eight.h
 * @brief Judge of lab 07: steps with moments of one byte, as they should be and as known mistakes
 * make them.
 * @ingroup grader
 *
 * Each step is judged from the states that came back from the one before it: no rounding grows from
 * step to step, and a code is right or wrong. A code is right if it is that of a moment which
 * differs from the one in double by no more than roundings of float can add.
 */
#ifndef GRADER_LABS_07_OPTIMIZERS_EIGHT_H
#define GRADER_LABS_07_OPTIMIZERS_EIGHT_H

#include "grader/check.h"
#include "grader/labs/07_optimizers/protocol.h"

enum { EIGHT_TENSORS = 8, EIGHT_MOST = 72, EIGHT_STEPS = 7 };

/** Places of tensors. */
enum {
    EIGHT_SMALL = 2,       /**< small gradients and states */
    EIGHT_FOUR_BLOCKS = 5, /**< four blocks, the last of zeros */
};

/** One moment of all tensors, end to end. */
typedef struct EightMoment {
    const uint8_t *code;
    const float *absmax, *value;
} EightMoment;

/** Weights and moments before or after a step. */
typedef struct EightState {
    const float *weight;
    EightMoment m, v;
} EightState;

/** A run of the op. */
typedef struct Eight {
    Check *check;
    int tensors, steps, t; /**< t of the first step */
    int n[EIGHT_MOST];     /**< numbers of each tensor */
    int32_t flags[EIGHT_MOST];
    size_t all, blocks; /**< of all tensors */
    AdamW adamw;
    float rate[EIGHT_STEPS]; /**< learning rate of each step */
    Codebooks books[BOOKS];  /**< of each step in turns */
    EightState start;
    float *grad; /**< (steps, all) */
    size_t tie;  /**< a number whose first moment lies between two codes in the first step; or 0 */
} Eight;

/** The codebooks by the contract's formula. */
Codebooks eight_books(void);

/**
 * Draws a run: some tensors, moments of bytes and of floats among them.
 *
 * @param check   the check
 * @param steps   how many
 * @param fresh   all states 0, and t is 1; else a state in the middle of training
 */
Eight *eight_new(Check *check, int steps, bool fresh);

/** The same of one tensor of n numbers in bytes. */
Eight *eight_new_of(Check *check, int n);

/** More blocks than 4096, most of them of a tensor in floats: the simulator takes long where codes
    are searched one by one. */
Eight *eight_new_large(Check *check);

/**
 * In the first step the moments of a number become exactly a half and a quarter of its block's
 * largest ones, which are 1, and each is the middle between two values of its codebook: in a block
 * whose moments are 0 otherwise. The betas are others then.
 *
 * @param zero the code of 0 in first moments
 */
void eight_plant_tie(Eight *eight, uint8_t zero);

/** Gives all; wants all states. `resume`: see HEAD_RESUME. */
void eight_plan(Eight *eight, int resume);

/** Compares the first step of many numbers; a launch that leaves the last blocks out is named. */
bool eight_judge_large(Eight *eight);

/** Compares all steps, with all known mistakes. */
bool eight_judge(Eight *eight);

/** Whether the first step's gradients are as they were. */
bool eight_judge_gradient(Eight *eight);

/** Whether the last step after a resumption has the bits that it had before. */
bool eight_judge_again(Eight *eight);

/** The fewest bytes that all steps can move. */
double eight_bytes(const Eight *eight);

/** Bytes of all that comes back. */
size_t eight_fetched(const Eight *eight, bool again);

#endif
