/* Whole on each rank, shards, stages, slices. The contract is in ways.h. */
#include "train/ways.h"

#include <math.h>

#include "common/weights.h"
#include "train/run_state.h"
#include "train/sample.h"

static void nothing(Run *run) {
    (void)run;
}

static Trainer *own(Run *run) {
    return &run->trainer;
}

/* ---- the whole model on each rank ------------------------------------------------------------ */

static void whole_open(Run *run) {
    const TrainOptions *options = &run->options;
    run->trainer.model = model_new(&options->config, run->memory, (uint64_t)options->seed);
}

static int whole_load(Run *run, const char *folder) {
    return snapshot_load(&run->snapshot, folder);
}

static int whole_load_weights(Run *run, const char *path) {
    return weights_load(run->way->whole(run)->model, path);
}

static int whole_save(Run *run) {
    const TrainOptions *options = &run->options;
    return options->output_dir == NULL
               ? 0
               : snapshot_save(&run->snapshot, options->output_dir, options->save_total_limit);
}

static double whole_evaluate(Run *run) {
    Batch batch;
    double loss = 0;
    size_t tokens = 0;
    for (size_t i = 0; data_eval(run->data, i, &batch); i++) {
        loss += model_evaluate(run->way->whole(run)->model, &batch);
        tokens += (size_t)batch.valid;
    }
    return tokens > 0 ? loss / (double)tokens : (double)NAN;
}

static void whole_sample(Run *run, int count, Rng *rng, unsigned char *text) {
    const TrainOptions *options = &run->options;
    if (count > 0) {
        sample_text(run->way->whole(run)->model, options->prompt, count,
                    (float)options->temperature, rng, text);
    }
}

static MemoryUse whole_predict(const Run *run, MemoryUse use, int B) {
    (void)run, (void)B;
    return use;
}

static double whole_sent(const Run *run) {
    const ModelConfig *config = &run->options.config;
    return run->options.ddp && config->adapter.rank == 0 ? ddp_sent(config, run->grid.replicas) : 0;
}

static const Way of_replicas = {.open = whole_open,
                                .join = nothing,
                                .settle = nothing,
                                .load = whole_load,
                                .load_weights = whole_load_weights,
                                .restored = nothing,
                                .whole = own,
                                .gather = nothing,
                                .save = whole_save,
                                .evaluate = whole_evaluate,
                                .sample = whole_sample,
                                .predict = whole_predict,
                                .sent = whole_sent,
                                .close = nothing};

/* ---- shards (lab 12) ------------------------------------------------------------------------- */

static void shard_open(Run *run) {
    shards_open(&run->trainer, &run->options, &run->grid, run->memory);
}

static int shard_load(Run *run, const char *folder) {
    return shards_load(&run->snapshot, folder);
}

static int shard_save(Run *run) {
    return shards_save(&run->snapshot, run->comm, run->options.output_dir,
                       run->options.save_total_limit);
}

static void shard_sample(Run *run, int count, Rng *rng, unsigned char *text) {
    const TrainOptions *options = &run->options;
    if (count > 0 || options->zero == 3) { /* each rank has a part of what all need */
        shards_sample(&run->trainer, options->prompt, count, (float)options->temperature, rng,
                      text);
    }
}

static MemoryUse shard_predict(const Run *run, MemoryUse use, int B) {
    return shards_predict(use, &run->options, &run->grid, B);
}

static double shard_sent(const Run *run) {
    return shards_sent(&run->options, &run->grid);
}

static void shard_close(Run *run) {
    shards_close(&run->trainer);
}

static const Way of_shards = {.open = shard_open,
                              .join = nothing,
                              .settle = nothing,
                              .load = shard_load,
                              .load_weights = whole_load_weights,
                              .restored = nothing,
                              .whole = own,
                              .gather = nothing,
                              .save = shard_save,
                              .all_evaluate = true,
                              .evaluate = whole_evaluate,
                              .sample = shard_sample,
                              .predict = shard_predict,
                              .sent = shard_sent,
                              .close = shard_close};

/* ---- stages (lab 13) ------------------------------------------------------------------------- */

static void stage_open(Run *run) {
    run->trainer.model =
        pipeline_open(&run->pipeline, &run->options, &run->grid, run->comm, run->data, run->memory);
}

static void stage_join(Run *run) {
    pipeline_join(&run->trainer, &run->pipeline);
}

/* Which tensors a stage has decides about the states of rules that are not AdamW. */
static void stage_settle(Run *run) {
    if (run->options.optim != OPTIM_ADAMW) {
        run->predicted.bytes[MEMORY_OPTIMIZER] = pipeline_states(run->trainer.optimizer);
    }
}

static int stage_load(Run *run, const char *folder) {
    return pipeline_load(&run->snapshot, folder);
}

static int stage_load_weights(Run *run, const char *path) {
    return pipeline_load_weights(&run->trainer, path);
}

static int stage_save(Run *run) {
    return pipeline_save(&run->pipeline, &run->snapshot, run->options.output_dir,
                         run->options.save_total_limit);
}

static double stage_evaluate(Run *run) {
    return pipeline_evaluate(&run->pipeline, run->data);
}

static MemoryUse stage_predict(const Run *run, MemoryUse use, int B) {
    (void)use;
    return pipeline_predict(&run->options, &run->grid, B, run->device);
}

static double stage_sent(const Run *run) {
    return pipeline_sent(&run->options, &run->grid, data_batch_rows(run->data));
}

static void stage_close(Run *run) {
    pipeline_close(&run->pipeline);
}

static const Way of_stages = {.open = stage_open,
                              .join = stage_join,
                              .settle = stage_settle,
                              .load = stage_load,
                              .load_weights = stage_load_weights,
                              .restored = nothing,
                              .whole = own,
                              .gather = nothing,
                              .save = stage_save,
                              .all_evaluate = true,
                              .evaluate = stage_evaluate,
                              .sample = whole_sample,
                              .predict = stage_predict,
                              .sent = stage_sent,
                              .close = stage_close};

/* ---- slices (lab 14) ------------------------------------------------------------------------- */

static void slice_open(Run *run) {
    run->trainer.model =
        tensor_open(&run->tensor, &run->options, &run->grid, run->comm, run->memory);
}

static void slice_settle(Run *run) {
    tensor_join(&run->tensor, &run->trainer, (Optim)run->options.optim);
}

static void slice_restored(Run *run) {
    tensor_scatter(&run->tensor);
}

static Trainer *slice_whole(Run *run) {
    return &run->tensor.whole;
}

static void slice_gather(Run *run) {
    tensor_gather(&run->tensor);
}

static MemoryUse slice_predict(const Run *run, MemoryUse use, int B) {
    (void)use;
    return tensor_predict(&run->options, &run->grid, B, run->device);
}

static double slice_sent(const Run *run) {
    return tensor_sent(&run->options, &run->grid);
}

static void slice_close(Run *run) {
    tensor_close(&run->tensor);
}

static const Way of_slices = {.open = slice_open,
                              .join = nothing,
                              .settle = slice_settle,
                              .load = whole_load,
                              .load_weights = whole_load_weights,
                              .restored = slice_restored,
                              .whole = slice_whole,
                              .gather = slice_gather,
                              .save = whole_save,
                              .evaluate = whole_evaluate,
                              .sample = whole_sample,
                              .predict = slice_predict,
                              .sent = slice_sent,
                              .close = slice_close};

const Way *way_of(const Run *run) {
    return run->options.zero > 0  ? &of_shards
           : run->grid.stages > 1 ? &of_stages
           : run->grid.slices > 1 ? &of_slices
                                  : &of_replicas;
}
