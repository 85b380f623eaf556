/**
 * @file lab06.h
 * @brief The hole of lab 06: make a training run fit into a budget.
 * @ingroup labs
 */
#ifndef COMMON_LAB06_H
#define COMMON_LAB06_H

#include "common/memory.h"

/** How a step is run. */
typedef struct Plan {
    int micro_batch;     /**< sequences per forward and backward */
    int window;          /**< micro-batches per update */
    int segment;         /**< blocks per checkpoint segment; 0 for no checkpointing */
    Precision precision; /**< storage of weights and activations */
    Attention attention; /**< what attention keeps */
} Plan;

/**
 * Chooses the plan with the least cost that fits.
 *
 * @param      config  the model; precision and attention are the plan's to choose
 * @param      batch   sequences per update: micro_batch * window
 * @param      T       tokens per sequence
 * @param      budget  bytes
 * @param      device  where it will run
 * @param[out] plan    the choice
 * @return 0; -1 where nothing fits
 */
int plan_choose(const ModelConfig *config, int batch, int T, size_t budget, const Device *device,
                Plan *plan);

#endif
