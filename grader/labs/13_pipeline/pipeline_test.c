/* The solution of lab 13 on simulated ranks: every stage against one device that runs the
   micro-batches one after the other, on the CPU and on the simulated GPU. */
#include <criterion/criterion.h>
#include <cudasim_nccl.h>
#include <cudasim_ranks.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/testkit/parts.h"
#include "labs/13_pipeline/contract.h"

enum { L = 5, LONGEST = 7 };

/* A window of a whole model, and what the ranks do with it. */
typedef struct PipeTrial {
    bool gpu;
    ModelConfig config;
    PipeOrder order;
    int stages, micros;
    Batch batches[LONGEST];
    ncclUniqueId id;
    float **grads;     /* of each parameter; of the tied one the sum of its halves */
    double loss, eval; /* of the window, and of its first micro-batch without dropout */
    uint64_t masks;    /* where the dropout stream ends */
} PipeTrial;

/* ---- one device ------------------------------------------------------------------------------ */

/* Both halves of the tied gradient, added up by themselves; a single stage adds them as they
   come. */
static void pass_with_halves(Model *model, const Batch *batch, float *embedding, float *head) {
    Param *tied = &model->base[WTE];
    Pass *pass = &model->pass;
    int layers = model->config.L;
    pass_begin(pass, batch, true);
    Real *x = model_forward_blocks(pass, 0, layers, pass_embed(pass));
    pass_head_forward(pass, x);
    tied->grad = head;
    pass_head_backward(pass, x, PARTS_SHARE);
    tied->grad = embedding;
    model_backward_blocks(pass, 0, layers, pass->dx);
    pass_embed_backward(pass);
    pass_end(pass);
}

static void run_whole(PipeTrial *trial) {
    PartBench bench = bench_on(trial->gpu);
    Model *model = bench_model(&bench, &trial->config);
    const Param *tied = &model->base[WTE];
    size_t bytes = tied->count * sizeof(float);
    float *half = memory_alloc_zero(model->memory, MEMORY_GRADIENTS, "half", -1, bytes);
    float *head = trial->stages > 1 ? half : tied->grad;
    trial->eval = model_evaluate(model, &trial->batches[0]);
    trial->loss = 0;
    for (int i = 0; i < trial->micros; i++) {
        pass_with_halves(model, &trial->batches[i], tied->grad, head);
        trial->loss += model->pass.loss;
    }
    trial->masks = model->rng.offset;
    trial->grads = calloc((size_t)model->param_count, sizeof *trial->grads);
    for (int i = 0; i < model->param_count; i++) {
        trial->grads[i] = numbers_of(model, model->params[i].grad, model->params[i].count);
    }
    float *other = numbers_of(model, half, tied->count);
    for (size_t i = 0; i < tied->count; i++) {
        trial->grads[WTE][i] += other[i];
    }
    free(other);
    bench_close(&bench);
}

static void free_whole(PipeTrial *trial) {
    for (int i = 0; i < params_count(&trial->config); i++) {
        free(trial->grads[i]);
    }
    free(trial->grads);
}

/* ---- the ranks ------------------------------------------------------------------------------- */

static void expect_gradients(const PipeTrial *trial, const Pipe *pipe) {
    const Model *model = pipe->model;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        if (param->grad != NULL) {
            float *got = numbers_of(model, param->grad, param->count);
            cr_assert_arr_eq(got, trial->grads[i], param->count * sizeof *got,
                             "%s of layer %d, stage %d of %d, %d micro-batches", param->name,
                             param->layer, pipe->stage, pipe->stages, trial->micros);
            free(got);
        }
    }
}

static double square_sum(const PipeTrial *trial) {
    Param *params = malloc((size_t)params_count(&trial->config) * sizeof *params);
    params_describe(params, &trial->config);
    double sum = 0;
    for (int i = 0; i < params_count(&trial->config); i++) {
        for (size_t k = 0; k < params[i].count; k++) {
            sum += (double)trial->grads[i][k] * (double)trial->grads[i][k];
        }
    }
    free(params);
    return sum;
}

/* A rank's communicators. On the CPU they take host memory. */
static Pipe connect_stage(const PipeTrial *trial, Model *model, int stage) {
    Pipe pipe = {.model = model, .order = trial->order, .stages = trial->stages, .stage = stage};
    bool end = stage == 0 || stage == trial->stages - 1;
    cr_assert_eq(ncclCommInitRank(&pipe.comm, trial->stages, trial->id, stage), ncclSuccess);
    if (!trial->gpu) {
        cr_assert_eq(cudasim_comm_on_host(pipe.comm), ncclSuccess);
    }
    if (trial->stages > 1) {
        int color = end ? 0 : NCCL_SPLIT_NOCOLOR;
        cr_assert_eq(ncclCommSplit(pipe.comm, color, stage, &pipe.ends, NULL), ncclSuccess);
        if (!trial->gpu && end) {
            cr_assert_eq(cudasim_comm_on_host(pipe.ends), ncclSuccess);
        }
    }
    return pipe;
}

/* The workspace is the device's. */
static void expect_memory(const PipeTrial *trial, const Pipe *pipe) {
    PipePlan plan = {trial->order, pipe->stages, pipe->stage, trial->micros};
    MemoryUse want = pipe_bytes(&trial->config, &plan, PARTS_B, PARTS_T);
    MemoryUse peak = memory_peak(pipe->model->memory);
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        if (kind != MEMORY_WORKSPACE && kind != MEMORY_OPTIMIZER) {
            cr_assert_eq(peak.bytes[kind], want.bytes[kind], "%s: %zu, not %zu; stage %d of %d, %d",
                         memory_kind_name((MemoryKind)kind), peak.bytes[kind], want.bytes[kind],
                         pipe->stage, pipe->stages, trial->micros);
        }
    }
}

static void expect_wire(const PipeTrial *trial, const Pipe *pipe, double before) {
    PipePlan plan = {trial->order, pipe->stages, pipe->stage, trial->micros};
    double sent = cudasim_wire_bytes(pipe->stage) - before;
    double want = (double)pipe_wire(&trial->config, &plan, PARTS_B, PARTS_T);
    /* the simulator's count is a sum of fractions: the norm's all-reduce is one */
    cr_assert(fabs(sent - want) < 0.5, "%.9g bytes, not %.9g; stage %d of %d, %d", sent, want,
              pipe->stage, pipe->stages, trial->micros);
}

static void run_stage(int stage, void *context) {
    const PipeTrial *trial = context;
    PartBench bench = bench_on(trial->gpu);
    ModelPart part = pipe_part(&trial->config, trial->stages, stage);
    Model *model = bench_part(&bench, &trial->config, part);
    model_init_weights(model, PARTS_SEED);
    Pipe pipe = connect_stage(trial, model, stage);
    bool last = stage == trial->stages - 1;
    double eval = pipe_evaluate(&pipe, &trial->batches[0]);
    cr_assert_eq(eval, last ? trial->eval : 0);
    device_synchronize(model->device);
    memory_peak_reset(model->memory);
    double before = cudasim_wire_bytes(stage);
    double loss = pipe_window(&pipe, trial->batches, trial->micros, PARTS_SHARE);
    cr_assert_eq(loss, last ? trial->loss : 0, "%.17g, not %.17g", loss, trial->loss);
    cr_assert_eq(model->rng.offset, trial->masks);
    expect_memory(trial, &pipe);
    tie_sum(&pipe);
    device_synchronize(model->device);
    expect_gradients(trial, &pipe);
    expect_wire(trial, &pipe, before);
    double want = sqrt(square_sum(trial)), norm = (double)tie_norm(&pipe);
    cr_assert(fabs(norm - want) <= 1e-6 * want, "%.9g, not %.9g", norm, want);
    MemoryUse left = memory_now(model->memory);
    cr_assert_eq(left.bytes[MEMORY_ACTIVATIONS], 0);
    if (pipe.ends != NULL) {
        ncclCommDestroy(pipe.ends);
    }
    ncclCommDestroy(pipe.comm);
    bench_close(&bench);
}

static void hold(PipeTrial *trial) {
    for (int i = 0; i < trial->micros; i++) {
        trial->batches[i] = parts_batch(i % PARTS_MICRO);
    }
    run_whole(trial);
    cr_assert_eq(ncclGetUniqueId(&trial->id), ncclSuccess);
    cr_assert_eq(cudasim_ranks_run(trial->stages, run_stage, trial), 0);
    free_whole(trial);
}

static PipeTrial trial_of(bool gpu, Precision precision, PipeOrder order, int stages, int micros) {
    PipeTrial trial = {.gpu = gpu, .order = order, .stages = stages, .micros = micros};
    trial.config = parts_config(precision, ATTENTION_PLAIN);
    trial.config.L = L;
    return trial;
}

Test(pipeline, stages_have_the_bits_of_one_device, .timeout = 60) {
    for (int stages = 1; stages <= L; stages += stages < 3 ? 1 : 2) {
        static const int windows[] = {1, 3, LONGEST};
        for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
            for (int order = PIPE_1F1B; order <= PIPE_GPIPE; order++) {
                PipeTrial trial = trial_of(false, F32, (PipeOrder)order, stages, windows[i]);
                hold(&trial);
            }
        }
    }
}

Test(pipeline, on_the_gpu_too, .timeout = 60) {
    PipeTrial trial = trial_of(true, F32, PIPE_1F1B, 3, 4);
    hold(&trial);
    trial = trial_of(true, F16, PIPE_1F1B, 2, 3);
    hold(&trial);
    trial = trial_of(true, F32, PIPE_GPIPE, 2, 2);
    hold(&trial);
}

/* ---- schedules ------------------------------------------------------------------------------- */

/* When each forward and backward of all stages is over, if each takes as long as is said, and a
   message no time: a send waits for its receive, and both for the work before. */
static double seconds_of(PipeOrder order, int stages, int micros, double forth, double back) {
    static double end[2][6][12]; /* on the stack gcc 12 stores its vectors at odd places */
    double free_at[6] = {0};
    int at[6] = {0}, left = 2 * stages * micros;
    PipeWork work[6][24];
    for (int s = 0; s < stages; s++) {
        PipePlan plan = {order, stages, s, micros};
        pipe_order(&plan, work[s]);
        for (int i = 0; i < micros; i++) {
            end[0][s][i] = end[1][s][i] = -1;
        }
    }
    for (bool more = true; more;) {
        more = false;
        for (int s = 0; s < stages; s++) {
            if (at[s] == 2 * micros) {
                continue;
            }
            PipeWork next = work[s][at[s]];
            int from = next.backward ? s + 1 : s - 1, i = next.micro;
            bool given = 0 <= from && from < stages;
            double ready = given ? end[next.backward][from][i] : 0;
            if (ready < 0 || (next.backward && end[0][s][i] < 0)) {
                continue;
            }
            free_at[s] = fmax(free_at[s], ready) + (next.backward ? back : forth);
            end[next.backward][s][i] = free_at[s];
            at[s]++;
            left--;
            more = true;
        }
    }
    cr_assert_eq(left, 0, "%d stages, %d micro-batches: nobody can go on", stages, micros);
    return free_at[0];
}

Test(pipeline, the_time_of_a_window_is_that_of_the_formula) {
    for (int p = 1; p <= 6; p++) {
        for (int m = 1; m <= 12; m++) {
            for (int order = PIPE_1F1B; order <= PIPE_GPIPE; order++) {
                double seconds = seconds_of((PipeOrder)order, p, m, 3, 5), work = 8.0 * m;
                cr_assert_eq(seconds, 8.0 * (m + p - 1));
                cr_assert_float_eq(pipe_bubble(p, m), 1 - work / seconds, 1e-15);
            }
        }
    }
}
