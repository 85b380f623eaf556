/**
 * @file pipeline.h
 * @brief A run whose blocks are on several ranks: what lab 13 needs around it.
 * @ingroup train
 *
 * A rank has a stage of the model. The loop over micro-batches stays that of lab 03:
 *
 *  - forward only keeps the micro-batch; the backward of a window's last one runs the window
 *    through the stages (pipe_window()), and makes the tied gradient whole (tie_sum());
 *  - clipping takes the norm over all stages (tie_norm());
 *  - where the gradient of one stage overflows, all skip the update.
 *
 * The trainer's list of parameters has those of the stage alone. A save is one of the whole model:
 * rank 0 puts it together in host memory, and each rank reads all of it and keeps its part. So a
 * save knows nothing of stages, and any number of them goes on from it.
 */
#ifndef TRAIN_PIPELINE_H
#define TRAIN_PIPELINE_H

#include "common/snapshot.h"
#include "labs/13_pipeline/contract.h"
#include "train/grid.h"

/** A rank's stage during a run. */
typedef struct Pipeline {
    Pipe pipe;        /**< what lab 13 is given */
    Comm *comm;       /**< all ranks; borrowed */
    const Data *data; /**< where the windows come from; borrowed */
    int micros;       /**< micro-batches of a full window */
    int kept;         /**< of the present window, so far */
    Batch *batches;   /**< (micros) of the present window */
    int32_t *ids;     /**< (micros, 2, room) their tokens and targets */
    size_t room;      /**< tokens of the largest micro-batch */
    double loss;      /**< of the window before, per valid target, on the last stage; else 0 */
} Pipeline;

/**
 * A stage of a fresh model.
 *
 * @param[out] pipeline filled
 * @param      options  the run's
 * @param      grid     connected
 * @param      comm     connected; borrowed
 * @param      data     borrowed
 * @param      memory   for the stage's tensors
 * @return the model of the stage
 */
Model *pipeline_open(Pipeline *pipeline, const TrainOptions *options, const Grid *grid, Comm *comm,
                     const Data *data, Memory *memory);

/** Frees what pipeline_open() has allocated, but for the model. */
void pipeline_close(Pipeline *pipeline);

/** Sets forward and backward of a trainer with such a model; its other pointers are set before. */
void pipeline_join(Trainer *trainer, Pipeline *pipeline);

/** The bytes that this stage will take at its peak. */
MemoryUse pipeline_predict(const TrainOptions *options, const Grid *grid, int B,
                           const Device *device);

/** The bytes of a stage's states by their list: for rules whose formula (lab 07) is one of a whole
    model. */
size_t pipeline_states(const Optimizer *optimizer);

/** The bytes that this rank will send in an update: to its neighbours, for the tied gradient, for
    the norm, and for the sum over replicas. */
double pipeline_sent(const TrainOptions *options, const Grid *grid, int B);

/**
 * Mean loss over the validation rows, the same on each rank; NaN if there are none. Each rank calls
 * it.
 */
double pipeline_evaluate(Pipeline *pipeline, Data *data);

/**
 * snapshot_save() of the whole model. Each rank calls it.
 *
 * @param pipeline   the stage
 * @param snapshot   the run's
 * @param output_dir on the rank that writes; else NULL
 * @param limit      as in snapshot_save()
 * @return 0, or on the rank that writes -1 with a line on stderr
 */
int pipeline_save(const Pipeline *pipeline, const Snapshot *snapshot, const char *output_dir,
                  int limit);

/** snapshot_load(), for this stage. Waits for nobody. */
int pipeline_load(Snapshot *snapshot, const char *folder);

/** weights_load(), for this stage. Waits for nobody. */
int pipeline_load_weights(const Trainer *trainer, const char *path);

#endif
