/**
 * @file merged.h
 * @brief The judge's part of merging: W + s B A in double, and gradients that follow from it.
 * @ingroup grader
 */
#ifndef GRADER_LABS_10_LORA_MERGED_H
#define GRADER_LABS_10_LORA_MERGED_H

#include "grader/labs/10_lora/run.h"

/** The part of a merge that is looked at. */
typedef enum MergePart {
    MERGE_IN,      /**< merged */
    MERGE_OUT,     /**< merged, and taken out again */
    MERGE_SWAPPED, /**< and another adapter in its place */
    MERGE_LOGITS,  /**< the logits before and after */
} MergePart;

/** Runs it, and judges one part. */
void merged_judge(Check *check, MergePart part);

/** The gradients of the adapters of the first window, against those of the merged model. */
void merged_expect_gradients(const LoraRun *run);

#endif
