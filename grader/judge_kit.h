/**
 * @file judge_kit.h
 * @brief The kit's own device and model in a judge: for what is measured, not worked out.
 * @ingroup grader
 */
#ifndef GRADER_JUDGE_KIT_H
#define GRADER_JUDGE_KIT_H

#include "common/model.h"

/** A CPU with room enough for one measurement. Its workspace is for that many threads; models this
   small need one. */
Device *judge_device(int threads);

/** Bytes of workspace on the simulated GPU. Nothing runs there: its kernels are files of labs, and
   a judge has none of those. All other bytes of a step are as on the CPU (train/gpu_test.c). */
size_t judge_gpu_workspace(const ModelConfig *config);

/** A model of its own on a device, in all the memory that it wants. */
Model *judge_model_open(Device *device, const ModelConfig *config, uint64_t seed);

/** The same, to count bytes: its weights are 0. */
Model *judge_model_count(Device *device, const ModelConfig *config);

/** Frees the device as well. */
void judge_model_close(Model *model);

#endif
