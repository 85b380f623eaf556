#include "grader/labs/06_fit/space.h"

#include <stdio.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grader/labs/06_fit/costs.h"

const char *plan_text(const Plan *plan, char text[PLAN_TEXT]) {
    char full[2 * PLAN_TEXT];
    snprintf(full, sizeof full, "%d x %d %s %s segment %d%s", plan->window, plan->micro_batch,
             precision_name(plan->precision),
             plan->attention == ATTENTION_PLAIN ? "plain" : "flash", plan->checkpoint.segment,
             plan->checkpoint.attention_only ? " attention_only" : "");
    snprintf(text, PLAN_TEXT, "%.*s", PLAN_TEXT - 1, full);
    return text;
}

void space_give(const Space *space) {
    int32_t ask[ASKS] = {
        [ASK_T] = space->T, [ASK_THREADS] = THREADS, [ASK_GPU] = space->gpu != NULL};
    check_give_config(space->check, &space->config);
    check_give(space->check, "ask", WIRE_I32, ask, ASKS);
}

/* ---- a model, a machine ---------------------------------------------------------------------- */

/* Either the head takes most, or, with many heads and long sequences, attention does. */
static ModelConfig space_random_model(Check *check, bool attention) {
    ModelConfig config = {.V = 256 + check_int(check, 1, attention ? 20 : 120),
                          .T = attention ? check_int(check, 50, 56) : check_int(check, 25, 32),
                          .L = check_int(check, 3, 4),
                          .NH = attention ? 6 : check_int(check, 2, 3),
                          .dropout = 0.1f};
    config.C = attention ? 36 : config.NH * check_int(check, 8, 12);
    return config;
}

/* On a GPU few rows are slow, and half is fast: the micro-batch decides. On a CPU the rows matter
   little, and half is emulated: what runs again decides. */
static PlanRates space_random_rates(Check *check, bool gpu) {
    PlanRates rates = {.count = 9, .overhead = 1e-6 * check_int(check, gpu ? 10 : 1, gpu ? 40 : 2)};
    double rate = 1e9 * check_int(check, 1, 4);
    double growth = (gpu ? 1.4 : 1.01) + 0.01 * check_int(check, 0, gpu ? 30 : 1);
    double half = gpu ? 1.5 + 0.1 * check_int(check, 0, 10) : 0.4 + 0.01 * check_int(check, 0, 20);
    for (int p = 0; p < 3; p++) {
        rates.attention[p] = rate / 2 * (p == F32 ? 1 : half);
        rates.stream[p] = rate / 4;
    }
    for (int i = 0; i < rates.count; i++) {
        rates.rows[i] = 8 << i;
        rates.rate[F32][i] = rate;
        rates.rate[F16][i] = rate * half;
        rates.rate[BF16][i] = rate * half * (check_int(check, 0, 1) ? 0.9 : 1.1);
        rate *= growth;
    }
    return rates;
}

MemoryUse space_counted(const Space *space, const Plan *plan) {
    ModelConfig config = plan_config(&space->config, plan);
    MemoryUse use;
    trainer_measure(&config, (Checkpoint){0}, plan->micro_batch, space->T, space->device, &use);
    use.bytes[MEMORY_ACTIVATIONS] =
        peak_activations(&config, plan->micro_batch, space->T, plan->checkpoint);
    if (space->gpu != NULL) {
        use.bytes[MEMORY_WORKSPACE] = workspace_bytes(&config, space->gpu);
    }
    return use;
}

size_t space_counted_bytes(const Space *space, const Plan *plan) {
    MemoryUse use = space_counted(space, plan);
    return memory_total(&use);
}

/* ---- all plans ------------------------------------------------------------------------------- */

static bool plan_equal(const Plan *a, const Plan *b) {
    return a->micro_batch == b->micro_batch && a->window == b->window &&
           a->checkpoint.segment == b->checkpoint.segment &&
           a->checkpoint.attention_only == b->checkpoint.attention_only &&
           a->precision == b->precision && a->attention == b->attention;
}

const Measured *space_find(const Space *space, const Plan *plan) {
    Plan normal = *plan;
    if (normal.checkpoint.segment == space->config.L) {
        normal.checkpoint.segment = 0;
    }
    if (normal.attention == ATTENTION_FLASH) {
        normal.checkpoint.attention_only = false;
    }
    for (int i = 0; i < space->count; i++) {
        if (plan_equal(&space->plan[i].plan, &normal)) {
            return &space->plan[i];
        }
    }
    return NULL;
}

static void space_add(Space *space, Plan plan) {
    CHECK(space->count < MOST_PLANS, "more than %d plans", MOST_PLANS);
    Plan half = plan;
    half.precision = F16;
    /* Both halves take the same bytes. */
    const Measured *twin = plan.precision == BF16 ? space_find(space, &half) : NULL;
    Measured *to = &space->plan[space->count++];
    to->plan = plan;
    to->cost = cost_expected(&space->config, space->T, &plan, &space->rates, FLAW_NONE);
    to->use = twin != NULL ? twin->use : space_counted(space, &plan);
    to->bytes = memory_total(&to->use);
}

static void space_add_checkpoints(Space *space, Plan plan) {
    int most = plan.attention == ATTENTION_PLAIN;
    for (int segment = 0; segment < space->config.L; segment++) {
        for (int attention_only = 0; attention_only <= most; attention_only++) {
            plan.checkpoint = (Checkpoint){segment, attention_only != 0};
            space_add(space, plan);
        }
    }
}

static int measured_compare(const void *a, const void *b) {
    const Measured *x = *(const Measured *const *)a, *y = *(const Measured *const *)b;
    int bytes = (x->bytes > y->bytes) - (x->bytes < y->bytes);
    return bytes != 0 ? bytes : (x->cost > y->cost) - (x->cost < y->cost);
}

/* Keeps the plans that no smaller one beats. */
static void space_find_front(Space *space) {
    const Measured *all[MOST_PLANS];
    for (int i = 0; i < space->count; i++) {
        all[i] = &space->plan[i];
    }
    qsort(all, (size_t)space->count, sizeof *all, measured_compare);
    for (int i = 0; i < space->count; i++) {
        if (space->fronts == 0 || all[i]->cost < space->front[space->fronts - 1]->cost) {
            space->front[space->fronts++] = all[i];
        }
    }
}

Space *space_without_plans(Check *check, bool gpu) {
    static const int batches[] = {6, 10};
    Space *space = (Space *)check_doubles(check, sizeof(Space) / sizeof(double) + 1);
    *space = (Space){.check = check, .config = space_random_model(check, !gpu)};
    space->rates = space_random_rates(check, gpu);
    space->batch = batches[check_int(check, 0, 1)];
    space->T = space->config.T - check_int(check, 2, 9);
    space->device = judge_device(THREADS);
    if (gpu || check_on_gpu()) {
        check_memory(check, 0);
        space->gpu = device_gpu_new(NULL);
        CHECK(space->gpu != NULL, "there is no GPU");
    }
    return space;
}

Space *space_new(Check *check, bool gpu) {
    static const Precision precisions[] = {F32, F16, BF16};
    Space *space = space_without_plans(check, gpu);
    for (int micro = 1; micro <= space->batch; micro++) {
        for (int i = 0; i < 6 && space->batch % micro == 0; i++) {
            space_add_checkpoints(space,
                                  (Plan){.micro_batch = micro,
                                         .window = space->batch / micro,
                                         .precision = precisions[i / 2],
                                         .attention = i % 2 ? ATTENTION_FLASH : ATTENTION_PLAIN});
        }
    }
    space_find_front(space);
    return space;
}

void space_free(Space *space) {
    device_free(space->device);
    device_free(space->gpu);
}
