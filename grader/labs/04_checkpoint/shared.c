#include "grader/labs/04_checkpoint/shared.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/block.h"
#include "common/optimizer.h"
#include "common/text.h"
#include "grader/picture.h"
#include "grader/probe.h"
#include "grader/probe_events.h"
#include "grader/probe_room.h"

/* Beside the budget: what tensors lose to alignment, and what libraries may still ask for: oneDNN
   some MiB in the products of each thread, of which one at a time leaves little. */
enum {
    PADDING_BYTES = 512 << 10,
    SLACK_BYTES = 2 << 20,
    THREAD_BYTES = 6 << 20,
    ARENA_BYTES = 256 << 20
};

int32_t given_option(const Wire *in, int which) {
    return ((const int32_t *)wire_get(in, "options", WIRE_I32, NULL))[which];
}

/* ---- before and after ------------------------------------------------------------------------ */

/* Each matrix product of a micro-batch's shape runs once, so that libraries have allocated what
   they keep. */
static void model_warm_up(Model *model, const Batch *batch) {
    Rng rng = model->rng;
    model_begin(model, batch, true);
    Real *in = model_embed(model), *out = model_boundary(model, 0);
    Block block = block_alloc(model, 0);
    block_forward(model, 0, out, in, &block);
    model_head_forward(model, out);
    model_head_backward(model, out, 0);
    block_backward(model, 0, model->pass.dx, in, &block);
    model_embed_backward(model);
    model_end(model);
    model_zero_grad(model);
    model->rng = rng;
}

/* The step as far as it came. */
static void steps_give_picture(Memory *memory, Wire *out) {
    picture_give(memory, wire_get(out, "memory", WIRE_U64, NULL));
    memory_record(memory, false);
}

typedef struct ProbeStep {
    Memory *memory;
    Wire *out;
} ProbeStep;

/* Why it did not fit, for the judge's advice: what lies on the stack. */
static void say_what_is_held(void *context) {
    const ProbeStep *step = context;
    Memory *memory = step->memory;
    int blocks = 0, probs = 0, inputs = 0;
    size_t count;
    memory_peak_reset(memory);
    const Tensor *tensor = memory_peak_tensors(memory, &count);
    for (size_t i = 0; i < count; i++) {
        blocks += strcmp(tensor[i].name, "ln1.out") == 0;
        probs += strcmp(tensor[i].name, "attention.probs") == 0;
        inputs += strcmp(tensor[i].name, "residual.out") == 0;
    }
    steps_give_picture(memory, step->out);
    fprintf(stderr, HELD "\n", blocks, probs, inputs);
    exit(1);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Ops have no place for a context of their own. */
static struct SeenRuns {
    const Ops *ops; /* (3) as they were */
    Ops table[3];   /* the same, and what runs in the model is seen */
    const Model *model;
    bool told;                   /* the judge learns of each run as it happens */
    uint64_t blocks, attentions; /* runs so far */
} seen;

/* The block that has this bias; L where none has. */
static int seen_layer(const Real *bias) {
    int layer = 0;
    while (layer < seen.model->config.L &&
           model_block_params(seen.model, layer)[FC_BIAS].weight != bias) {
        layer++;
    }
    return layer;
}

/* Every run of a block has one of these. */
static void see_gelu(Real *out, Real *in, const Real *bias, int N, int C) {
    seen.blocks++;
    if (seen.told) {
        event_tell((char)(TOLD_BLOCK + seen_layer(bias)));
    }
    seen.ops[seen.model->config.precision].gelu_forward(out, in, bias, N, C);
}

/* And one of these; another one makes its probabilities again. */
static void see_attention(Real *out, Real *probs, const Real *qkv, int B, int T, int C, int NH,
                          const Workspace *workspace) {
    seen.attentions++;
    if (seen.told) {
        event_tell(TOLD_ATTENTION);
    }
    seen.ops[seen.model->config.precision].attention_forward(out, probs, qkv, B, T, C, NH,
                                                             workspace);
}

/* From here on what runs in a model is seen, by whatever table it is called. */
static void steps_see(Model *model, bool told) {
    Precision precision = model->config.precision;
    seen.ops = seen.ops == NULL ? model->device->ops : seen.ops;
    seen.model = model;
    seen.told = told;
    memcpy(seen.table, seen.ops, sizeof seen.table);
    seen.table[precision].gelu_forward = see_gelu;
    seen.table[precision].attention_forward = see_attention;
    model->device->ops = seen.table;
    model->ops = &seen.table[precision];
}

/* One pass; its loss (as bits), and where the dropout stream stands. */
static void one_pass(const Wire *in, Wire *out, Model *model, int i, const StepsBy *by) {
    Batch batch = given_batch(in, i);
    double loss = by->forward(model, &batch);
    room_wipe_stack();
    by->backward(model, *(const float *)wire_get(in, "share", WIRE_F32, NULL));
    memcpy((uint64_t *)wire_get(out, "loss", WIRE_U64, NULL) + i, &loss, sizeof loss);
    ((uint64_t *)wire_get(out, "stream", WIRE_U64, NULL))[i] = model->rng.offset;
    event_tell(TOLD_PASS);
}

/* All that libraries and the C library will want is theirs before. */
static void steps_close_room(const Wire *in, Model *model, int passes, int threads) {
    for (int i = 0; i < passes; i++) {
        Batch batch = given_batch(in, i);
        model_warm_up(model, &batch);
    }
    room_close(SLACK_BYTES + (size_t)(threads - 1) * THREAD_BYTES);
}

/* ---- other models ---------------------------------------------------------------------------- */

static void other_is_refused(void *context) {
    fprintf(stderr, OTHER_REFUSED "\n", *(const int *)context);
    exit(1);
}

/* The first tokens of the first micro-batch, in a shape of their own. */
static Batch other_batch(const Wire *in) {
    Batch batch = given_batch(in, 0);
    batch.B = OTHER_B;
    batch.T = OTHER_T;
    batch.valid = 0;
    for (int i = 0; i < OTHER_B * OTHER_T; i++) {
        batch.valid += batch.targets[i] != IGNORE_INDEX;
    }
    return batch;
}

static uint64_t other_hash(const Model *model) {
    static float values[1 << 16];
    uint64_t hash = HASH_BEGIN;
    for (int i = model->param_count; i-- > 0;) {
        const Param *param = &model->params[i];
        CHECK(param->count <= sizeof values / sizeof *values, "%zu numbers", param->count);
        device_download(model->device, values, param->grad, param->count * sizeof *values);
        for (size_t j = 0; j < param->count; j++) {
            uint32_t bits;
            memcpy(&bits, &values[j], sizeof bits);
            hash = hash_add(hash, bits);
        }
    }
    return hash;
}

/* Whether attention ran more often than the runs of blocks and attention_only ask for. */
static bool other_runs_more(const Model *model, uint64_t passes) {
    uint64_t only = model->checkpoint.attention_only ? passes * (uint64_t)model->config.L : 0;
    return seen.attentions > seen.blocks + only;
}

/* A pass, and between its forward and its backward that of a third model, with its own masks. */
static void other_with_one_between(Model *model, Device *device, const Batch *batch, float share,
                                   const StepsBy *by) {
    Memory *memory = memory_new(device, (MemoryOptions){0});
    Model *between = model_new(&model->config, memory, 2);
    between->checkpoint = model->checkpoint;
    by->forward(model, batch);
    by->forward(between, batch);
    by->backward(between, share);
    by->backward(model, share);
    model_free(between);
    memory_free(memory);
}

static void other_run(const Wire *in, Wire *out, Device *device, int i, const StepsBy *by) {
    const OtherModel *other = (const OtherModel *)wire_get(in, "others", WIRE_BYTES, NULL) + i;
    Batch batch = other_batch(in);
    MemoryOptions options = {.budget = by->budget > 0 ? other->budget : 0,
                             .checked = !device->simulated};
    Memory *memory = memory_new(device, options);
    memory_on_refusal(memory, other_is_refused, &i);
    Model *model = model_new(&other->config, memory, 1);
    float share = *(const float *)wire_get(in, "share", WIRE_F32, NULL);
    steps_see(model, false);
    if (other_changes(other)) {
        model->checkpoint = by->budget > 0 ? other->before : (Checkpoint){0};
        by->forward(model, &batch);
        by->backward(model, share);
        memory_peak_reset(memory);
    }
    model->checkpoint = by->budget > 0 ? other->checkpoint : (Checkpoint){0};
    seen.blocks = seen.attentions = 0;
    by->forward(model, &batch);
    by->backward(model, 0);
    double loss = by->forward(model, &batch);
    by->backward(model, share);
    uint64_t *results = (uint64_t *)wire_get(out, "others", WIRE_U64, NULL) + i * OTHER_RESULTS;
    memcpy(&results[0], &loss, sizeof loss);
    results[1] = other_hash(model);
    results[2] = model->rng.offset;
    MemoryUse peak = memory_peak(memory);
    results[3] = by->budget > 0 && memory_total(&peak) > other->after;
    results[4] = other->before.attention_only && other_runs_more(model, 2);
    if (!other_changes(other)) { /* else what is left of the pass before may end the program */
        other_with_one_between(model, device, &batch, share, by);
    }
    results[5] = other_hash(model);
    model_free(model);
    memory_free(memory);
}

static void others_run(const Wire *in, Wire *out, Device *device, const StepsBy *by) {
    size_t bytes;
    wire_get(in, "others", WIRE_BYTES, &bytes);
    for (size_t i = 0; i < bytes / sizeof(OtherModel); i++) {
        other_run(in, out, device, (int)i, by);
    }
}

void steps_run(const Wire *in, Wire *out, const StepsBy *by) {
    int threads = given_option(in, OPTION_THREADS);
    if (by->closed) {
        room_prepare();
    }
    omp_set_num_threads(threads);
    size_t numbers;
    wire_get(in, "shapes", WIRE_I32, &numbers);
    int passes = (int)numbers / 2, window = given_option(in, OPTION_WINDOW);
    ModelConfig config = probe_config(in);
    Device *device = probe_device(given_option(in, OPTION_GPU),
                                  by->closed ? by->budget + PADDING_BYTES : ARENA_BYTES);
    Memory *memory =
        memory_new(device, (MemoryOptions){.budget = by->budget, .checked = !device->simulated});
    ProbeStep step = {memory, out};
    memory_on_refusal(memory, say_what_is_held, &step);
    Model *model =
        model_new(&config, memory, *(const uint64_t *)wire_get(in, "seed", WIRE_U64, NULL));
    Optimizer *optimizer = NULL;
    model->rng.offset = DROPOUT_DRAWN;
    if (passes > window) { /* one is there where the steps are more than one */
        optimizer = optimizer_new(model, (AdamW){.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f});
    }
    if (by->closed) {
        steps_close_room(in, model, passes, threads);
    }
    steps_see(model, true);
    memory_record(memory, by->budget > 0);
    model->checkpoint = by->choose != NULL ? by->choose(in, &config) : (Checkpoint){0};
    for (int i = 0; i < passes; i++) {
        one_pass(in, out, model, i, by);
        if (i == 0) {
            steps_give_picture(memory, out);
        }
        if ((i + 1) % window == 0) {
            hand_back_gradients(out, model, NAME_GRADIENT, "step", i / window);
            if (optimizer != NULL) {
                optimizer_step(optimizer, 1e-2f);
            }
            model_zero_grad(model);
        }
    }
    memory_free(memory); /* looks for what was written past the end of a tensor */
    others_run(in, out, device, by);
}
