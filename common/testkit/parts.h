/**
 * @file parts.h
 * @brief Models and parts of models on one device, for tests that hold one to another.
 * @ingroup grader
 *
 *     PartBench bench = bench_on(gpu);
 *     Model *whole = bench_model(&bench, &config), *part = bench_part(&bench, &config, stage);
 *     double loss = passes_in_turn(whole, 2);
 *     ...
 *     expect_same_gradients(part, whole);
 *     bench_close(&bench);
 *
 * Each has a memory of its own, as ranks have. Shapes and batches are small and fixed.
 */
#ifndef COMMON_TESTKIT_PARTS_H
#define COMMON_TESTKIT_PARTS_H

#include "common/model.h"

/** The shape: sequences and tokens of a micro-batch; layers, heads and channels of a model. */
enum { PARTS_B = 2, PARTS_T = 9, PARTS_L = 3, PARTS_NH = 4, PARTS_C = 32 };

/** How many different micro-batches there are. */
enum { PARTS_MICRO = 3 };

/** The seed of weights and masks. */
enum { PARTS_SEED = 17 };

/** The weight of each valid target's loss, in every backward. */
#define PARTS_SHARE 0.125f

/** A device with models on it. */
typedef struct PartBench {
    Device *device;    /**< the CPU or the GPU */
    Memory *memory[2]; /**< of each model; checked on the CPU */
    Model *model[2];   /**< in the order in which they came */
    int models;        /**< how many there are */
} PartBench;

/** An empty bench, to be given to bench_close(). */
PartBench bench_on(bool gpu);

/** A whole model, with weights of PARTS_SEED. */
Model *bench_model(PartBench *bench, const ModelConfig *config);

/** A part of one, its weights zero. */
Model *bench_part(PartBench *bench, const ModelConfig *config, ModelPart part);

/** Frees models, memory and device; fails the test if the simulated GPU has reported a problem. */
void bench_close(PartBench *bench);

/** The shape, with dropout. */
ModelConfig parts_config(Precision precision, Attention attention);

/** Micro-batch 0 ... PARTS_MICRO - 1, with targets to be ignored; always the same. */
Batch parts_batch(int micro);

/** Forward and backward of micro-batches 0 ... count - 1, one after the other. @return the loss */
double passes_in_turn(Model *model, int count);

/** Copies bytes from one model's device memory to another's: what ranks would send. */
void hand_on(const Model *from, const void *sent, const Model *to, void *received, size_t bytes);

/** A copy on the host, to be freed. */
float *numbers_of(const Model *model, const float *from, size_t count);

/** Fails the test unless every gradient that `part` has is that of `whole` to the bit. */
void expect_same_gradients(const Model *part, const Model *whole);

/** Elements of the parameters first ... last - 1. */
size_t elements_of(const Param *params, int first, int last);

#endif
