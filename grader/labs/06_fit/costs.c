/* The cost of a plan. The contract is in costs.h. */
#include "grader/labs/06_fit/costs.h"

#include "kernels/cost.h"

const char *const cost_flaws[COST_FLAWS] = {
    [FLAW_NEAREST_RATE] = "between two points of the table the rate lies on a line",
    [FLAW_BEYOND_THE_TABLE] = "outside of the table the rate is that of the nearest point",
    [FLAW_NO_OVERHEAD] = "each op costs rates->overhead as well",
    [FLAW_ATTENTION_AS_PRODUCT] = "attention has a rate of its own: rates->attention",
    [FLAW_NO_STREAM] = "ops that memory limits cost bytes / rates->stream",
    [FLAW_FLOATS_IN_HALF] = "a number in half has 2 bytes: precision_bytes() of the plan",
    [FLAW_RATES_OF_FLOAT] = "the rates are those of the plan's precision",
    [FLAW_NO_BACKWARD] = "the blocks run backward too",
    [FLAW_NO_HEAD] = "the product with the vocabulary is missing, both ways",
    [FLAW_NO_UPDATE] = "the norm of the gradients and AdamW are missing",
    [FLAW_UPDATE_EACH_TIME] = "the optimizer runs once for each update, not for each micro-batch",
    [FLAW_UPDATE_AS_FLOAT] =
        "in half the gradients are unscaled, and the weights rounded from their masters",
    [FLAW_BF16_AS_FLOAT] =
        "in bf16, too, the gradients are unscaled, and the weights rounded from their masters",
    [FLAW_NO_WINDOW] = "an update has plan->window micro-batches",
    [FLAW_WHOLE_BATCH] =
        "the rows of a product are the tokens of a micro-batch, not of the whole batch",
    [FLAW_ALWAYS_PLAIN] =
        "flash attention has more products, and no (T, T) tensor to move: look at plan->attention",
    [FLAW_ALWAYS_FLASH] =
        "the kind of attention is the plan's, not the config's: see plan_config()",
    [FLAW_AGAIN_FREE] = "blocks that run again cost their forward once more",
    [FLAW_AGAIN_ALL] = "the last segment is kept: its blocks do not run again",
    [FLAW_AGAIN_BUT_ONE] = "all blocks before the last segment run again, and no other",
    [FLAW_ATTENTION_ONLY_FREE] = "attention_only runs attention's forward once more in each block",
    [FLAW_ATTENTION_ONLY_FLASH] =
        "flash attention keeps no probabilities: attention_only runs nothing again there",
};

/* Where sums are collected. */
typedef struct CostSum {
    const PlanRates *rates;
    Precision precision;
    double rows, seconds;
    CostFlaw flaw;
    int op, without; /* ops are counted; one of them may be left out */
} CostSum;

/* All but the op that is left out; `times` it runs. */
static void sum_seconds(CostSum *sum, double times, double seconds) {
    double overhead = sum->flaw == FLAW_NO_OVERHEAD ? 0 : sum->rates->overhead;
    if (sum->op++ != sum->without) {
        sum->seconds += times * (seconds + overhead);
    }
}

static double cost_rate(const CostSum *sum) {
    const PlanRates *t = sum->rates;
    const double *rate = t->rate[sum->precision];
    int last = t->count - 1, i = 0;
    double rows = sum->rows;
    if (last == 0) {
        return rate[0];
    }
    while (i < last - 1 && rows > t->rows[i + 1]) {
        i++;
    }
    double share = (rows - t->rows[i]) / (t->rows[i + 1] - t->rows[i]);
    if (sum->flaw != FLAW_BEYOND_THE_TABLE) {
        share = share < 0 ? 0 : share > 1 ? 1 : share;
    }
    if (sum->flaw == FLAW_NEAREST_RATE) {
        share = share < 0.5 ? 0 : 1;
    }
    return rate[i] + share * (rate[i + 1] - rate[i]);
}

static void sum_product(CostSum *sum, double times, Cost cost) {
    sum_seconds(sum, times, cost.flops / cost_rate(sum));
}
static void sum_attention(CostSum *sum, double times, Cost cost) {
    double rate = sum->flaw == FLAW_ATTENTION_AS_PRODUCT ? cost_rate(sum)
                                                         : sum->rates->attention[sum->precision];
    sum_seconds(sum, times, cost.flops / rate);
}
static void sum_stream(CostSum *sum, double times, Precision precision, Cost cost) {
    if (sum->flaw != FLAW_NO_STREAM) {
        sum_seconds(sum, times, cost.bytes / sum->rates->stream[precision]);
    }
}

static double blocks_again(const ModelConfig *config, const Plan *plan, CostFlaw flaw) {
    int L = config->L, S = plan->checkpoint.segment;
    if (S == 0 || S >= L || flaw == FLAW_AGAIN_FREE) {
        return 0;
    }
    int last = L % S == 0 ? S : L % S;
    return flaw == FLAW_AGAIN_ALL ? L : flaw == FLAW_AGAIN_BUT_ONE ? L - 1 : L - last;
}

static void sum_blocks(CostSum *sum, const ModelConfig *config, int T, const Plan *plan) {
    static const int in[] = {1, 1, 1, 4}, out[] = {3, 1, 4, 1}; /* in C, of the four products */
    bool flash = (plan->attention == ATTENTION_FLASH && sum->flaw != FLAW_ALWAYS_PLAIN) ||
                 sum->flaw == FLAW_ALWAYS_FLASH;
    double r = sum->flaw == FLAW_FLOATS_IN_HALF ? 4 : (double)precision_bytes(plan->precision);
    double N = sum->rows, C = config->C, NH = config->NH, B = N / T, L = config->L;
    double forward = L + blocks_again(config, plan, sum->flaw);
    double backward = sum->flaw == FLAW_NO_BACKWARD ? 0 : L, probs = 0;
    if (plan->checkpoint.attention_only &&
        (plan->attention == ATTENTION_PLAIN || sum->flaw == FLAW_ATTENTION_ONLY_FLASH)) {
        probs = sum->flaw == FLAW_ATTENTION_ONLY_FREE ? 0 : L;
    }
    for (int i = 0; i < 4; i++) {
        sum_product(sum, forward, matmul_forward_cost(N, in[i] * C, out[i] * C, true, r));
        sum_product(sum, backward,
                    matmul_backward_cost(N, in[i] * C, out[i] * C, true, true, true, r));
    }
    sum_attention(sum, forward + probs,
                  flash ? flash_forward_cost(B, T, C, NH, r)
                        : attention_forward_cost(B, T, C, NH, r));
    sum_attention(sum, backward,
                  flash ? flash_backward_cost(B, T, C, NH, r)
                        : attention_backward_cost(B, T, C, NH, r));
    Precision p = sum->flaw == FLAW_RATES_OF_FLOAT ? F32 : plan->precision;
    sum_stream(sum, 2 * forward, p, layernorm_forward_cost(N, C, r));
    sum_stream(sum, 2 * backward, p, layernorm_backward_cost(N, C, r));
    sum_stream(sum, 2 * forward, p, residual_forward_cost(N * C, r));
    sum_stream(sum, 2 * backward, p, residual_backward_cost(N * C, false, r));
    sum_stream(sum, forward, p, gelu_forward_cost(N, 4 * C, true, r));
    sum_stream(sum, backward, p, gelu_backward_cost(N, 4 * C, true, r));
}

static void sum_ends(CostSum *sum, const ModelConfig *config, int T, const Plan *plan) {
    double r = sum->flaw == FLAW_FLOATS_IN_HALF ? 4 : (double)precision_bytes(plan->precision);
    double N = sum->rows, C = config->C, V = config->V;
    Precision p = sum->flaw == FLAW_RATES_OF_FLOAT ? F32 : plan->precision;
    sum_stream(sum, 1, p, embedding_forward_cost(N / T, T, C, r));
    sum_stream(sum, 1, p, embedding_backward_cost(N / T, T, C, V, r));
    sum_stream(sum, 1, p, layernorm_forward_cost(N, C, r));
    sum_stream(sum, 1, p, layernorm_backward_cost(N, C, r));
    sum_stream(sum, 1, p, crossentropy_forward_cost(N, V, r));
    sum_stream(sum, 1, p, crossentropy_backward_cost(N, V, true, r));
    if (sum->flaw != FLAW_NO_HEAD) {
        sum_product(sum, 1, matmul_forward_cost(N, C, V, false, r));
        sum_product(sum, 1, matmul_backward_cost(N, C, V, true, true, false, r));
    }
}

static void sum_update(CostSum *sum, const ModelConfig *config, const Plan *plan) {
    double C = config->C, P = (config->V + config->T + 2) * C + config->L * (12 * C * C + 13 * C);
    sum_stream(sum, 1, F32, sumsq_cost(P));
    sum_stream(sum, 1, F32, adamw_cost(P));
    bool as_float = sum->flaw == FLAW_UPDATE_AS_FLOAT ||
                    (sum->flaw == FLAW_BF16_AS_FLOAT && plan->precision == BF16);
    if (plan->precision != F32 && !as_float) {
        sum_stream(sum, 1, F32, unscale_cost(P));
        sum_stream(sum, 1, F32, cast_from_float_cost(P, 2));
    }
}

static double cost_sum(const ModelConfig *config, int T, const Plan *plan, const PlanRates *rates,
                       CostFlaw flaw, int without) {
    double window = flaw == FLAW_NO_WINDOW || flaw == FLAW_WHOLE_BATCH ? 1 : plan->window;
    double rows = (double)plan->micro_batch * T * (flaw == FLAW_WHOLE_BATCH ? plan->window : 1);
    CostSum sum = {rates,  flaw == FLAW_RATES_OF_FLOAT ? F32 : plan->precision, rows, 0, flaw, 0,
                   without};
    sum_blocks(&sum, config, T, plan);
    sum_ends(&sum, config, T, plan);
    sum.seconds *= flaw == FLAW_UPDATE_EACH_TIME ? 1 : window;
    if (flaw != FLAW_NO_UPDATE) {
        sum_update(&sum, config, plan);
    }
    return sum.seconds * (flaw == FLAW_UPDATE_EACH_TIME ? window : 1);
}

double cost_expected(const ModelConfig *config, int T, const Plan *plan, const PlanRates *rates,
                     CostFlaw flaw) {
    return cost_sum(config, T, plan, rates, flaw, -1);
}

double cost_without(const ModelConfig *config, int T, const Plan *plan, const PlanRates *rates,
                    int op) {
    return cost_sum(config, T, plan, rates, FLAW_NONE, op);
}
