/**
 * @file contract.h
 * @brief The holes of lab 07: codebooks of one byte, bytes of an optimizer, the best that fits.
 * @ingroup labs
 *
 * adam8.cu and adafactor.cu are the other two: their contracts are kernels/adam8.h and
 * kernels/adafactor.h.
 */
#ifndef LABS_07_OPTIMIZERS_CONTRACT_H
#define LABS_07_OPTIMIZERS_CONTRACT_H

#include "common/plan.h"
#include "common/rules.h"

/**
 * The dynamic codebook with a sign: 256 values, rising. For each exponent e = 0 to 6, the interval
 * from 0.1 to 1 is cut into 2^e equal parts, and
 *
 *     10^(e - 6) * the middle of part j,    j = 0 to 2^e - 1
 *
 * is a value, and so is its negative. With 0 and 1 these are 256; -1 is none of them. Worked out in
 * double, each is rounded to float once.
 *
 * Source: T. Dettmers, "8-bit approximations for parallelism in deep learning", arXiv 1511.04561;
 * bitsandbytes has the same values, and comes to them in float.
 *
 * @param[out] value (ADAM8_CODES)
 */
void codebook_signed(float value[ADAM8_CODES]);

/** The same without a sign: 2^(e + 1) parts for each exponent, no negatives, 0 and 1.
 * @param[out] value (ADAM8_CODES) */
void codebook_unsigned(float value[ADAM8_CODES]);

/**
 * Bytes that an optimizer keeps for a model (MEMORY_OPTIMIZER): its states, as rules.h counts them,
 * and the float masters, where weights are stored in half.
 *
 * @param config the model
 * @param optim  the optimizer
 */
size_t optim_bytes(const ModelConfig *config, Optim optim);

/** An optimizer and a plan. */
typedef struct OptimChoice {
    Optim optim;     /**< the optimizer */
    PlanChoice plan; /**< as plan_choose() gives it */
} OptimChoice;

/**
 * Chooses optimizer and plan together. Each optimizer gets from plan_choose() of lab 06 the plan
 * that is best with its states; the optimizer whose plan takes the fewest seconds is taken, and of
 * equals the first.
 *
 * The bytes of the options are those with AdamW, since lab 06 knows no other optimizer. Nothing
 * else in them depends on it. The seconds of an update are taken as AdamW's too.
 *
 * @param      config  the model, in any precision
 * @param      optims  (optim_count) those to choose from, the most welcome first
 * @param      optim_count how many; of 0 nothing fits
 * @param      options (count) as for plan_choose()
 * @param      count   at least 1
 * @param      budget  bytes, all kinds together, with the states of the optimizer that is chosen;
 *                     SIZE_MAX where there is no limit
 * @param      scratch (scratch_bytes) for plan_choose(), each time all of it
 * @param      scratch_bytes its size, PLAN_SCRATCH or more
 * @param[out] choice  left alone where nothing fits
 * @return 0; -1 where no optimizer has a plan that fits
 */
int optim_choose(const ModelConfig *config, const Optim *optims, int optim_count,
                 const PlanOption *options, int count, size_t budget, void *scratch,
                 size_t scratch_bytes, OptimChoice *choice);

#endif
