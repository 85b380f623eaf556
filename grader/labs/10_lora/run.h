/**
 * @file run.h
 * @brief The judge's part of a model that trains its adapters.
 * @ingroup grader
 */
#ifndef GRADER_LABS_10_LORA_RUN_H
#define GRADER_LABS_10_LORA_RUN_H

#include "grader/check.h"
#include "grader/judge_training.h"
#include "grader/labs/10_lora/protocol.h"

enum { RUN_BATCHES = 2, RUN_MOST = 60 };

/** The weight of each valid target. */
#define LORA_SHARE (1.0 / 64)

/** A run: what is given, and what a model of that seed has. */
typedef struct LoraRun {
    Check *check;
    ModelConfig config;
    uint64_t seed;
    Batch batch[RUN_BATCHES];
    int passes, window, segment;
    bool gpu, fresh, drop;
    size_t budget;        /**< bytes; 0 for no limit */
    Param *params;        /**< (count) of the adapters */
    int count;            /**< how many matrices */
    size_t numbers, base; /**< numbers in all of them, and in the GPT-2 */
    float *adapters;      /**< (numbers) as they are given; NULL where fresh */
    float *weights;       /**< (base) of the GPT-2 */
} LoraRun;

/** A small model with these targets, two batches; adapters of normal numbers, or fresh ones. C
    channels; 0 for a few. */
LoraRun lora_run(Check *check, unsigned targets, float dropout, bool fresh, int C);

/** Gives and wants all of it; once, before the first run. */
void lora_give(LoraRun *run);

/** Runs the kit's model without adapters. @return whether it finished */
bool lora_start_bare(LoraRun *run);

/** Runs the submission: "adapters", "measured", or "again" with segments. @return whether it
    finished */
bool lora_start(LoraRun *run, const char *probe_case);

/** That no layer took more scratch than the contract says, in the case "measured". */
void lora_expect_scratch(const LoraRun *run);

/** Where a matrix of an adapter begins among `numbers`. `which`: 0 for A, 1 for B. */
size_t lora_place(const LoraRun *run, int layer, LinearId id, int which);

/** Where parameter i of the GPT-2 begins among `base`. */
size_t base_place(const ModelConfig *config, int i);

#endif
