/* Lab 12 in a run. The contract is in shards.h. */
#include "train/shards.h"

#include <stdlib.h>
#include <string.h>

#include "common/offloaded.h"
#include "common/twin.h"
#include "kernels/crossentropy.h"
#include "labs/00_bytes/contract.h"
#include "labs/04_checkpoint/contract.h"
#include "labs/08_prefetch/contract.h"
#include "labs/09_fusion/contract.h"
#include "labs/12_zero/contract.h"
#include "train/sample.h"

void shards_open(Trainer *trainer, const TrainOptions *options, const Grid *grid, Memory *memory) {
    uint64_t seed = (uint64_t)options->seed;
    ModelPart part = model_whole(&options->config);
    part.weights = part.grads = false;
    trainer->model = model_new_part(&options->config, &part, memory, seed);
    trainer->zero = zero_open(trainer->model, options->zero, grid->of_replicas, NULL);
    if (options->zero_prefetch) {
        zero_ahead_open(trainer->zero);
    }
    if (options->offload_optimizer) {
        offloaded_new(trainer->model->pieces);
    }
    model_init_weights(trainer->model, seed);
}

void shards_close(Trainer *trainer) {
    if (trainer->zero != NULL) {
        offloaded_free(trainer->model->pieces->offloaded);
        zero_close(trainer->zero);
        trainer->zero = NULL;
    }
}

Model *shards_learns(const Trainer *trainer) {
    Model *pieces = trainer->zero != NULL ? trainer->model->pieces : NULL;
    return pieces == NULL ? trainer->model : pieces->offloaded != NULL ? pieces->offloaded : pieces;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* States of moments in bytes, of this rank's pieces (common/rules.h). */
static size_t bytes_of_8bit(const ModelConfig *config, const Grid *grid) {
    int count = params_count(config);
    Param *params = calloc((size_t)count, sizeof *params);
    CHECK(params != NULL, "no memory for %d parameters", count);
    params_describe(params, config);
    size_t bytes = 0;
    for (int first = 0; first < count; first += first == 0 ? MODEL_PARAMS : BLOCK_PARAMS) {
        int end = first + (first == 0 ? MODEL_PARAMS : BLOCK_PARAMS);
        size_t length = 0, begin = 0;
        for (int i = first; i < end; i++) {
            length += tensor_indices(params[i].count);
        }
        size_t part = shard_part(length, grid->replicas);
        for (int i = first; i < end; i++) {
            size_t n = shard_piece(begin, params[i].count, part, grid->replica).count;
            bool coded = params[i].count >= ADAM8_LEAST;
            bytes += coded ? 2 * n + 2 * sizeof(float) * adam8_blocks(n) : 2 * sizeof(float) * n;
            begin += tensor_indices(params[i].count);
        }
    }
    free(params);
    return bytes;
}

/* Numbers of this rank's pieces: of each shard_states() counts the moments, and a master. */
static size_t own_numbers(const ModelConfig *config, const Grid *grid) {
    MemoryUse states = shard_states(config, 3, grid->replicas, grid->replica);
    return states.bytes[MEMORY_OPTIMIZER] / (config->precision == F32 ? 8 : 12);
}

static void set_states(MemoryUse *use, const TrainOptions *options, const Grid *grid) {
    const ModelConfig *config = &options->config;
    MemoryUse states = shard_states(config, options->zero, grid->replicas, grid->replica);
    size_t moments = states.bytes[MEMORY_OPTIMIZER];
    use->bytes[MEMORY_WEIGHTS] = states.bytes[MEMORY_WEIGHTS];
    use->bytes[MEMORY_GRADIENTS] = states.bytes[MEMORY_GRADIENTS];
    use->bytes[MEMORY_OPTIMIZER] = moments;
    if (options->optim == OPTIM_ADAMW_8BIT) {
        size_t masters = moments - 8 * own_numbers(config, grid);
        use->bytes[MEMORY_OPTIMIZER] = masters + bytes_of_8bit(config, grid);
    }
}

/* The sums of the norm, of all ranks. */
static size_t norm_bytes(const ModelConfig *config, const Grid *grid) {
    size_t parts = shard_states(config, 3, grid->replicas, 0).bytes[MEMORY_GRADIENTS];
    return (size_t)grid->replicas * parts / sizeof(float) / TENSOR_BLOCK * sizeof(double);
}

/* Numbers of unit 0 and of a block's, whole. */
static void unit_sizes(ModelConfig config, const Grid *grid, size_t *outside, size_t *block) {
    size_t numbers[2];
    for (int i = 0; i < 2; i++) {
        config.L = 1 + i;
        numbers[i] = (size_t)grid->replicas *
                     shard_states(&config, 3, grid->replicas, 0).bytes[MEMORY_GRADIENTS] /
                     sizeof(float);
    }
    *block = numbers[1] - numbers[0];
    *outside = numbers[0] - *block;
}

/* Activations with another vocabulary: a large one puts the peak into the head, none out of it. */
static size_t activations(const TrainOptions *options, int V, int B) {
    ModelConfig config = options->config;
    config.V = V;
    if (options->offload) {
        return offload_bytes(&config, B, options->T, options->checkpoint.segment);
    }
    return options->checkpointing ? checkpoint_bytes(&config, B, options->T, options->checkpoint)
                                  : bytes_activations(&config, B, options->T);
}

static size_t logits_bytes(const TrainOptions *options, int V, int B, bool in_chunks) {
    const ModelConfig *config = &options->config;
    int N = B * options->T, rows = in_chunks ? head_chunk_rows(N, config->C, V) : N;
    return (size_t)rows * (size_t)logits_stride(V) * precision_bytes(config->precision);
}

/* The peak is in the backward of the head, or in that of a block: unit 0's gradients are here in
   both, and of the weights and other gradients those of what runs. */
static void add_units(MemoryUse *use, const TrainOptions *options, const Grid *grid, int B) {
    enum { LARGE = 1 << 24 };
    int V = options->config.V;
    size_t outside, block, element = precision_bytes(options->config.precision);
    size_t weights = options->zero == 3 ? element : 0, grads = options->zero >= 2 ? 4 : 0;
    size_t head = activations(options, LARGE, B) - logits_bytes(options, LARGE, B, false) +
                  logits_bytes(options, V, B, options->fused_head);
    size_t blocks = activations(options, 0, B);
    unit_sizes(options->config, grid, &outside, &block);
    size_t beside_head = options->zero_prefetch ? block : 0; /* the unit that is on its way */
    size_t beside = options->zero_prefetch && options->config.L > 1 ? block : 0;
    bool at_head = head + outside * (weights + grads) + beside_head * weights >
                   blocks + (block + beside) * weights + (block + outside) * grads;
    use->bytes[MEMORY_ACTIVATIONS] = at_head ? head : blocks;
    use->bytes[MEMORY_WEIGHTS] += weights * (at_head ? outside + beside_head : block + beside);
    use->bytes[MEMORY_GRADIENTS] += grads * (at_head ? outside : outside + block);
}

MemoryUse shards_predict(MemoryUse use, const TrainOptions *options, const Grid *grid, int B) {
    set_states(&use, options, grid);
    add_units(&use, options, grid, B);
    use.bytes[MEMORY_WORKSPACE] += norm_bytes(&options->config, grid);
    if (options->offload_optimizer) {
        use.bytes[MEMORY_OPTIMIZER] = 0;
        use.bytes[MEMORY_WORKSPACE] -= /* of the lists, that of gradients stays */
            (WORKSPACE_LISTS - 1) * workspace_list_bytes(&options->config);
    }
    return use;
}

MemoryUse shards_host(const Trainer *trainer) {
    const Model *learns = shards_learns(trainer);
    return learns->mirrors != NULL ? memory_peak(learns->memory) : (MemoryUse){0};
}

MemoryUse shards_predict_host(const TrainOptions *options, const Grid *grid) {
    MemoryUse use = {0};
    if (options->offload_optimizer) {
        const ModelConfig *config = &options->config;
        set_states(&use, options, grid);
        use = offloaded_bytes(config, own_numbers(config, grid), use.bytes[MEMORY_OPTIMIZER]);
    }
    return use;
}

double shards_sent(const TrainOptions *options, const Grid *grid) {
    const ModelConfig *config = &options->config;
    double R = grid->replicas;
    if (options->zero == 3 && options->checkpointing) {
        return 0;
    }
    double found = config->precision == F32 ? 0 : 2 * sizeof(float);
    double asked = (R - 1) / R * ((double)norm_bytes(config, grid) + found);
    return (double)shard_wire(config, options->zero, grid->replicas, options->accumulation) + asked;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* A trainer of the twin, with the rest of this rank's. */
static Trainer whole_of(const Trainer *trainer, const Twin *twin) {
    Trainer whole = *trainer;
    twin->model->rng = trainer->model->rng;
    whole.model = twin->model;
    whole.optimizer = twin->optimizer;
    return whole;
}

int shards_save(const Snapshot *snapshot, Comm *comm, const char *output_dir, int limit) {
    const Trainer *trainer = snapshot->trainer;
    Twin *twin = output_dir != NULL ? twin_open(trainer->optimizer) : NULL;
    int result = 0;
    twin_gather(twin, trainer->optimizer, comm);
    if (twin != NULL) {
        Trainer whole = whole_of(trainer, twin);
        Snapshot saved = *snapshot;
        saved.trainer = &whole;
        result = snapshot_save(&saved, output_dir, limit);
    }
    twin_close(twin);
    return result;
}

int shards_load(Snapshot *snapshot, const char *folder) {
    Trainer *trainer = snapshot->trainer;
    Twin *twin = twin_open(trainer->optimizer);
    Trainer whole = whole_of(trainer, twin);
    snapshot->trainer = &whole;
    int result = snapshot_load(snapshot, folder);
    snapshot->trainer = trainer;
    if (result == 0) {
        twin_cut(twin, trainer->model, trainer->optimizer);
        trainer->schedule = whole.schedule;
        trainer->model->rng = twin->model->rng;
    }
    twin_close(twin);
    return result;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* A text in the making, and the model that makes it. */
typedef struct SharedSample {
    Model *model;
    TextSample sample;
    float *logits;
} SharedSample;

static bool is_done(void *context) {
    const SharedSample *shared = context;
    return sample_done(&shared->sample);
}

static void draw_next(void *context) {
    SharedSample *shared = context;
    Batch batch = sample_batch(&shared->sample);
    model_next_logits(shared->model, &batch, shared->logits);
    sample_draw(&shared->sample, shared->logits);
}

void shards_sample(const Trainer *trainer, const char *prompt, int count, float temperature,
                   Rng *rng, unsigned char *text) {
    Model *model = trainer->model;
    SharedSample shared = {.model = model,
                           .sample = sample_begin(&model->config, prompt, count, temperature, rng),
                           .logits = malloc((size_t)model->config.V * sizeof(float))};
    CHECK(shared.logits != NULL, "no host memory for %d logits", model->config.V);
    zero_generate(trainer->zero, is_done, draw_next, &shared);
    memcpy(text, shared.sample.text, (size_t)count);
    free(shared.logits);
    sample_end(&shared.sample);
}
