/**
 * @file lab05.h
 * @brief The holes of lab 05: half precision with a loss scaler and float masters.
 * @ingroup labs
 */
#ifndef COMMON_LAB05_H
#define COMMON_LAB05_H

#include "common/trainer.h"

/** The state of a dynamic loss scaler. */
typedef struct Scaler {
    float scale;    /**< what the loss is multiplied by; a power of two */
    float growth;   /**< factor after `interval` good steps */
    float backoff;  /**< factor after a step with an inf or NaN */
    int interval;   /**< good steps in a row before the scale grows */
    int good_steps; /**< how many there have been */
} Scaler;

/** Scale 2^16, growth 2, backoff 0.5, interval 2000, no good step yet. */
void scaler_init(Scaler *scaler);

/**
 * What a step does to the scale.
 *
 * @param scaler    its state
 * @param found_inf whether a gradient of the step was not finite
 */
void scaler_update(Scaler *scaler, bool found_inf);

#endif
