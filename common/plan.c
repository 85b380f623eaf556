/* What an update costs by a plan. The contract is in common/lab06.h; the plan itself is chosen in
   solutions/06_fit/plan.c. */
#include "common/lab06.h"

/* Products and their FLOPs, added up. */
typedef struct Work {
    double products, flops;
} Work;

/* A linear layer from C to OC channels for N tokens: `products` times its size (1 forward, 2
   backward: gradients of the input and of the weights). */
static void add_linear(Work *work, double products, double N, double C, double OC) {
    work->products += products;
    work->flops += products * 2 * N * C * OC;
}

/* Products of attention: each multiplies N rows of C numbers with T others. Half of it is masked,
   and computed all the same. */
static void add_attention(Work *work, double products, double N, double T, double C) {
    work->products += products;
    work->flops += products * 2 * N * T * C;
}

static void add_block(Work *work, double passes, double N, double C) {
    add_linear(work, passes, N, C, 3 * C);
    add_linear(work, passes, N, C, C);
    add_linear(work, passes, N, C, 4 * C);
    add_linear(work, passes, N, 4 * C, C);
}

/* Blocks that run forward a second time: those before the last segment. */
static int blocks_again(int L, int segment) {
    int S = segment > 0 && segment < L ? segment : L;
    return (L - 1) / S * S;
}

/* One micro-batch, forward and backward. */
static Work work_of(const ModelConfig *config, int T_, const Plan *plan) {
    double T = T_, N = T * plan->micro_batch, C = config->C, L = config->L;
    double again = blocks_again(config->L, plan->checkpoint.segment);
    bool flash = plan->attention == ATTENTION_FLASH;
    Work work = {0};
    add_block(&work, L + again + 2 * L, N, C);
    /* Queries times keys, probabilities times values: 2 forward, twice as many backward. Flash
       attention has kept no probabilities, so its backward multiplies queries and keys again. */
    add_attention(&work, 2 * (L + again) + (flash ? 5 : 4) * L, N, T, C);
    if (plan->checkpoint.attention_only && !flash) {
        add_attention(&work, L, N, T, C);
    }
    add_linear(&work, 3, N, C, config->V);
    return work;
}

static double rate_at(const PlanRates *rates, Precision precision, double rows) {
    const double *rate = rates->rate[precision];
    int last = rates->count - 1, i = 1;
    if (rows <= rates->rows[0]) {
        return rate[0];
    }
    if (rows >= rates->rows[last]) {
        return rate[last];
    }
    while (rows > rates->rows[i]) {
        i++;
    }
    double from = rates->rows[i - 1], to = rates->rows[i];
    return rate[i - 1] + (rate[i] - rate[i - 1]) * (rows - from) / (to - from);
}

double plan_cost(const ModelConfig *config, int T, const Plan *plan, const PlanRates *rates) {
    CHECK(rates->count >= 1 && rates->count <= PLAN_POINTS, "a table of %d rates", rates->count);
    CHECK(plan->micro_batch >= 1 && plan->window >= 1 && T >= 1, "%d x %d sequences of %d tokens",
          plan->window, plan->micro_batch, T);
    Work work = work_of(config, T, plan);
    double rate = rate_at(rates, plan->precision, (double)plan->micro_batch * T);
    return plan->window * (work.flops / rate + work.products * rates->overhead);
}
