/* Optimizers of lab 07 on slices, fed with gradients, against one device that has the whole. */
#include "train/sliced.h"

#include <criterion/criterion.h>
#include <cudasim_ranks.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/rules.h"
#include "common/testkit/parts.h"
#include "kernels/adam8.h"
#include "train/techniques.h"
#include "train/tensor.h"

enum { MOST_SLICES = 4, STEPS = 3, MOST_PARAMS = 40 };

/* Some tensors are long enough for codes of a byte, others are shorter. No number of slices divides
   259 rows. */
static ModelConfig wide(Precision precision) {
    return (ModelConfig){.V = 259, .T = 9, .L = 1, .NH = 4, .C = 64, .precision = precision};
}

static const AdamW numbers = {
    .beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.1f};

/* Inputs and results of all ranks, in memory from before them. */
typedef struct SlicedTrial {
    Optim optim;
    bool gpu;
    int ranks;
    ModelConfig config;
    Model *whole;                                  /* shapes, and weights at the start */
    float *weight[MOST_PARAMS];                    /* at the start */
    float *grad[STEPS][MOST_PARAMS];               /* of the whole */
    float *after[MOST_SLICES][MOST_PARAMS];        /* of a slice, in float */
    float *row[MOST_SLICES][MOST_PARAMS];          /* Adafactor's states, or NULL */
    float *col[MOST_SLICES][MOST_PARAMS];          /* likewise */
    unsigned char *code[MOST_SLICES][MOST_PARAMS]; /* first moments in bytes, or NULL */
    MemoryUse use[MOST_SLICES];
    double sent[MOST_SLICES];
} SlicedTrial;

static float *copy_of(const Model *model, const void *from, size_t bytes) {
    float *copy = malloc(bytes);
    device_download(model->device, copy, from, bytes);
    return copy;
}

/* Later rows and columns have larger gradients, so that a part has other means than the whole. */
static void draw_gradients(SlicedTrial *trial) {
    Rng rng = rng_new(7, RNG_WEIGHTS);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < trial->whole->param_count; i++) {
            const Param *param = &trial->whole->params[i];
            float *g = trial->grad[step][i] = malloc(param->count * sizeof *g);
            rng_normal(&rng, g, param->count, 0.01f);
            for (size_t k = 0; k < param->count; k++) {
                double row = (double)(k / (size_t)param->cols) / param->rows;
                double col = (double)(k % (size_t)param->cols) / param->cols;
                g[k] *= (float)exp(3 * row + 2 * col);
            }
        }
    }
}

static Optimizer *optimizer_with(Model *model, Optim optim) {
    return optimizer_new_as(model, numbers, techniques_rule(optim));
}

static void upload_gradients(const SlicedTrial *trial, Model *model, int step,
                             const TensorGroup *group) {
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        float *slice = malloc(param->count * sizeof *slice);
        slice_cut(slice, trial->grad[step][i], &trial->config, i, group->size, group->rank);
        device_upload(model->device, param->grad, slice, param->count * sizeof *slice);
        free(slice);
    }
}

static float *weight_after(const Optimizer *optimizer, int i) {
    const Model *model = optimizer->model;
    const Param *param = &model->params[i];
    const void *weight = optimizer->master != NULL ? (const void *)optimizer->master[i]
                                                   : (const void *)param->weight;
    return copy_of(model, weight, param->count * sizeof(float));
}

static void keep_states(SlicedTrial *trial, const Optimizer *optimizer, int rank) {
    for (int i = 0; i < optimizer->state_count; i++) {
        const OptimizerState *state = &optimizer->states[i];
        void *copy = copy_of(optimizer->model, state->data, state->count * state->size);
        if (strcmp(state->name, "row") == 0) {
            trial->row[rank][state->param] = copy;
        } else if (strcmp(state->name, "col") == 0) {
            trial->col[rank][state->param] = copy;
        } else if (strcmp(state->name, "m_code") == 0) {
            trial->code[rank][state->param] = copy;
        } else {
            free(copy);
        }
    }
}

static void step_as_rank(int number, void *context) {
    SlicedTrial *trial = context;
    Comm *comm = comm_open();
    PartBench bench = bench_on(trial->gpu);
    comm_connect(comm, bench.device);
    TensorGroup group = {.comm = comm_nccl(comm), .size = comm_size(comm), .rank = comm_rank(comm)};
    Model *model =
        bench_part(&bench, &trial->config, tensor_part(&trial->config, group.size, group.rank));
    for (int i = 0; i < model->param_count; i++) {
        float *slice = malloc(model->params[i].count * sizeof *slice);
        slice_cut(slice, trial->weight[i], &trial->config, i, group.size, group.rank);
        model_upload_weight(model, &model->params[i], slice);
        free(slice);
    }
    Optimizer *optimizer = optimizer_with(model, trial->optim);
    SlicedFactors factors;
    if (trial->optim == OPTIM_ADAFACTOR) {
        sliced_factors_join(&factors, &group, optimizer, trial->whole);
    }
    double before = comm_sent(comm);
    for (int step = 0; step < STEPS; step++) {
        upload_gradients(trial, model, step, &group);
        optimizer_step(optimizer, 0.01f);
    }
    device_synchronize(bench.device);
    trial->sent[number] = comm_sent(comm) - before;
    for (int i = 0; i < model->param_count; i++) {
        trial->after[number][i] = weight_after(optimizer, i);
    }
    keep_states(trial, optimizer, number);
    trial->use[number] = memory_now(model->memory);
    optimizer_free(optimizer);
    bench_close(&bench);
    comm_close(comm);
}

static void near(const char *what, const Param *param, size_t k, double got, double want) {
    cr_assert(fabs(got - want) <= 1e-6 + 3e-6 * fabs(want), "%s of %s[%zu]: %.9g, not %.9g", what,
              param->name, k, got, want);
}

/* Of a state along rows or columns, from the slices as matrices: as tensor_states.c moves it. */
static float *spread(const float *state, int rows, int cols, bool along_rows) {
    float *all = malloc((size_t)rows * (size_t)cols * sizeof *all);
    for (int i = 0; i < rows * cols; i++) {
        all[i] = state[along_rows ? i / cols : i % cols];
    }
    return all;
}

static void expect_state(const SlicedTrial *trial, int i, float *const *slices, const float *whole,
                         bool along_rows) {
    const Param *param = &trial->whole->params[i];
    float *want = spread(whole, param->rows, param->cols, along_rows);
    float *got = calloc(param->count, sizeof *got);
    for (int rank = 0; rank < trial->ranks; rank++) {
        Model shapes = {.config = trial->config};
        Param here[MOST_PARAMS];
        params_describe_shard(here, &shapes.config, trial->ranks);
        here[WTE].rows = slice_vocab(trial->config.V, trial->ranks, rank).count;
        float *slice = spread(slices[rank], here[i].rows, here[i].cols, along_rows);
        slice_join(got, slice, &trial->config, i, trial->ranks, rank);
        free(slice);
    }
    for (size_t k = 0; k < param->count; k++) {
        cr_assert(fabs((double)got[k] - (double)want[k]) <= 3e-6 * fabs((double)want[k]),
                  "%s of %s[%zu]: %.9g, not %.9g", along_rows ? "row" : "col", param->name, k,
                  (double)got[k], (double)want[k]);
    }
    free(want);
    free(got);
}

static void expect_weights(const SlicedTrial *trial, const Optimizer *whole) {
    for (int i = 0; i < trial->whole->param_count; i++) {
        const Param *param = &trial->whole->params[i];
        float *want = weight_after(whole, i), *got = calloc(param->count, sizeof *got);
        Param here[MOST_PARAMS];
        params_describe_shard(here, &trial->config, trial->ranks);
        for (int rank = 0; rank < trial->ranks; rank++) {
            slice_join(got, trial->after[rank][i], &trial->config, i, trial->ranks, rank);
            if (i != WTE && here[i].count == param->count) {
                cr_assert_arr_eq(trial->after[rank][i], trial->after[0][i],
                                 param->count * sizeof *got, "%s of rank %d", param->name, rank);
            }
        }
        for (size_t k = 0; k < param->count; k++) {
            near("weight", param, k, (double)got[k], (double)want[k]);
        }
        free(want);
        free(got);
    }
}

static void open_trial(SlicedTrial *trial, PartBench *bench) {
    *bench = bench_on(trial->gpu);
    trial->whole = bench_model(bench, &trial->config);
    for (int i = 0; i < trial->whole->param_count; i++) {
        const Param *param = &trial->whole->params[i];
        trial->weight[i] = malloc(param->count * sizeof(float));
        model_download_weight(trial->whole, param, trial->weight[i]);
    }
    draw_gradients(trial);
    cudasim_ranks_run(trial->ranks, step_as_rank, trial);
}

static void close_trial(SlicedTrial *trial, PartBench *bench) {
    for (int i = 0; i < MOST_PARAMS; i++) {
        free(trial->weight[i]);
        for (int step = 0; step < STEPS; step++) {
            free(trial->grad[step][i]);
        }
        for (int rank = 0; rank < MOST_SLICES; rank++) {
            free(trial->after[rank][i]);
            free(trial->row[rank][i]);
            free(trial->col[rank][i]);
            free(trial->code[rank][i]);
        }
    }
    bench_close(bench);
}

static TrainOptions options_of(const SlicedTrial *trial) {
    return (TrainOptions){.config = trial->config, .optim = (int)trial->optim};
}

static void expect_bytes(const SlicedTrial *trial) {
    TrainOptions options = options_of(trial);
    for (int rank = 0; rank < trial->ranks; rank++) {
        Grid grid = {.slices = trial->ranks, .slice = rank};
        double ring = 2 * (trial->ranks - 1.0) / trial->ranks;
        double summed = STEPS * ring * (double)sliced_summed(&options, &grid);
        cr_assert_eq(trial->use[rank].bytes[MEMORY_OPTIMIZER], sliced_states(&options, &grid));
        cr_assert_float_eq(trial->sent[rank], summed, 1, "rank %d: %g bytes, not %g", rank,
                           trial->sent[rank], summed);
    }
}

static void expect_factors(Precision precision, int ranks, bool gpu) {
    SlicedTrial trial = {
        .optim = OPTIM_ADAFACTOR, .gpu = gpu, .ranks = ranks, .config = wide(precision)};
    PartBench bench;
    open_trial(&trial, &bench);
    Optimizer *optimizer = optimizer_with(trial.whole, OPTIM_ADAFACTOR);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < trial.whole->param_count; i++) {
            const Param *param = &trial.whole->params[i];
            device_upload(trial.whole->device, param->grad, trial.grad[step][i],
                          param->count * sizeof(float));
        }
        optimizer_step(optimizer, 0.01f);
    }
    expect_weights(&trial, optimizer);
    for (int i = 0; i < optimizer->state_count; i++) {
        const OptimizerState *state = &optimizer->states[i];
        bool row = strcmp(state->name, "row") == 0, col = strcmp(state->name, "col") == 0;
        float *slices[MOST_SLICES], *want;
        if (!row && !col) {
            continue;
        }
        for (int rank = 0; rank < ranks; rank++) {
            slices[rank] = (row ? trial.row : trial.col)[rank][state->param];
        }
        want = copy_of(trial.whole, state->data, state->count * state->size);
        expect_state(&trial, state->param, slices, want, row);
        free(want);
    }
    expect_bytes(&trial);
    optimizer_free(optimizer);
    close_trial(&trial, &bench);
}

Test(sliced, adafactor_of_slices_is_that_of_the_whole, .timeout = 60) {
    expect_factors(F32, 2, false);
    expect_factors(F32, 4, false);
    expect_factors(BF16, 2, false);
}

Test(sliced, adafactor_on_the_gpu, .timeout = 120) {
    expect_factors(F32, 2, true);
}

/* A device without ranks steps on the numbers of one slice. */
static void expect_codes(const SlicedTrial *trial, const Codebooks *books, int rank, int i,
                         size_t n) {
    size_t blocks = adam8_blocks(n);
    float *w = malloc(n * sizeof *w), *g = malloc(n * sizeof *g);
    Moment8 m = {calloc(n, 1), calloc(blocks, sizeof(float)), NULL};
    Moment8 v = {calloc(n, 1), calloc(blocks, sizeof(float)), NULL};
    slice_cut(w, trial->weight[i], &trial->config, i, trial->ranks, rank);
    for (int step = 0; step < STEPS; step++) {
        AdamW adamw = numbers;
        adamw.learning_rate = 0.01f;
        TensorEntry entry[2] = {{w, n, 0, param_is_matrix(&trial->whole->params[i])}, {g, n, 0, 0}};
        TensorList weight = {&entry[0], 1, n, tensor_indices(n)};
        TensorList grad = {&entry[1], 1, n, tensor_indices(n)};
        slice_cut(g, trial->grad[step][i], &trial->config, i, trial->ranks, rank);
        adam8_cpu(weight, &m, &v, grad, books, adamw, step + 1);
    }
    cr_assert_arr_eq(trial->after[rank][i], w, n * sizeof *w, "parameter %d of rank %d", i, rank);
    cr_assert_arr_eq(trial->code[rank][i], m.code, n, "codes of %d of rank %d", i, rank);
    free(w), free(g), free(m.code), free(m.absmax), free(v.code), free(v.absmax);
}

/* A slice has blocks of its own, from its first number on. */
Test(sliced, moments_in_bytes_are_those_of_the_slice_alone, .timeout = 60) {
    for (int ranks = 2; ranks <= MOST_SLICES; ranks += 2) {
        SlicedTrial trial = {.optim = OPTIM_ADAMW_8BIT, .ranks = ranks, .config = wide(F32)};
        PartBench bench;
        Codebooks books = *(const Codebooks *)techniques_rule(OPTIM_ADAMW_8BIT).context;
        int coded = 0;
        open_trial(&trial, &bench);
        for (int rank = 0; rank < ranks; rank++) {
            Param here[MOST_PARAMS];
            params_describe_shard(here, &trial.config, ranks);
            here[WTE].count =
                (size_t)slice_vocab(trial.config.V, ranks, rank).count * (size_t)trial.config.C;
            for (int i = 0; i < trial.whole->param_count; i++) {
                cr_assert_eq(trial.code[rank][i] != NULL, here[i].whole >= ADAM8_LEAST);
                if (trial.code[rank][i] != NULL) {
                    expect_codes(&trial, &books, rank, i, here[i].count);
                    coded++;
                }
            }
        }
        cr_assert_gt(coded, ranks);
        expect_bytes(&trial);
        close_trial(&trial, &bench);
    }
}
