/* The loops under test: one program, which is every loop that the judge describes. It is not in a
   handout, and students get it built. */
#define _GNU_SOURCE
#include <omp.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "grader/labs/01_loop/loops/step.h"
#include "grader/wire.h"

enum { ARENA = 64 << 20 };
static const double PERIOD = 2e-3; /* seconds: no experiment says by its time what a loop does */
static const ModelConfig CONFIG = {.V = LOOP_VOCABULARY, .T = LOOP_LENGTH, .L = 1, .NH = 2, .C = 8};

/* ---- an experiment --------------------------------------------------------------------------- */

/* For Optimizer.before_step; its context is where they go. */
static void see_gradients(void *context, const Model *model) {
    float *to = context;
    for (int i = 0; i < model->param_count; i++) {
        memcpy(to, model->params[i].grad, model->params[i].count * sizeof *to);
        to += model->params[i].count;
    }
}

static void see_weights(const Model *model, float *to) {
    for (int i = 0; i < model->param_count; i++) {
        model_download_weight(model, &model->params[i], to);
        to += model->params[i].count;
    }
}

static Batch batch_of(const LoopBatch *given) {
    Batch batch = {
        .B = given->B, .T = given->T, .tokens = given->tokens, .targets = given->targets};
    for (int i = 0; i < batch.B * batch.T; i++) {
        batch.valid += batch.targets[i] != IGNORE_INDEX;
    }
    return batch;
}

static void experiment_run(LoopSpec spec, Device *device, const LoopExperiment *experiment,
                           LoopReply *reply) {
    Memory *memory = memory_new(device, (MemoryOptions){0});
    Model *model = model_new(&CONFIG, memory, experiment->seed);
    CHECK(model_param_elements(model) == LOOP_PARAMS, "%zu", model_param_elements(model));
    Optimizer *optimizer =
        optimizer_new(model, (AdamW){.beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f});
    LoopRun loop = {.spec = spec,
                    .trainer = {.model = model,
                                .optimizer = optimizer,
                                .schedule = experiment->schedule,
                                .max_grad_norm = experiment->max_grad_norm}};
    optimizer->before_step = see_gradients;
    memset(reply, 0, sizeof *reply);
    see_weights(model, reply->weight);
    for (; loop.step < experiment->steps; loop.step++) {
        Batch batch = batch_of(&experiment->batch[loop.step]);
        LoopSeen *seen = &reply->step[loop.step];
        optimizer->context = seen->gradient;
        int ticks = loop.trainer.schedule.step, updates = optimizer->t;
        seen->report = loop_run_step(&loop, &batch);
        seen->ticks = loop.trainer.schedule.step - ticks;
        seen->updates = optimizer->t - updates;
        see_weights(model, seen->weight);
    }
    optimizer_free(optimizer);
    model_free(model);
    memory_free(memory);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Those of `make loops01`, in their order. */
static const LoopSpec AT_HOME[LOOPS_AT_HOME] = {
    {LOOP_RATE, 1, 0},    {LOOP_ZERO, 0, 0},       {LOOP_RIGHT, 1, 0},
    {LOOP_MEAN, 0, 0.2f}, {LOOP_NO_TARGETS, 0, 0}, {LOOP_CLIP, 1, 0},
};

static void wait_until(double end) {
    while (now() < end) {
        double left = end - now();
        struct timespec pause = {0, left > 0 ? (long)(1e9 * left) : 0};
        nanosleep(&pause, NULL);
    }
}

/* Answers until nobody asks any more. */
static void answer(const LoopSpec *spec, int count, uint64_t *experiments) {
    static LoopRequest request;
    static LoopReply reply;
    Device *device = device_cpu_new(ARENA);
    CHECK(device != NULL, "no device");
    while (loop_exchange(false, &request, sizeof request)) {
        double end = now() + PERIOD;
        if (request.number < 0 || request.number >= count || loop_fault(&request.experiment)) {
            break;
        }
        experiment_run(spec[request.number], device, &request.experiment, &reply);
        while (end < now()) {
            end += PERIOD;
        }
        wait_until(end);
        if (experiments != NULL) {
            experiments[request.number]++;
        }
        if (!loop_exchange(true, &reply, sizeof reply)) {
            break;
        }
    }
    device_free(device);
}

int main(int argc, char **argv) {
    omp_set_num_threads(1);
    signal(SIGPIPE, SIG_IGN);
    if (argc == 2 && strcmp(argv[1], "home") == 0) {
        answer(AT_HOME, LOOPS_AT_HOME, NULL);
        return 0;
    }
    size_t bytes, count;
    Wire *in = wire_open(WIRE_IN, false), *out = wire_open(WIRE_OUT, true);
    const LoopSpec *spec = wire_get(in, "loops", WIRE_BYTES, &bytes);
    uint64_t *experiments = wire_get(out, "experiments", WIRE_U64, &count);
    CHECK(bytes == count * sizeof *spec, "%zu bytes of %zu loops", bytes, count);
    memset(experiments, 0, count * sizeof *experiments);
    answer(spec, (int)count, experiments);
    wire_finish(out);
    return 0;
}
