/* Schedules and bytes of stages, worked out. The contract is in plans.h. */
#include "grader/labs/13_pipeline/plans.h"

#include <math.h>
#include <stdlib.h>

/* Of a pipeline that no small number holds. @return how many */
static int plans_large(PipeOrder order, int p, PipePlan *plan) {
    const int stage[LARGE_STAGES] = {0, 1, p / 2, p - 2, p - 1};
    const int micros[LARGE_MICROS] = {1, p - 1, p, p + 10};
    for (int i = 0; i < LARGE_STAGES * LARGE_MICROS; i++) {
        plan[i] = (PipePlan){.order = order,
                             .stages = p,
                             .stage = stage[i % LARGE_STAGES],
                             .micros = micros[i / LARGE_STAGES]};
    }
    return LARGE_STAGES * LARGE_MICROS;
}

void plans_all(PipeOrder order, PipePlan plan[ALL_PLANS]) {
    static const int large[LARGE_PIPES] = {17, 33, 65, 130};
    int count = 0;
    for (int p = 1; p <= SMALL_STAGES; p++) {
        for (int m = 1; m <= SMALL_MICROS; m++) {
            for (int s = 0; s < p; s++) {
                plan[count++] = (PipePlan){.order = order, .stages = p, .stage = s, .micros = m};
            }
        }
    }
    for (int i = 0; i < LARGE_PIPES; i++) {
        count += plans_large(order, large[i], plan + count);
    }
    CHECK(count == ALL_PLANS, "%d plans", count);
}

void plans_give(Check *check, const PipePlan *plan, int count) {
    int32_t *n = (int32_t *)check_doubles(check, (size_t)count * PLAN_NUMBERS);
    for (int i = 0; i < count; i++) {
        n[i * PLAN_NUMBERS + PLAN_ORDER] = (int32_t)plan[i].order;
        n[i * PLAN_NUMBERS + PLAN_STAGES] = plan[i].stages;
        n[i * PLAN_NUMBERS + PLAN_STAGE] = plan[i].stage;
        n[i * PLAN_NUMBERS + PLAN_MICROS] = plan[i].micros;
    }
    check_give(check, "plans", WIRE_I32, n, (size_t)count * PLAN_NUMBERS);
}

int plan_in_flight(const PipePlan *plan) {
    int behind = plan->stages - plan->stage;
    return plan->order == PIPE_GPIPE || behind > plan->micros ? plan->micros : behind;
}

void plan_work(const PipePlan *plan, int ahead, bool falling, PipeWork *work) {
    int forwards = 0, backwards = 0, m = plan->micros;
    bool done[MOST_MICROS] = {false};
    for (int k = 0; k < 2 * m; k++) {
        bool forward = forwards < m && forwards - backwards < ahead;
        int micro = forwards;
        if (!forward) {
            for (micro = falling ? forwards - 1 : 0; done[micro];) {
                micro += falling ? -1 : 1;
            }
            done[micro] = true;
        }
        forwards += forward;
        backwards += !forward;
        work[k] = (PipeWork){.micro = micro, .backward = !forward};
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Where a pipeline has come to. */
typedef struct PlanClock {
    int stages, micros;
    PipeWork work[MOST_STAGES][2 * MOST_MICROS];
    int at[MOST_STAGES];                      /* work that is done */
    double now[MOST_STAGES];                  /* when it was */
    double sent[2][MOST_STAGES][MOST_MICROS]; /* a neighbour's side has come; < 0: not yet */
} PlanClock;

/* When the work before that of place `at` has left and what it needs is there; -1: not yet. */
static double plan_ready(const PlanClock *clock, int s) {
    PipeWork next = clock->work[s][clock->at[s]];
    int from = next.backward ? s + 1 : s - 1;
    if (from < 0 || from >= clock->stages) {
        return clock->now[s];
    }
    double sent = clock->sent[next.backward][from][next.micro];
    return sent < 0 ? -1 : fmax(sent, clock->now[s]);
}

double plan_seconds(PipeOrder order, int stages, int micros, const double *forth,
                    const double *back) {
    PlanClock clock = {.stages = stages, .micros = micros};
    for (int s = 0; s < stages; s++) {
        PipePlan plan = {order, stages, s, micros};
        plan_work(&plan, plan_in_flight(&plan), false, clock.work[s]);
        for (int i = 0; i < micros; i++) {
            clock.sent[0][s][i] = clock.sent[1][s][i] = -1;
        }
    }
    for (int left = 2 * stages * micros; left > 0;) {
        int before = left;
        for (int s = 0; s < stages; s++) {
            double ready = clock.at[s] < 2 * micros ? plan_ready(&clock, s) : -1;
            if (ready >= 0) {
                PipeWork work = clock.work[s][clock.at[s]++];
                clock.now[s] = ready + (work.backward ? back[s] : forth[s]);
                clock.sent[work.backward][s][work.micro] = clock.now[s];
                left--;
            }
        }
        if (left == before) {
            return -1;
        }
    }
    double most = 0;
    for (int s = 0; s < stages; s++) {
        most = fmax(most, clock.now[s]);
    }
    return most;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

int plan_cut_down(int L, int p, int s) {
    return L * s / p;
}

int plan_cut_up(int L, int p, int s) {
    return (L * s + p - 1) / p;
}

int plan_cut_near(int L, int p, int s) {
    return (2 * L * s + p) / (2 * p);
}

void plan_blocks(int L, int stages, int stage, int blocks[2]) {
    blocks[0] = TERM_CUT_IS(L, stages, stage);
    blocks[1] = TERM_CUT_IS(L, stages, stage + 1);
}

size_t plan_message(const ModelConfig *config, int B, int T) {
    return (size_t)B * (size_t)T * (size_t)config->C * precision_bytes(config->precision);
}

static size_t plan_elements(const ModelConfig *config, const PipePlan *plan) {
    int blocks[2], count = params_count(config);
    bool first = plan->stage == 0, last = plan->stage == plan->stages - 1;
    Param *params = malloc((size_t)count * sizeof *params);
    CHECK(params != NULL, "no memory for %d parameters", count);
    params_describe(params, config);
    plan_blocks(config->L, plan->stages, plan->stage, blocks);
    size_t elements = 0;
    for (int i = 0; i < count; i++) {
        int layer = params[i].layer;
        bool here = layer >= 0 ? blocks[0] <= layer && layer < blocks[1]
                               : (first && (i == WTE || i == WPE)) || (last && i != WPE);
        elements += here ? params[i].count : 0;
    }
    free(params);
    return elements;
}

static size_t plan_activations(const ModelConfig *config, const PipePlan *plan, int B, int T) {
    int blocks[2];
    plan_blocks(config->L, plan->stages, plan->stage, blocks);
    size_t message = plan_message(config, B, T), N = (size_t)B * (size_t)T;
    size_t row = (size_t)logits_stride(config->V) * precision_bytes(config->precision);
    size_t head = plan->stage == plan->stages - 1 ? message + N * (row + 16) : 0;
    size_t each =
        2 * message + head + (size_t)(blocks[1] - blocks[0]) * peak_of_block(config, B, T);
    size_t in_head = head > 0 ? head + message : 0, in_block = 5 * message;
    return (size_t)plan_in_flight(plan) * each - head + (in_head > in_block ? in_head : in_block);
}

MemoryUse plan_bytes(const ModelConfig *config, const PipePlan *plan, int B, int T) {
    size_t P = plan_elements(config, plan), floats = config->precision == F32 ? 2 : 3;
    size_t ids = (size_t)(plan->stage == 0) + (size_t)(plan->stage == plan->stages - 1);
    MemoryUse use = {{0}};
    use.bytes[MEMORY_WEIGHTS] = P * precision_bytes(config->precision);
    use.bytes[MEMORY_GRADIENTS] = 4 * P;
    use.bytes[MEMORY_OPTIMIZER] = 4 * P * floats;
    use.bytes[MEMORY_ACTIVATIONS] = plan_activations(config, plan, B, T);
    use.bytes[MEMORY_DATA] = (size_t)plan_in_flight(plan) * ids * 4 * (size_t)B * (size_t)T;
    return use;
}

uint64_t plan_wire(const ModelConfig *config, const PipePlan *plan, int B, int T) {
    bool first = plan->stage == 0, last = plan->stage == plan->stages - 1;
    size_t neighbours = (size_t)!first + (size_t)!last;
    size_t tied =
        plan->stages > 1 && (first || last) ? 4 * (size_t)config->V * (size_t)config->C : 0;
    return neighbours * (size_t)plan->micros * plan_message(config, B, T) + tied;
}
