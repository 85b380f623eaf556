/* The cost of an update by a plan; solutions/06_fit/plan.c chooses the plan. The contract is in
   plan.h. */
#include "common/plan.h"

#include "kernels/cost.h"

/* Bytes of a stored number. Costs in FLOPs do not depend on it. */
static const double r = 4;

/* A linear layer from C to OC channels for N tokens,
   with how many products forward and backward. */
static void add_linear(Cost *sum, double forward, double backward, double N, double C, double OC) {
    cost_add(sum, forward, matmul_forward_cost(N, C, OC, true, r));
    cost_add(sum, backward, matmul_backward_cost(N, C, OC, true, true, true, r));
}

/* Attention: what is masked, half of each square, is computed too. */
static void add_attention(Cost *sum, double times, Cost cost) {
    cost.flops *= 2;
    cost_add(sum, times, cost);
}

/* Blocks that run forward a second time: those before the last segment. */
static int blocks_again(int L, int segment) {
    int S = segment > 0 && segment < L ? segment : L;
    return (L - 1) / S * S;
}

/* One micro-batch, forward and backward. */
static Cost cost_of_micro_batch(const ModelConfig *config, int T, const Plan *plan) {
    double B = plan->micro_batch, N = B * T, C = config->C, L = config->L, NH = config->NH;
    double forward = L + blocks_again(config->L, plan->checkpoint.segment);
    Cost sum = {0};
    add_linear(&sum, forward, L, N, C, 3 * C);
    add_linear(&sum, forward, L, N, C, C);
    add_linear(&sum, forward, L, N, C, 4 * C);
    add_linear(&sum, forward, L, N, 4 * C, C);
    add_linear(&sum, 1, 1, N, C, config->V);
    if (plan->attention == ATTENTION_FLASH) {
        add_attention(&sum, forward, flash_forward_cost(B, T, C, NH, r));
        add_attention(&sum, L, flash_backward_cost(B, T, C, NH, r));
        return sum;
    }
    /* Queries by keys, one of two products, is what attention_only runs again. */
    forward += plan->checkpoint.attention_only ? L / 2 : 0;
    add_attention(&sum, forward, attention_forward_cost(B, T, C, NH, r));
    add_attention(&sum, L, attention_backward_cost(B, T, C, NH, r));
    return sum;
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
    Cost cost = cost_of_micro_batch(config, T, plan);
    double rate = rate_at(rates, plan->precision, (double)plan->micro_batch * T);
    return plan->window * (cost.flops / rate + cost.products * rates->overhead);
}
