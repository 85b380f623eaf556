/* Lab 04 in the probe: a few steps of a model, by the submission or by the kit alone, in as much
   memory as the judge allows. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "common/optimizer.h"
#include "grader/labs/04_checkpoint/protocol.h"
#include "grader/picture.h"
#include "grader/probe.h"
#include "grader/shape.h"
#include "labs/04_checkpoint/contract.h"

/* Beside the budget: what tensors lose to alignment, and what libraries may still ask for. */
enum { PADDING_BYTES = 512 << 10, SLACK_BYTES = 2 << 20, ARENA_BYTES = 256 << 20 };

typedef double forward_fn(Model *model, const Batch *batch);
typedef void backward_fn(Model *model, float dloss);

static int32_t run_option(const Wire *in, int which) {
    return ((const int32_t *)wire_get(in, "options", WIRE_I32, NULL))[which];
}

/* ---- a closed room --------------------------------------------------------------------------- */

/* Whether one more page can be had under this limit. */
static bool memory_page_fits(rlim_t bytes, rlim_t most) {
    CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){bytes, most}) == 0, "no limit of memory");
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) {
        munmap(page, 4096);
    }
    return page != MAP_FAILED;
}

/* From here on the process gets no memory beside what it has: tensors come from the arena, and
   there is no other place for them. How much it has is found by asking, for /proc is not there. */
static void memory_seal(void) {
#ifndef __SANITIZE_ADDRESS__ /* which reserves the whole address space */
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    rlim_t most = limit.rlim_max, low = 0, high = most == RLIM_INFINITY ? (rlim_t)1 << 40 : most;
    while (high - low > 4096) {
        rlim_t middle = low + (high - low) / 2;
        if (memory_page_fits(middle, most)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high += SLACK_BYTES;
    CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){high, high}) == 0, "no limit of memory");
#endif
}

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
    model->block_forwards = 0;
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

/* One pass; its loss (as bits), where the dropout stream stands, and how many blocks have run. */
static void one_pass(const Wire *in, Wire *out, Model *model, int i, forward_fn *forward,
                     backward_fn *backward) {
    Batch batch = given_batch(in, i);
    double loss = forward(model, &batch);
    backward(model, *(const float *)wire_get(in, "share", WIRE_F32, NULL));
    memcpy((uint64_t *)wire_get(out, "loss", WIRE_U64, NULL) + i, &loss, sizeof loss);
    ((uint64_t *)wire_get(out, "stream", WIRE_U64, NULL))[i] = model->rng.offset;
    ((uint64_t *)wire_get(out, "forwards", WIRE_U64, NULL))[i] = model->block_forwards;
}

static Checkpoint given_checkpoint_of(const Wire *in, const ModelConfig *config, bool by_lab) {
    Checkpoint checkpoint = {run_option(in, OPTION_SEGMENT), run_option(in, OPTION_ATTENTION) != 0};
    if (by_lab && run_option(in, OPTION_ASK_SEGMENT)) {
        Batch batch = given_batch(in, 0);
        checkpoint.segment =
            checkpoint_segment(config, batch.B, batch.T,
                               (size_t) * (const uint64_t *)wire_get(in, "choose", WIRE_U64, NULL));
    }
    return checkpoint;
}

static Device *steps_device(const Wire *in, bool closed, size_t budget) {
    return probe_device(run_option(in, OPTION_GPU), closed ? budget + PADDING_BYTES : ARENA_BYTES);
}

/* Steps by the kit alone have no budget. An optimizer is there where the steps are
   more than one. */
static void steps_run(const Wire *in, Wire *out, bool by_lab) {
    omp_set_num_threads(1);
    size_t numbers, budget = (size_t) * (const uint64_t *)wire_get(in, "budget", WIRE_U64, NULL);
    wire_get(in, "shapes", WIRE_I32, &numbers);
    int passes = (int)numbers / 2, window = run_option(in, OPTION_WINDOW);
    bool closed = by_lab && run_option(in, OPTION_CLOSED);
    ModelConfig config = probe_config(in);
    Device *device = steps_device(in, closed, budget);
    Memory *memory = memory_new(
        device, (MemoryOptions){.budget = by_lab ? budget : 0, .checked = !device->simulated});
    ProbeStep step = {memory, out};
    memory_on_refusal(memory, say_what_is_held, &step);
    Model *model =
        model_new(&config, memory, *(const uint64_t *)wire_get(in, "seed", WIRE_U64, NULL));
    Optimizer *optimizer = NULL;
    if (passes > window) {
        optimizer = optimizer_new(model, (AdamW){.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f});
    }
    if (closed) {
        for (int i = 0; i < passes; i++) {
            Batch batch = given_batch(in, i);
            model_warm_up(model, &batch);
        }
        memory_seal();
    }
    memory_record(memory, by_lab);
    model->checkpoint = given_checkpoint_of(in, &config, by_lab); /* first call of the submission */
    for (int i = 0; i < passes; i++) {
        one_pass(in, out, model, i, by_lab ? checkpoint_forward : model_forward,
                 by_lab ? checkpoint_backward : model_backward);
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
}

static void steps_plain(const Wire *in, Wire *out) {
    steps_run(in, out, false);
}

static void steps_checkpointed(const Wire *in, Wire *out) {
    steps_run(in, out, true);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void checkpoint_bytes_case(const Wire *in, Wire *out) {
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        *shape_answer(in, out, i) =
            checkpoint_bytes(&shape.config, shape.B, shape.T, shape.checkpoint);
    }
}

static void checkpoint_segment_case(const Wire *in, Wire *out) {
    const uint64_t *budget = wire_get(in, "budgets", WIRE_U64, NULL);
    for (int i = 0; i < given_shapes(in); i++) {
        Shape shape = given_shape(in, i);
        *shape_answer(in, out, i) =
            (uint64_t)checkpoint_segment(&shape.config, shape.B, shape.T, (size_t)budget[i]);
    }
}

const ProbeCase probe_cases[] = {
    {"plain", steps_plain},
    {"checkpointed", steps_checkpointed},
    {"bytes", checkpoint_bytes_case},
    {"segment", checkpoint_segment_case},
    {NULL, NULL},
};
