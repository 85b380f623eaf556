/**
 * @file layer.h
 * @brief The judge's part of a layer by itself: what it is given, what is right, known mistakes.
 * @ingroup grader
 */
#ifndef GRADER_LABS_10_LORA_LAYER_H
#define GRADER_LABS_10_LORA_LAYER_H

#include "grader/check.h"
#include "grader/labs/10_lora/protocol.h"

/** The targets of an adapter: each linear layer by itself, and all of them. */
enum {
    TARGET_QKV = 1 << LINEAR_QKV,
    TARGET_PROJ = 1 << LINEAR_PROJ,
    TARGET_FC = 1 << LINEAR_FC,
    TARGET_FCPROJ = 1 << LINEAR_FCPROJ,
    TARGET_ALL = (1 << BLOCK_LINEARS) - 1,
};

/** A layer, its input and the gradient of its output; dA, dB and din begin with something. */
typedef struct LayerJob {
    Check *check;
    ModelConfig config;
    uint64_t seed;
    LinearId id;
    int at, B, T, N, IC, OC, r;
    bool trains, gpu;
    float *weight;                           /**< (OC, IC), frozen */
    float *bias;                             /**< (OC), frozen */
    float *x, *dout, *din, *a, *b, *da, *db; /**< as they are given */
} LayerJob;

/** A drawn layer, given to the probe. */
LayerJob layer_draw(Check *check, LinearId id, Precision precision, float dropout, bool trains,
                    bool gpu);

/** Runs it and compares all that comes back; with `trains` its backward too. */
void layer_judge(LayerJob *job);

/** The same of a layer in bf16, and once more in f16. */
void layer_judge_half(LayerJob *job);

/** An adapter for `targets` with awkward numbers, alpha not the rank. */
Adapter layer_adapter(Check *check, unsigned targets, float dropout);

#endif
