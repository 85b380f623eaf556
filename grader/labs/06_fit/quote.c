/* Bytes, seconds and peaks: asked for, and compared. The contract is in quote.h. */
#include "grader/labs/06_fit/quote.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/draws.h"
#include "grader/judge_kit.h"
#include "grader/labs/06_fit/choice.h"
#include "grader/labs/06_fit/costs.h"
#include "grader/labs/06_fit/mistakes.h"

/* ---- bytes of a model that is too large to be counted ---------------------------------------- */

/* By its own sums: the small models of the other checks are counted. */
MemoryUse space_large(const Space *space, const Plan *plan) {
    const ModelConfig *c = &space->config;
    ModelConfig planned = plan_config(c, plan);
    int T = space->T;
    size_t N = (size_t)plan->micro_batch * (size_t)T, C = (size_t)c->C, L = (size_t)c->L;
    size_t number = precision_bytes(plan->precision), S = (size_t)plan->checkpoint.segment;
    size_t P = ((size_t)c->V + (size_t)c->T + 2) * C + L * (12 * C * C + 13 * C);
    size_t square = (size_t)c->NH * (size_t)T;
    size_t block = N * (15 * C * number + 16 +
                        (plan->attention == ATTENTION_PLAIN ? square * number
                                                            : (size_t)c->NH * sizeof(float)));
    size_t stream = N * C * number, row = (size_t)logits_stride(c->V);
    S = S == 0 ? L : S;
    size_t before = (L - 1) / S, head = 2 * stream + N * (row * number + 16);
    MemoryUse use = {{0}};
    use.bytes[MEMORY_WEIGHTS] = P * number;
    use.bytes[MEMORY_GRADIENTS] = P * 4;
    use.bytes[MEMORY_OPTIMIZER] = P * (plan->precision == F32 ? 8 : 12);
    use.bytes[MEMORY_ACTIVATIONS] =
        (2 + before) * stream + (L - before * S) * (stream + block) + head;
    use.bytes[MEMORY_WORKSPACE] =
        workspace_bytes(&planned, space->gpu != NULL ? space->gpu : space->device);
    use.bytes[MEMORY_DATA] = 8 * N;
    return use;
}

Space *space_large_new(Check *check) {
    Space *space = space_without_plans(check, false);
    space->config = (ModelConfig){.V = 50257, .T = 1024, .L = 48, .NH = 25, .C = 1600};
    space->T = 1024 - check_int(check, 1, 100);
    return space;
}

void quote_bytes(Check *check) {
    enum { COUNT = 5 };
    Space *space = space_large_new(check);
    Plan plans[COUNT] = {{.micro_batch = check_int(check, 20, 40), .precision = F32},
                         {.micro_batch = check_int(check, 40, 80), .precision = F16},
                         {.micro_batch = check_int(check, 40, 80), .attention = ATTENTION_FLASH},
                         {.micro_batch = check_int(check, 100, 200),
                          .checkpoint = {.segment = 1},
                          .precision = BF16,
                          .attention = ATTENTION_FLASH},
                         {.micro_batch = (1 << 30) / space->T + check_int(check, 1, 100),
                          .checkpoint = {.segment = 1},
                          .precision = F16}};
    int32_t numbers[COUNT * PLAN_NUMBERS];
    char names[COUNT][WIRE_NAME] = {{0}};
    for (int i = 0; i < COUNT; i++) {
        plans[i].window = 2;
        plan_numbers(&plans[i], numbers + i * PLAN_NUMBERS);
        check_want(check, plan_text(&plans[i], names[i]), WIRE_U64, MEMORY_KINDS);
    }
    check_after(check, "bytes_float bytes_half bytes_checkpoint");
    space_give(space);
    check_give(check, "plans", WIRE_I32, numbers, sizeof numbers / sizeof *numbers);
    check_give(check, "names", WIRE_BYTES, names, sizeof names);
    bool good = check_run(check, "bytes", QUICKLY);
    for (int i = 0; i < COUNT && good; i++) {
        MemoryUse use = space_large(space, &plans[i]);
        const uint64_t *got = check_got(check, names[i], WIRE_U64);
        uint64_t want[MEMORY_KINDS], cut[MEMORY_KINDS];
        for (int kind = 0; kind < MEMORY_KINDS; kind++) {
            want[kind] = use.bytes[kind];
            /* an int wraps around at 2^32, and stays off by a multiple of that */
            bool wrapped = (uint32_t)got[kind] == (uint32_t)want[kind];
            cut[kind] = wrapped ? got[kind] : (uint32_t)want[kind];
        }
        check_size(check, "activations beyond 2^32 bytes", want[MEMORY_ACTIVATIONS] > UINT32_MAX);
        ExactSuspect suspect = {"the product does not fit into 32 bits: multiply size_t", cut};
        check_equal(check, names[i], want, MEMORY_KINDS, &suspect, 1);
    }
    space_free(space);
}

/* ---- seconds on drawn machines --------------------------------------------------------------- */

enum { COSTS = 12, OF_STREAMS = COSTS - 2, BEYOND_L = 8 };
static const double WITHIN_FORMULA = 0.01, APART = 0.03, FORGOTTEN = 0.015;

/* A machine on which products, attention, streams and overhead all count for this model. */
static PlanRates draw_rates(Check *check, const ModelConfig *config, int rows, int points) {
    PlanRates rates = {.count = points};
    double C = config->C, block = 24.0 * rows * C * C, speed = 1e9 * check_int(check, 1, 60);
    for (int i = 0; i < rates.count; i++) {
        rates.rows[i] = 48 * check_int(check, 3, 5) / 4 << i;
        for (int p = 0; p < 3; p++) {
            double growth = 1 + 0.6 * i;
            rates.rate[p][i] = speed * growth * (p == F32 ? 1 : 0.1 * check_int(check, 13, 25));
        }
    }
    for (int p = 0; p < 3; p++) {
        double half = p == F32 ? 1 : 0.1 * check_int(check, 14, 25);
        rates.attention[p] = half * speed * config->T / C * 0.1 * check_int(check, 2, 5);
        rates.stream[p] = half * speed / C * check_int(check, 3, 9);
    }
    rates.overhead = block / speed * 0.01 * check_int(check, 3, 8);
    return rates;
}

/* Ops that memory limits take nearly all of the time, so that each of them shows. */
static void let_streams_limit(Check *check, CostAsk *ask) {
    ask->config = (ModelConfig){.V = 260, .T = 16 * check_int(check, 5, 8), .L = 1, .NH = 4};
    ask->config.C = 8 * check_int(check, 7, 9);
    ask->T = ask->config.T - check_int(check, 0, 9);
    ask->plan.micro_batch = check_int(check, 20, 30);
    ask->plan.window = 1;
    ask->rates = draw_rates(check, &ask->config, ask->plan.micro_batch * ask->T, 3);
    for (int p = 0; p < 3; p++) {
        ask->rates.stream[p] /= 40;
    }
}

static CostAsk draw_cost(Check *check, int i, bool again) {
    static const Precision precisions[] = {F32, F16, BF16};
    CostAsk ask = {.config = {.V = check_int(check, 260, 900),
                              .T = 16 * check_int(check, 3, 8),
                              .L = check_int(check, 5, 9),
                              .NH = 1 << check_int(check, 1, 3)}};
    bool largest = i == COSTS - 1; /* GPT-2 XL, and more tokens than 32 bits count */
    if (largest) {
        ask.config = (ModelConfig){.V = 50257, .T = 1024, .L = 48, .NH = 25, .C = 1600};
    } else {
        ask.config.C = ask.config.NH * 8 * check_int(check, 2, 4);
    }
    bool below = i % 6 == 3; /* fewer tokens than the first point of the table has rows */
    ask.T = below ? check_int(check, 16, 30) : ask.config.T - check_int(check, 0, 9);
    ask.plan = (Plan){.micro_batch = i % 3 == 0 ? 1 : check_int(check, 2, i % 3 == 1 ? 4 : 30),
                      .window = check_int(check, 1, 4),
                      .precision = precisions[i % 3],
                      .attention = i / 3 % 2 ? ATTENTION_FLASH : ATTENTION_PLAIN};
    if (largest) {
        ask.plan.micro_batch = (1 << 22) + (1 << 16);
        ask.plan.window = check_int(check, 70000, 90000);
    }
    if (again) {
        ask.plan.checkpoint.segment = i % 4 == 3 ? 0 : check_int(check, 1, 3);
        ask.plan.checkpoint.attention_only = i % 2;
    }
    int points = i == COSTS - 3 ? 1 : check_int(check, 3, 6); /* and fewer rows than that one */
    int rows = largest ? 1 << 12 : ask.plan.micro_batch * ask.T;
    ask.rates = draw_rates(check, &ask.config, rows, points);
    if (i == OF_STREAMS) {
        let_streams_limit(check, &ask);
    }
    if (again && (i == OF_STREAMS || i == BEYOND_L)) { /* a plain step */
        ask.plan.checkpoint.segment = ask.config.L + (i == BEYOND_L);
    }
    ask.config.precision = BF16; /* these mean nothing */
    ask.config.attention = ATTENTION_FLASH;
    return ask;
}

static double ask_expected(const CostAsk *ask, CostFlaw flaw) {
    return cost_expected(&ask->config, ask->T, &ask->plan, &ask->rates, flaw);
}

/* How far two mistakes are apart in these questions. */
static double asks_apart(const CostAsk *asks, CostFlaw a, CostFlaw b) {
    double most = 0;
    for (int i = 0; i < COSTS; i++) {
        most = fmax(most, fabs(ask_expected(&asks[i], a) / ask_expected(&asks[i], b) - 1));
    }
    return most;
}

/* Mistakes about what runs again show only where something does. */
static bool flaw_asked(CostFlaw flaw, bool again) {
    return again || flaw < FLAW_AGAIN_FREE;
}

/* Whether each op shows in one of these questions where it is forgotten. */
static bool asks_tell_ops(const CostAsk *asks) {
    for (int op = 0; op < COST_OPS; op++) {
        double most = 0;
        for (int i = 0; i < COSTS; i++) {
            const CostAsk *a = &asks[i];
            double cost = cost_without(&a->config, a->T, &a->plan, &a->rates, op);
            most = fmax(most, 1 - cost / ask_expected(a, FLAW_NONE));
        }
        if (most < FORGOTTEN) {
            return false;
        }
    }
    return true;
}

/* Whether no known mistake can be taken for right, or for another one. */
static bool asks_tell_all(const CostAsk *asks, bool again) {
    for (int a = FLAW_NONE; a < COST_FLAWS; a++) {
        for (int b = a + 1; b < COST_FLAWS; b++) {
            if (flaw_asked((CostFlaw)a, again) && flaw_asked((CostFlaw)b, again) &&
                asks_apart(asks, (CostFlaw)a, (CostFlaw)b) < APART) {
                return false;
            }
        }
    }
    return true;
}

static bool ask_explained(const CostAsk *ask, double got, CostFlaw flaw) {
    double want = ask_expected(ask, flaw);
    return fabs(got - want) <= WITHIN_FORMULA * want;
}

static bool asks_explained(const CostAsk *asks, const double *got, CostFlaw flaw) {
    for (int i = 0; i < COSTS; i++) {
        if (!ask_explained(&asks[i], got[i], flaw)) {
            return false;
        }
    }
    return true;
}

static bool costs_run(Check *check, const CostAsk *asks, int count) {
    check_give(check, "costs", WIRE_BYTES, asks, (size_t)count * sizeof *asks);
    check_want(check, "seconds", WIRE_F64, (size_t)count);
    return check_run(check, "cost", QUICKLY);
}

void quote_costs(Check *check, bool again) {
    enum { TRIES = 500 };
    CostAsk asks[COSTS];
    char text[PLAN_TEXT];
    int tries = 0;
    do {
        CHECK(tries++ < TRIES, "no machines in %d that tell all mistakes apart", TRIES);
        for (int i = 0; i < COSTS; i++) {
            asks[i] = draw_cost(check, i, again);
        }
    } while (!asks_tell_ops(asks) || !asks_tell_all(asks, again));
    if (!costs_run(check, asks, COSTS)) {
        return;
    }
    const double *got = check_got(check, "seconds", WIRE_F64);
    int wrong = 0;
    while (wrong < COSTS && ask_explained(&asks[wrong], got[wrong], FLAW_NONE)) {
        wrong++;
    }
    int at = wrong < COSTS ? wrong : 0;
    const ModelConfig *c = &asks[at].config;
    check_compared(
        check, wrong == COSTS,
        "%s of V%d L%d NH%d C%d with %d tokens costs %.4g s by plan_cost(), and %.4g s is "
        "right",
        plan_text(&asks[at].plan, text), c->V, c->L, c->NH, c->C, asks[at].T, got[at],
        ask_expected(&asks[at], FLAW_NONE));
    bool known = false;
    for (int flaw = FLAW_NONE + 1; flaw < COST_FLAWS; flaw++) {
        if (flaw_asked((CostFlaw)flaw, again)) {
            bool explained = asks_explained(asks, got, (CostFlaw)flaw);
            check_suspect(check, cost_flaws[flaw], explained);
            known = known || explained;
        }
    }
    bool same = true;
    for (int i = 1; i < COSTS; i++) {
        same = same && got[i] == got[0];
    }
    check_suspect(check, "it is the same number for every plan", same);
    check_suspect(check,
                  "only that of the largest model is wrong: a product or a sum overflows, "
                  "calculate in double",
                  wrong == COSTS - 1 && !known);
}

/* ---- seconds on machines that were measured -------------------------------------------------- */

static const double WITHIN_MEASURED = 0.50;

/* All that takes time takes `slower` times as much. */
static PlanRates rates_slower(PlanRates rates, double slower) {
    for (int p = 0; p < 3; p++) {
        for (int i = 0; i < rates.count; i++) {
            rates.rate[p][i] /= slower;
        }
        rates.attention[p] /= slower;
        rates.stream[p] /= slower;
    }
    rates.overhead *= slower;
    return rates;
}

/* The factor of a course; the same for all its plans. */
static double course_slower(int course, int seed) {
    return 0.25 * (1 + (course * 5 + seed) % 13);
}

/* Seeds the factors; a judge of one check runs in a process of its own. */
static int measured_seed;

static double measured_seconds(int course, int plan) {
    return measured_courses[course].seconds[plan] * course_slower(course, measured_seed);
}

bool quote_measured(Check *check) {
    enum { MOST = 64 * MEASURED_PLANS };
    int count = measured_count * MEASURED_PLANS;
    CHECK(count <= MOST, "more than %d measured plans", MOST);
    CostAsk *asks =
        (CostAsk *)check_doubles(check, (size_t)count * sizeof *asks / sizeof(double) + 1);
    measured_seed = check_int(check, 0, 12);
    check_after(check, "cost_parts cost_again");
    for (int i = 0; i < count; i++) {
        const MeasuredCourse *course = &measured_courses[i / MEASURED_PLANS];
        asks[i] = (CostAsk){
            course->config, course->config.T, measured_plans[i % MEASURED_PLANS],
            rates_slower(course->rates, course_slower(i / MEASURED_PLANS, measured_seed))};
    }
    return costs_run(check, asks, count);
}

void quote_expect_near(Check *check) {
    const double *got = check_got(check, "seconds", WIRE_F64);
    double worst = 0, sum = 0;
    int at = 0, count = measured_count * MEASURED_PLANS;
    char text[PLAN_TEXT];
    for (int i = 0; i < count; i++) {
        double off = fabs(log(got[i] / measured_seconds(i / MEASURED_PLANS, i % MEASURED_PLANS)));
        sum += off;
        if (!(off <= worst)) {
            worst = off;
            at = i;
        }
    }
    const MeasuredCourse *course = &measured_courses[at / MEASURED_PLANS];
    check_tell(
        check,
        "%d plans on machines that were measured: off by %.0f %% in the mean, by %.0f %% at worst",
        count, 100 * (exp(sum / count) - 1), 100 * (exp(worst) - 1));
    if (worst <= log(1 + WITHIN_MEASURED)) {
        check_good(check);
        return;
    }
    check_fail(check, "%s of C%d on %s, took %.4g s; plan_cost() says %.4g",
               plan_text(&measured_plans[at % MEASURED_PLANS], text), course->config.C,
               course->machine, measured_seconds(at / MEASURED_PLANS, at % MEASURED_PLANS),
               got[at]);
}

/* How many times as long the slower of two plans takes. Of different models, or on different
   machines, it is twice: the formula may be off for each in its own way. */
static double order_limit(int a, int b) {
    return a / MEASURED_PLANS == b / MEASURED_PLANS ? 1 + WITHIN_MEASURED : 2;
}

void quote_expect_order(Check *check) {
    const double *got = check_got(check, "seconds", WIRE_F64);
    int count = measured_count * MEASURED_PLANS;
    char text[PLAN_TEXT], other[PLAN_TEXT];
    for (int k = 0; k < count * count; k++) {
        int a = k / count, b = k % count, m = a / MEASURED_PLANS, n = b / MEASURED_PLANS;
        double slow = measured_seconds(m, a % MEASURED_PLANS);
        double fast = measured_seconds(n, b % MEASURED_PLANS);
        if (slow > order_limit(a, b) * fast && !(got[a] > got[b])) {
            check_fail(check,
                       "%s of C%d on %s took %.4g s, %s of C%d on %s %.4g s; plan_cost() says %.4g "
                       "and %.4g",
                       plan_text(&measured_plans[a % MEASURED_PLANS], text),
                       measured_courses[m].config.C, measured_courses[m].machine, slow,
                       plan_text(&measured_plans[b % MEASURED_PLANS], other),
                       measured_courses[n].config.C, measured_courses[n].machine, fast, got[a],
                       got[b]);
            return;
        }
    }
    check_good(check);
}
