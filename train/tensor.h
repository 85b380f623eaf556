/**
 * @file tensor.h
 * @brief Lab 14 in a run: a model of which this rank has a slice, and the whole beside it.
 * @ingroup train
 *
 * Each rank trains its slice. The whole, with its states, is on the host. Slices are cut from it
 * when a run begins, and are gathered into it when the run saves, validates or samples. So a save
 * is that of a single rank, and any number of ranks can go on from it.
 *
 * One thing cannot be cut anew: moments in bytes (`--optim adamw_8bit`), of which 256 share a scale
 * that is the largest of them. A block of a slice is none of the whole. The whole keeps those of
 * each slice beside each other, under a name that says how many there are: as many ranks can go on
 * from such a save, bit for bit, and others are refused.
 */
#ifndef TRAIN_TENSOR_H
#define TRAIN_TENSOR_H

#include "labs/14_tensor/contract.h"
#include "train/grid.h"
#include "train/options.h"
#include "train/sliced.h"

#include "common/trainer.h"

/** A slice of a model, and the whole. */
typedef struct TensorRun {
    TensorGroup group; /**< what model->split points to */
    Comm *comm;        /**< all ranks; borrowed */
    Trainer *slice;    /**< of this rank; borrowed */
    Device *host;      /**< the CPU */
    Memory *memory;    /**< of the whole: outside of the rank's budget */
    Trainer whole;     /**< model, optimizer; its scaler is that of the slice */
    void (*update)(Trainer *trainer, StepReport *report); /**< trainer->update of the slice */
    SlicedFactors factors; /**< of a slice that learns by Adafactor */
    char *names;           /**< of states that the whole keeps for each slice; owned */
} TensorRun;

/** The part of a model that is a rank's. */
ModelPart tensor_part(const ModelConfig *config, int ranks, int rank);

/** Lets a model's blocks, embedding, head and norm be those of a group, which must outlive it. */
void tensor_set(Model *model, const TensorGroup *group);

/**
 * A slice, its numbers those of a whole model with this seed.
 *
 * @param[out] tensor  must stay where it is until tensor_close()
 * @param      options checked
 * @param      grid    connected
 * @param      comm    connected; borrowed
 * @param      memory  of the slice
 * @return as model_new()
 */
Model *tensor_open(TensorRun *tensor, const TrainOptions *options, const Grid *grid, Comm *comm,
                   Memory *memory);

/**
 * The second half, when the slice has its optimizer, and its pointers are set (techniques.h): makes
 * the whole's, and lets all slices skip a step together.
 *
 * @param tensor  after tensor_open()
 * @param trainer with model, optimizer, mixed; borrowed
 * @param optim   the optimizer's rule
 */
void tensor_join(TensorRun *tensor, Trainer *trainer, Optim optim);

/** The optimizer of the whole, which never steps: its states are those of all slices. */
Optimizer *tensor_optimizer(TensorRun *tensor);

/** Cuts weights, states, schedule and place in the stream of masks from the whole. */
void tensor_scatter(TensorRun *tensor);

/** The way back. All ranks must call it. */
void tensor_gather(TensorRun *tensor);

/** Frees the whole. A TensorRun that is {0} is fine. */
void tensor_close(TensorRun *tensor);

/** Bytes that a rank sends for a full window of `options->accumulation` micro-batches. */
double tensor_sent(const TrainOptions *options, const Grid *grid);

/** The bytes of a rank by kind, as run_predict() (run_state.h). */
MemoryUse tensor_predict(const TrainOptions *options, const Grid *grid, int B,
                         const Device *device);

#endif
