/* Lab 06: what a plan costs. The contracts are in labs/06_fit/contract.h. */
#include "kernels/cost.h"
#include "common/lab.h"
#include "common/params.h"
#include "labs/00_bytes/contract.h"
#include "labs/06_fit/contract.h"

/* A sum of seconds, and what turns an op into seconds. */
typedef struct Bill {
    const PlanRates *rates;
    Precision precision;
    double rows;    /* tokens of a micro-batch */
    double seconds; /* so far */
} Bill;

/* FLOP per second of a matrix product with that many rows. */
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

/* ---- three kinds of ops ---------------------------------------------------------------------- */

static void bill_product(Bill *bill, double times, Cost cost) {
#ifndef STUB
    double rate = rate_at(bill->rates, bill->precision, bill->rows);
    bill->seconds += times * (cost.flops / rate + bill->rates->overhead);
#else
    (void)rate_at, (void)bill, (void)times, (void)cost;
    TODO("task 2: a matrix product costs FLOPs / rate, and overhead (2 lines)");
#endif
}

static void bill_attention(Bill *bill, double times, Cost cost) {
#ifndef STUB
    double rate = bill->rates->attention[bill->precision];
    bill->seconds += times * (cost.flops / rate + bill->rates->overhead);
#else
    (void)bill, (void)times, (void)cost;
    TODO("task 2: attention has a rate of its own (2 lines)");
#endif
}

static void bill_stream(Bill *bill, double times, Precision precision, Cost cost) {
#ifndef STUB
    double rate = bill->rates->stream[precision];
    bill->seconds += times * (cost.bytes / rate + bill->rates->overhead);
#else
    (void)bill, (void)times, (void)precision, (void)cost;
    TODO("task 2: any other op costs bytes / stream, and overhead (2 lines)");
#endif
}

/* ---- a micro-batch --------------------------------------------------------------------------- */

static void bill_attention_forward(Bill *bill, double times, const ModelConfig *config, int T) {
    double B = bill->rows / T, C = config->C, NH = config->NH;
    double r = (double)precision_bytes(bill->precision);
    Cost cost = config->attention == ATTENTION_PLAIN ? attention_forward_cost(B, T, C, NH, r)
                                                     : flash_forward_cost(B, T, C, NH, r);
    bill_attention(bill, times, cost);
}

/* `times` forwards of a block: four products, attention, two norms, two residuals, a GELU. */
static void bill_block_forward(Bill *bill, double times, const ModelConfig *config, int T) {
    double N = bill->rows, C = config->C, r = (double)precision_bytes(bill->precision);
#ifndef STUB
    bill_product(bill, times, matmul_forward_cost(N, C, 3 * C, true, r));
    bill_product(bill, times, matmul_forward_cost(N, C, C, true, r));
    bill_product(bill, times, matmul_forward_cost(N, C, 4 * C, false, r));
    bill_product(bill, times, matmul_forward_cost(N, 4 * C, C, true, r));
    bill_attention_forward(bill, times, config, T);
    bill_stream(bill, 2 * times, bill->precision, layernorm_forward_cost(N, C, r));
    bill_stream(bill, 2 * times, bill->precision, residual_forward_cost(N * C, r));
    bill_stream(bill, times, bill->precision, gelu_forward_cost(N, 4 * C, true, r));
#else
    (void)times, (void)T, (void)N, (void)C, (void)r;
    (void)bill_product, (void)bill_attention_forward, (void)bill_stream;
    TODO("task 2: all ops of a block's forward; common/block.c calls them (about 8 lines)");
#endif
}

static void bill_block_backward(Bill *bill, double times, const ModelConfig *config, int T) {
    double N = bill->rows, C = config->C, NH = config->NH, B = N / T;
    double r = (double)precision_bytes(bill->precision);
#ifndef STUB
    bill_product(bill, times, matmul_backward_cost(N, C, 3 * C, true, true, true, r));
    bill_product(bill, times, matmul_backward_cost(N, C, C, true, true, true, r));
    bill_product(bill, times, matmul_backward_cost(N, C, 4 * C, true, true, true, r));
    bill_product(bill, times, matmul_backward_cost(N, 4 * C, C, true, true, true, r));
    bill_attention(bill, times,
                   config->attention == ATTENTION_PLAIN ? attention_backward_cost(B, T, C, NH, r)
                                                        : flash_backward_cost(B, T, C, NH, r));
    bill_stream(bill, 2 * times, bill->precision, layernorm_backward_cost(N, C, r));
    bill_stream(bill, 2 * times, bill->precision, residual_backward_cost(N * C, false, r));
    bill_stream(bill, times, bill->precision, gelu_backward_cost(N, 4 * C, true, r));
#else
    (void)times, (void)N, (void)C, (void)NH, (void)B, (void)r;
    TODO("task 2: the same of its backward (about 9 lines)");
#endif
}

/* The embedding, the last norm, the product with the vocabulary and the loss, both ways. */
static void bill_ends(Bill *bill, const ModelConfig *config, int T) {
    double N = bill->rows, C = config->C, V = config->V;
    double r = (double)precision_bytes(bill->precision);
    Precision p = bill->precision;
    bill_stream(bill, 1, p, embedding_forward_cost(N / T, T, C, r));
    bill_stream(bill, 1, p, embedding_backward_cost(N / T, T, C, V, r));
    bill_stream(bill, 1, p, layernorm_forward_cost(N, C, r));
    bill_stream(bill, 1, p, layernorm_backward_cost(N, C, r));
    bill_stream(bill, 1, p, crossentropy_forward_cost(N, V, r));
    bill_stream(bill, 1, p, crossentropy_backward_cost(N, V, true, r));
    bill_product(bill, 1, matmul_forward_cost(N, C, V, false, r));
    bill_product(bill, 1, matmul_backward_cost(N, C, V, true, true, false, r));
}

/* Blocks that run forward a second time: those before the last segment. */
static int blocks_again(int L, int segment) {
#ifndef STUB
    int S = segment > 0 && segment < L ? segment : L;
    return (L - 1) / S * S;
#else
    (void)L, (void)segment;
    TODO("task 2: how many blocks run forward twice (2 lines)");
#endif
}

/* Once for each update: the norm of the gradients and AdamW; weights in half are unscaled before,
   and rounded from their masters after it. */
static void bill_update(Bill *bill, const ModelConfig *config) {
    double P = (double)bytes_params(config);
    bill_stream(bill, 1, F32, sumsq_cost(P));
    bill_stream(bill, 1, F32, adamw_cost(P));
#ifndef STUB
    if (bill->precision != F32) {
        bill_stream(bill, 1, F32, unscale_cost(P));
        bill_stream(bill, 1, F32, cast_from_float_cost(P, 2));
    }
#else
    TODO("task 2: what half precision does more, once for each update (about 4 lines)");
#endif
}

double plan_cost(const ModelConfig *config, int T, const Plan *plan, const PlanRates *rates) {
    ModelConfig planned = plan_config(config, plan);
    Bill bill = {rates, plan->precision, (double)plan->micro_batch * T, 0};
    double L = config->L;
    bill_block_forward(&bill, L + blocks_again(config->L, plan->checkpoint.segment), &planned, T);
    bill_block_backward(&bill, L, &planned, T);
    bill_ends(&bill, &planned, T);
#ifndef STUB
    if (plan->checkpoint.attention_only && plan->attention == ATTENTION_PLAIN) {
        bill_attention_forward(&bill, L, &planned, T);
    }
    bill.seconds *= plan->window;
    bill_update(&bill, &planned);
#else
    (void)bill_update;
    TODO("task 2: what attention_only runs again, the window, and the update (about 5 lines)");
#endif
    return bill.seconds;
}
