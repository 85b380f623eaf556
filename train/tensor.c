/* Lab 14 in a run. The contract is in tensor.h; what moves between the slices and the whole is in
   tensor_states.c. */
#include "train/tensor.h"

#include <stdlib.h>

ModelPart tensor_part(const ModelConfig *config, int ranks, int rank) {
    VocabRows rows = slice_vocab(config->V, ranks, rank);
    ModelPart part = model_whole(config);
    part.shards = ranks;
    part.shard = rank;
    part.vocab_first = rows.first;
    part.vocab_rows = rows.count;
    return part;
}

void tensor_set(Model *model, const TensorGroup *group) {
    model->split = (void *)(uintptr_t)group;
    model->linear_forward = tp_forward;
    model->linear_backward = tp_backward;
    model->embed_forward = tp_embed_forward;
    model->embed_backward = tp_embed_backward;
    model->head_forward = tp_head_forward;
    model->head_backward = tp_head_backward;
    model->grad_norm = slice_norm;
}

Model *tensor_open(TensorRun *tensor, const TrainOptions *options, const Grid *grid, Comm *comm,
                   Memory *memory) {
    const ModelConfig *config = &options->config;
    uint64_t seed = (uint64_t)options->seed;
    ModelPart part = tensor_part(config, grid->slices, grid->slice);
    tensor->group =
        (TensorGroup){.comm = grid->of_slices, .size = grid->slices, .rank = grid->slice};
    tensor->comm = comm;
    tensor->host = device_cpu_new(0);
    tensor->memory = memory_new(tensor->host, (MemoryOptions){0});
    tensor->whole.model = model_new(config, tensor->memory, seed);
    Model *model = model_new_part(config, &part, memory, seed);
    tensor_set(model, &tensor->group);
    return model;
}

/* With weights in half: an overflow on one rank is one on all. */
static void update_together(Trainer *trainer, StepReport *report) {
    const TensorRun *tensor = (const TensorRun *)tensor_group(trainer->model);
    slice_share_overflow(trainer->model);
    tensor->update(trainer, report);
}

void tensor_join(TensorRun *tensor, Trainer *trainer, Optim optim) {
    tensor->slice = trainer;
    tensor->whole.mixed = trainer->mixed;
    tensor->whole.optimizer = tensor_optimizer(tensor);
    if (optim == OPTIM_ADAFACTOR) {
        sliced_factors_join(&tensor->factors, &tensor->group, trainer->optimizer,
                            tensor->whole.model);
    }
    if (trainer->update != NULL) {
        tensor->update = trainer->update;
        trainer->update = update_together;
    }
}

void tensor_close(TensorRun *tensor) {
    if (tensor->host == NULL) {
        return;
    }
    optimizer_free(tensor->whole.optimizer);
    free(tensor->names);
    model_free(tensor->whole.model);
    memory_free(tensor->memory);
    device_free(tensor->host);
}

MemoryUse tensor_predict(const TrainOptions *options, const Grid *grid, int B,
                         const Device *device) {
    const ModelConfig *config = &options->config;
    MemoryUse use = tp_states(config, grid->slices, grid->slice);
    use.bytes[MEMORY_ACTIVATIONS] =
        tp_activations(config, B, options->T, grid->slices, grid->slice, options->checkpoint);
    use.bytes[MEMORY_DATA] = 2 * (size_t)B * (size_t)options->T * sizeof(int32_t);
    use.bytes[MEMORY_WORKSPACE] = workspace_bytes(config, device);
    if (options->optim != OPTIM_ADAMW) {
        use.bytes[MEMORY_OPTIMIZER] = sliced_states(options, grid);
        use.bytes[MEMORY_WORKSPACE] += sliced_workspace(options, grid);
    }
    return use;
}

/* Blocks whose forward runs once more in backward: all but those of the last segment. */
static int blocks_again(const TrainOptions *options) {
    int L = options->config.L, S = options->checkpoint.segment;
    return S > 0 && S < L ? (L - 1) / S * S : 0;
}

double tensor_sent(const TrainOptions *options, const Grid *grid) {
    const ModelConfig *config = &options->config;
    double R = grid->slices, ring = 2 * (R - 1) / R, D = grid->replicas;
    double pass = (double)tp_wire_bytes(config, options->B, options->T, grid->slices) / R;
    double stream =
        (double)options->B * options->T * config->C * (double)precision_bytes(config->precision);
    double again = 2 * blocks_again(options) * stream * ring; /* two sums in a block's forward */
    double numbers = config->precision == F32 ? 1 : 2;        /* the norm; an overflow */
    /* replicas add up the gradients of a slice (lab 11) */
    size_t slice = tp_states(config, grid->slices, grid->slice).bytes[MEMORY_GRADIENTS];
    double means = (double)sliced_summed(options, grid); /* of Adafactor */
    return options->accumulation * (pass + again) + (numbers * sizeof(float) + means) * ring +
           (double)slice * 2 * (D - 1) / D;
}
