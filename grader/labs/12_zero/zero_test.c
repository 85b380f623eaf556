/* Lab 12's solution: on simulated ranks the bits of one process that adds up what they have, in the
   bytes that the formulas say; saved by some ranks, resumed by others. */
#include <criterion/criterion.h>
#include <cudasim_ranks.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm.h"
#include "common/offloaded.h"
#include "common/rules.h"
#include "common/twin.h"
#include "labs/05_fp16/contract.h"
#include "labs/07_optimizers/contract.h"
#include "labs/12_zero/contract.h"

enum { T = 12, STEPS = 3, MOST_RANKS = 5, MOST_MICROS = 2, SEED = 31 };

static const AdamW adamw = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.1f};

/* A run: how it is shared, and what came of it. */
typedef struct ZeroTrial {
    int stage, ranks, micros;
    Precision precision;
    Optim optim;
    bool prefetch, offload;
    int overflow;   /* the rank whose loss is too large in the second step; -1 for none */
    float *weights; /* after each step, of rank 0 */
    float norm[STEPS];
    int skipped[STEPS];
    float scale;
    const Twin *from; /* where it begins; NULL for fresh weights */
    Twin *to;         /* filled at the end, where it is there */
} ZeroTrial;

static ModelConfig config_of(Precision precision) {
    return (ModelConfig){
        .V = 259, .T = T, .L = 3, .NH = 2, .C = 34, .dropout = 0, .precision = precision};
}

/* Ragged, and of the last rank's one has no valid target. */
static Batch batch_of(int step, int rank, int micro, int ranks, int32_t *tokens, int32_t *targets) {
    uint64_t seed = 1000 + 100 * (uint64_t)step + 10 * (uint64_t)rank + (uint64_t)micro;
    Rng rng = rng_new(seed, RNG_DATA);
    Batch batch = {.B = 1 + rank % 2, .T = T - micro, .tokens = tokens, .targets = targets};
    bool empty = rank == ranks - 1 && micro == 1;
    for (int j = 0; j < batch.B * batch.T; j++) {
        bool valid = !empty && rng_below(&rng, 4) > 0;
        tokens[j] = (int32_t)rng_below(&rng, 256);
        targets[j] = valid ? (int32_t)rng_below(&rng, 256) : IGNORE_INDEX;
        batch.valid += valid;
    }
    return batch;
}

static float share_of(const ZeroTrial *trial, int step, int rank, const Mixed *mixed) {
    float share = 1.0f / 17;
    bool over = step == 1 && rank == trial->overflow;
    return over ? INFINITY : mixed != NULL ? mixed_scale(mixed, share) : share;
}

static void pass(const ZeroTrial *trial, Model *model, const Mixed *mixed, int step, int rank,
                 int micro) {
    int32_t tokens[2 * T], targets[2 * T];
    Batch batch = batch_of(step, rank, micro, trial->ranks, tokens, targets);
    model_forward(model, &batch);
    model_backward(model, share_of(trial, step, rank, mixed));
}

static OptimizerRule rule(Optim optim) {
    static Codebooks codebooks;
    codebook_signed(codebooks.m);
    codebook_unsigned(codebooks.v);
    return rule_of(optim, &codebooks);
}

static Mixed mixed_new(void) {
    Mixed mixed = {.dynamic = true};
    scaler_init(&mixed.scaler);
    mixed.scaler.scale = 1024;
    return mixed;
}

static Trainer trainer_of(Model *model, Optimizer *optimizer, Mixed *mixed) {
    return (Trainer){
        .model = model,
        .optimizer = optimizer,
        .schedule = {.decay = DECAY_CONSTANT, .learning_rate = 1e-2f, .max_steps = STEPS},
        .max_grad_norm = 0.5f,
        .mixed = mixed};
}

static size_t elements(Precision precision) {
    ModelConfig config = config_of(precision);
    Param *params = calloc((size_t)params_count(&config), sizeof *params);
    size_t n = 0;
    params_describe(params, &config);
    for (int i = 0; i < params_count(&config); i++) {
        n += params[i].count;
    }
    free(params);
    return n;
}

static void read_weights(const Model *model, float *to) {
    for (int i = 0; i < model->param_count; i++) {
        model_download_weight(model, &model->params[i], to);
        to += model->params[i].count;
    }
}

/* ---- one process ----------------------------------------------------------------------------- */

static void add_grads(Model *to, Model *from) {
    for (int i = 0; i < to->param_count; i++) {
        float *a = to->params[i].grad, *b = from->params[i].grad;
        for (size_t j = 0; j < to->params[i].count; j++) {
            a[j] += b[j];
        }
    }
    model_zero_grad(from);
}

/* In the order of the contract: stage 1 adds a rank's micro-batches, then ranks; from stage 2 on
   it is the other way round. */
static void sum_grads(const ZeroTrial *trial, Model *sum, Model *rank, Model *scratch,
                      const Mixed *mixed, int step) {
    int outer = trial->stage == 1 ? trial->ranks : trial->micros;
    int inner = trial->stage == 1 ? trial->micros : trial->ranks;
    for (int i = 0; i < outer; i++) {
        for (int j = 0; j < inner; j++) {
            bool by_rank = trial->stage == 1;
            pass(trial, by_rank ? rank : scratch, mixed, step, by_rank ? i : j, by_rank ? j : i);
            if (!by_rank) {
                add_grads(rank, scratch);
            }
        }
        add_grads(sum, rank);
    }
}

static void plain_update(Trainer *trainer, StepReport *report) {
    if (trainer->mixed != NULL) {
        mixed_update(trainer, report);
        return;
    }
    report->grad_norm = optimizer_clip(trainer->model, trainer->max_grad_norm);
    optimizer_step(trainer->optimizer, schedule_rate(&trainer->schedule));
    model_zero_grad(trainer->model);
}

static void run_alone(ZeroTrial *trial) {
    ModelConfig config = config_of(trial->precision);
    Device *device = device_cpu_new(0);
    Memory *memory = memory_new(device, (MemoryOptions){0});
    Model *model = model_new(&config, memory, SEED), *rank = model_new(&config, memory, SEED),
          *scratch = model_new(&config, memory, SEED);
    Optimizer *optimizer = optimizer_new_as(model, adamw, rule(trial->optim));
    Mixed mixed = mixed_new();
    Trainer trainer = trainer_of(model, optimizer, trial->precision == F32 ? NULL : &mixed);
    size_t n = elements(trial->precision);
    float *values = malloc(n * sizeof *values);
    for (int step = 0; step < STEPS; step++) {
        StepReport report = {0};
        for (int i = 0; i < model->param_count; i++) {
            model_download_weight(model, &model->params[i], values);
            model_upload_weight(rank, &rank->params[i], values);
            model_upload_weight(scratch, &scratch->params[i], values);
        }
        sum_grads(trial, model, rank, scratch, trainer.mixed, step);
        plain_update(&trainer, &report);
        read_weights(model, trial->weights + (size_t)step * n);
        trial->norm[step] = report.grad_norm;
        trial->skipped[step] = report.skipped;
    }
    trial->scale = mixed.scaler.scale;
    free(values);
    optimizer_free(optimizer);
    model_free(scratch);
    model_free(rank);
    model_free(model);
    memory_free(memory);
    device_free(device);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* States that the device lacks are with the host, beside a copy of weights and gradients. */
static void expect_host(const ZeroTrial *trial, const ModelConfig *config, const Model *host,
                        MemoryUse *stay) {
    size_t states = stay->bytes[MEMORY_OPTIMIZER];
    size_t numbers = states / (trial->precision == F32 ? 8 : 12);
    MemoryUse now = memory_now(host->memory), right = offloaded_bytes(config, numbers, states);
    cr_expect_eq(memcmp(&now, &right, sizeof now), 0, "%zu bytes with the host, %zu are right",
                 memory_total(&now), memory_total(&right));
    stay->bytes[MEMORY_OPTIMIZER] = 0;
}

static void expect_bytes(const ZeroTrial *trial, const ModelConfig *config, const Model *learns,
                         Memory *memory, int rank) {
    MemoryUse stay = shard_states(config, trial->stage, trial->ranks, rank);
    if (trial->offload) {
        expect_host(trial, config, learns, &stay);
    }
    MemoryUse now = memory_now(memory);
    MemoryUse come = shard_gathered(config, trial->stage, trial->ranks);
    static const MemoryKind kinds[] = {MEMORY_WEIGHTS, MEMORY_GRADIENTS, MEMORY_OPTIMIZER};
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(now.bytes[kinds[i]], stay.bytes[kinds[i]],
                     "stage %d, rank %d of %d, %s: %zu, %zu", trial->stage, rank, trial->ranks,
                     memory_kind_name(kinds[i]), now.bytes[kinds[i]], stay.bytes[kinds[i]]);
    }
    cr_expect_eq(memory_lane_peak(memory_lane(memory, "gathered weights")),
                 come.bytes[MEMORY_WEIGHTS]);
    cr_expect_eq(memory_lane_peak(memory_lane(memory, "weights ahead")) > 0, trial->prefetch);
    cr_expect_eq(memory_lane_peak(memory_lane(memory, "whole gradients")),
                 come.bytes[MEMORY_GRADIENTS]);
}

static void run_steps(ZeroTrial *trial, Trainer *trainer, Comm *comm) {
    int rank = comm_rank(comm);
    size_t n = elements(trial->precision);
    for (int step = 0; step < STEPS; step++) {
        StepReport report = {0};
        for (int micro = 0; micro < trial->micros; micro++) {
            pass(trial, trainer->model, trainer->mixed, step, rank, micro);
        }
        zero_update(trainer, &report);
        Twin *twin = rank == 0 ? twin_open(trainer->optimizer) : NULL;
        twin_gather(twin, trainer->optimizer, comm);
        if (rank == 0) {
            read_weights(twin->model, trial->weights + (size_t)step * n);
            trial->norm[step] = report.grad_norm;
            trial->skipped[step] = report.skipped;
        }
        twin_close(twin);
    }
}

static void run_rank(int rank, void *context) {
    ZeroTrial *trial = context;
    ModelConfig config = config_of(trial->precision);
    Comm *comm = comm_open();
    Device *device = device_cpu_new(0);
    Memory *memory = memory_new(device, (MemoryOptions){.checked = true});
    ModelPart part = model_whole(&config);
    part.weights = part.grads = false;
    comm_connect(comm, device);
    Model *model = model_new_part(&config, &part, memory, SEED);
    Zero *zero = zero_open(model, trial->stage, comm_nccl(comm), NULL);
    if (trial->prefetch) {
        zero_ahead_open(zero);
    }
    Model *learns = trial->offload ? offloaded_new(zero->shard) : zero->shard;
    model_init_weights(model, SEED);
    Optimizer *optimizer = optimizer_new_as(learns, adamw, rule(trial->optim));
    Mixed mixed = mixed_new();
    Trainer trainer = trainer_of(model, optimizer, trial->precision == F32 ? NULL : &mixed);
    trainer.zero = zero;
    if (trial->from != NULL) {
        twin_cut(trial->from, model, optimizer);
    }
    run_steps(trial, &trainer, comm);
    if (trial->to != NULL || rank > 0) {
        twin_gather(rank == 0 ? trial->to : NULL, optimizer, comm);
    } else {
        twin_gather(NULL, optimizer, comm);
    }
    if (trial->optim == OPTIM_ADAMW) {
        expect_bytes(trial, &config, learns, memory, rank);
    }
    trial->scale = mixed.scaler.scale;
    optimizer_free(optimizer);
    offloaded_free(zero->shard->offloaded);
    zero_close(zero);
    model_free(model);
    memory_free(memory);
    comm_close(comm);
    device_free(device);
}

static float *room(const ZeroTrial *trial) {
    return malloc(STEPS * elements(trial->precision) * sizeof(float));
}

static void expect_same(ZeroTrial trial) {
    size_t n = elements(trial.precision);
    ZeroTrial alone = trial;
    trial.weights = room(&trial);
    alone.weights = room(&trial);
    run_alone(&alone);
    cudasim_ranks_run(trial.ranks, run_rank, &trial);
    for (int step = 0; step < STEPS; step++) {
        cr_expect_eq(memcmp(trial.weights + (size_t)step * n, alone.weights + (size_t)step * n,
                            n * sizeof(float)),
                     0, "stage %d, %d ranks, %d micro-batches, step %d: other weights", trial.stage,
                     trial.ranks, trial.micros, step);
        cr_expect(trial.norm[step] == alone.norm[step] ||
                      (isnan(trial.norm[step]) && isnan(alone.norm[step])),
                  "stage %d, %d ranks, step %d: norm %g, and %g alone", trial.stage, trial.ranks,
                  step, (double)trial.norm[step], (double)alone.norm[step]);
        cr_expect_eq(trial.skipped[step], alone.skipped[step]);
    }
    cr_expect_eq(trial.scale, alone.scale);
    free(trial.weights);
    free(alone.weights);
}

Test(zero, every_stage_has_the_bits_of_one_process) {
    static const int ranks[] = {1, 2, 3, 5};
    for (int i = 0; i < 4; i++) {
        for (int stage = 1; stage <= 3; stage++) {
            expect_same((ZeroTrial){
                .stage = stage, .ranks = ranks[i], .micros = 1 + i % 2, .overflow = -1});
        }
    }
}

Test(zero, in_half_with_a_rank_that_overflows) {
    for (int stage = 1; stage <= 3; stage++) {
        expect_same((ZeroTrial){.stage = stage,
                                .ranks = 3,
                                .micros = 1,
                                .precision = stage == 2 ? BF16 : F16,
                                .overflow = stage - 1});
    }
}

Test(zero, moments_of_a_byte) {
    for (int stage = 1; stage <= 3; stage++) {
        expect_same((ZeroTrial){
            .stage = stage, .ranks = 3, .micros = 1, .optim = OPTIM_ADAMW_8BIT, .overflow = -1});
    }
}

Test(zero, units_ahead_change_no_bit) {
    for (int ranks = 1; ranks <= 5; ranks += 2) {
        expect_same(
            (ZeroTrial){.stage = 3, .ranks = ranks, .micros = 2, .prefetch = true, .overflow = -1});
    }
}

Test(zero, states_in_host_memory_change_no_bit) {
    for (int stage = 1; stage <= 3; stage++) {
        expect_same(
            (ZeroTrial){.stage = stage, .ranks = 3, .micros = 2, .offload = true, .overflow = -1});
    }
}

Test(zero, states_in_host_memory_in_half_and_in_bytes) {
    expect_same((ZeroTrial){
        .stage = 1, .ranks = 3, .micros = 2, .precision = F16, .offload = true, .overflow = 2});
    expect_same((ZeroTrial){.stage = 3,
                            .ranks = 3,
                            .micros = 1,
                            .precision = BF16,
                            .prefetch = true,
                            .offload = true,
                            .overflow = 1});
    expect_same((ZeroTrial){.stage = 2,
                            .ranks = 3,
                            .micros = 1,
                            .optim = OPTIM_ADAMW_8BIT,
                            .offload = true,
                            .overflow = -1});
}

/* An empty one: its shape is that of any optimizer of this model. */
static Twin *twin_of(Precision precision) {
    ModelConfig config = config_of(precision);
    Device *device = device_cpu_new(0);
    Memory *memory = memory_new(device, (MemoryOptions){0});
    Model *model = model_new_zero(&config, memory);
    Optimizer *optimizer = optimizer_new_as(model, adamw, rule(OPTIM_ADAMW));
    Twin *twin = twin_open(optimizer);
    optimizer_free(optimizer);
    model_free(model);
    memory_free(memory);
    device_free(device);
    return twin;
}

/* Four ranks stop; three go on from what they have left, at any stage, and have the same bits. */
Test(zero, resumed_by_another_number_of_ranks) {
    size_t n = elements(F16);
    ZeroTrial first = {
        .stage = 3, .ranks = 4, .micros = 1, .precision = F16, .offload = true, .overflow = -1};
    float *weights[3];
    first.weights = room(&first);
    Twin *twin = first.to = twin_of(F16);
    cudasim_ranks_run(first.ranks, run_rank, &first);
    for (int stage = 1; stage <= 3; stage++) {
        ZeroTrial next = {.stage = stage,
                          .offload = stage == 2, /* from a save without to one with, and back */
                          .ranks = 3,
                          .micros = 1,
                          .precision = F16,
                          .overflow = -1,
                          .from = twin};
        next.weights = weights[stage - 1] = room(&next);
        cudasim_ranks_run(next.ranks, run_rank, &next);
        cr_expect_eq(memcmp(weights[stage - 1], weights[0], STEPS * n * sizeof(float)), 0,
                     "stage %d goes on with other weights than stage 1", stage);
        cr_expect_neq(memcmp(weights[0], first.weights, n * sizeof(float)), 0,
                      "nothing was taken over");
    }
    twin_close(twin);
    for (int i = 0; i < 3; i++) {
        free(weights[i]);
    }
    free(first.weights);
}
