/**
 * @file cost.h
 * @brief The least cost of each op of ops.h: arithmetic and bytes, given its sizes.
 * @ingroup kernels
 *
 * One table for all who ask: `train --profile`, the benchmarks, plan_cost(). common/watch.h yields
 * the cost of a call as it is made. `r` is the size of a stored number, precision_bytes(); N are
 * rows, B * T tokens in most ops.
 *
 * *Bytes* are those that must move: each tensor is read once where it is read, and written once
 * where it is written, so that one which is added to counts twice. A workspace counts nothing, nor
 * do bytes that are read again: those are an implementation's own affair, and no implementation
 * moves less. tools/bench/cost_test.c holds them against the counts of the simulator.
 *
 * *FLOPs* are those of matrix products, 2 for a multiplication and its addition. All other ops have
 * none: memory limits them, and their arithmetic is not counted.
 *
 * Devices differ in one thing, what they do beyond that. Attention is causal: of each T x T square
 * half is masked, and only the other half counts as arithmetic; the GPU's plain attention computes
 * both, and its flash attention does 2 of backward's 5 products twice. Probabilities are stored
 * whole, zeros too, so that bytes count the square.
 *
 * Source: S. Williams et al., "Roofline: an insightful visual performance model", CACM 52 (2009),
 * p. 66: operations and bytes of a kernel, with caches that never miss twice.
 */
#ifndef KERNELS_COST_H
#define KERNELS_COST_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The cost of a call. */
typedef struct Cost {
    double flops;    /**< of its matrix products; 0 if memory limits it */
    double bytes;    /**< read and written */
    double products; /**< matrix products; attention's, for all heads together, count as one each */
} Cost;

/** sum += times * cost */
static inline void cost_add(Cost *sum, double times, Cost cost) {
    sum->flops += times * cost.flops;
    sum->bytes += times * cost.bytes;
    sum->products += times * cost.products;
}

/** An op that memory limits. */
static inline Cost cost_of_bytes(double bytes) {
    Cost cost = {0, bytes, 0};
    return cost;
}

/** `products` products of (N, C) by (C, OC), or of the shapes that its gradients have. */
static inline Cost cost_of_products(double products, double N, double C, double OC, double bytes) {
    Cost cost = {products * 2 * N * C * OC, bytes, products};
    return cost;
}

/** Writes out, reads a row of wte for each token (one that comes twice counts twice), wpe once. */
static inline Cost embedding_forward_cost(double B, double T, double C, double r) {
    double N = B * T;
    return cost_of_bytes((2 * N + T) * C * r + 4 * N);
}

/** Reads dout and ids, adds to a row of dwte for each token, N or all V of them, and to dwpe. */
static inline Cost embedding_backward_cost(double B, double T, double C, double V, double r) {
    double N = B * T, rows = N < V ? N : V;
    return cost_of_bytes(N * C * r + 8 * (rows + T) * C + 4 * N);
}

/** Reads in, weight and bias, writes out, mean and rstd. */
static inline Cost layernorm_forward_cost(double N, double C, double r) {
    return cost_of_bytes((2 * N + 2) * C * r + 8 * N);
}

/** Reads in, dout, weight, mean and rstd, adds to din, dweight and dbias. */
static inline Cost layernorm_backward_cost(double N, double C, double r) {
    return cost_of_bytes((4 * N + 1) * C * r + 8 * N + 16 * C);
}

/** Reads in, weight and perhaps a bias, writes out: 1 product. */
static inline Cost matmul_forward_cost(double N, double C, double OC, bool bias, double r) {
    double numbers = N * C + C * OC + N * OC + (bias ? OC : 0);
    return cost_of_products(1, N, C, OC, numbers * r);
}

/** Reads dout; 1 product reads weight and adds to din, 1 reads in and adds to dweight. */
static inline Cost matmul_backward_cost(double N, double C, double OC, bool din, bool dweight,
                                        bool dbias, double r) {
    double bytes = N * OC * r;
    bytes += din ? (2 * N * C + C * OC) * r : 0;
    bytes += dweight ? N * C * r + 8 * C * OC : 0;
    bytes += dbias ? 8 * OC : 0;
    return cost_of_products(din + dweight, N, C, OC, bytes);
}

/** The same, where din is written alone. */
static inline Cost matmul_backward_first_cost(double N, double C, double OC, bool din, bool dweight,
                                              bool dbias, double r) {
    Cost cost = matmul_backward_cost(N, C, OC, din, dweight, dbias, r);
    cost.bytes -= din ? N * C * r : 0;
    return cost;
}

/** Reads qkv, writes out and probs: 2 products, queries by keys and probabilities by values. */
static inline Cost attention_forward_cost(double B, double T, double C, double NH, double r) {
    return cost_of_products(2, B * T, T / 2, C, (4 * C + NH * T) * B * T * r);
}

/** Reads dout, probs and qkv, writes dqkv: 4 products, 2 for each of forward's. */
static inline Cost attention_backward_cost(double B, double T, double C, double NH, double r) {
    return cost_of_products(4, B * T, T / 2, C, (7 * C + NH * T) * B * T * r);
}

/** Reads qkv, writes out and lse: the same 2 products, and no square. */
static inline Cost flash_forward_cost(double B, double T, double C, double NH, double r) {
    return cost_of_products(2, B * T, T / 2, C, (4 * C * r + 4 * NH) * B * T);
}

/** Reads dout, out, lse and qkv, writes dqkv: 5 products, since queries by keys runs again. */
static inline Cost flash_backward_cost(double B, double T, double C, double NH, double r) {
    return cost_of_products(5, B * T, T / 2, C, (8 * C * r + 4 * NH) * B * T);
}

/** Reads in, writes out; with a bias reads that, and writes in as well. */
static inline Cost gelu_forward_cost(double N, double C, bool bias, double r) {
    return cost_of_bytes((bias ? 3 * N + 1 : 2 * N) * C * r);
}

/** Reads in and dout, adds to din; in place it is written alone. */
static inline Cost gelu_backward_cost(double N, double C, bool in_place, double r) {
    return cost_of_bytes((in_place ? 3 : 4) * N * C * r);
}

/** Reads in, writes out. The mask is never stored. */
static inline Cost dropout_forward_cost(double n, double r) {
    return cost_of_bytes(2 * n * r);
}

/** Reads dout, adds to din; in place it is written alone. */
static inline Cost dropout_backward_cost(double n, bool in_place, double r) {
    return cost_of_bytes((in_place ? 2 : 3) * n * r);
}

/** Reads stream, branch, weight and bias, writes the sum, out, mean and rstd. */
static inline Cost residual_norm_forward_cost(double N, double C, double r) {
    return cost_of_bytes((4 * N + 2) * C * r + 8 * N);
}

/** Reads dout, the sum, weight, mean and rstd, adds to dsum, dbranch, dweight and dbias; in place
    dbranch is written alone. */
static inline Cost residual_norm_backward_cost(double N, double C, bool in_place, double r) {
    return cost_of_bytes(((in_place ? 5 : 6) * N + 1) * C * r + 8 * N + 16 * C);
}

/** Reads stream and branch, writes out. */
static inline Cost residual_forward_cost(double n, double r) {
    return cost_of_bytes(3 * n * r);
}

/** Reads dout, adds to dbranch and perhaps to dstream. */
static inline Cost residual_backward_cost(double n, bool dstream, double r) {
    return cost_of_bytes((dstream ? 5 : 3) * n * r);
}

/** Reads x and, unless its factor is 0, y; writes y. */
static inline Cost axpby_cost(double n, bool in_place, bool reads_y, double r) {
    return cost_of_bytes((reads_y && !in_place ? 3 : 2) * n * r);
}

/** Reads logits and targets, writes losses and lse. */
static inline Cost crossentropy_forward_cost(double N, double V, double r) {
    return cost_of_bytes(N * V * r + 12 * N);
}

/** Reads logits, lse and targets, adds to dlogits; in place they are written alone. */
static inline Cost crossentropy_backward_cost(double N, double V, bool in_place, double r) {
    return cost_of_bytes((in_place ? 2 : 3) * N * V * r + 8 * N);
}

/** Reads ids, writes those of the range. */
static inline Cost vocab_ids_cost(double N) {
    return cost_of_bytes(8 * N);
}

/** Reads logits, writes maxima. */
static inline Cost vocab_max_cost(double N, double V, double r) {
    return cost_of_bytes(N * V * r + 4 * N);
}

/** Reads logits, maxima and targets, writes sums and the logits of targets. */
static inline Cost vocab_sum_cost(double N, double V, double r) {
    return cost_of_bytes(N * V * r + 16 * N);
}

/** Reads four numbers a row, writes two. */
static inline Cost vocab_loss_cost(double N) {
    return cost_of_bytes(24 * N);
}

/** Reads and writes logits, reads lse and targets. */
static inline Cost vocab_backward_cost(double N, double V, double r) {
    return cost_of_bytes(2 * N * V * r + 8 * N);
}

/** Reads floats, writes stored numbers. */
static inline Cost cast_from_float_cost(double n, double r) {
    return cost_of_bytes(n * (4 + r));
}

/** Reads stored numbers, writes floats. */
static inline Cost cast_to_float_cost(double n, double r) {
    return cost_of_bytes(n * (r + 4));
}

/** Reads the gradient, reads and writes weight, m and v: 7 floats. */
static inline Cost adamw_cost(double n) {
    return cost_of_bytes(28 * n);
}

/** Reads the gradient, reads and writes weight, both codes, and both scales of each 256. */
static inline Cost adam8_cost(double n) {
    return cost_of_bytes(16 * n + n / 16);
}

/** Reads the gradient, reads and writes weight and the factors: `factors` floats of R and C. */
static inline Cost adafactor_cost(double n, double factors) {
    return cost_of_bytes(12 * n + 8 * factors);
}

/** Reads a tensor, adds to one number. */
static inline Cost sumsq_cost(double n) {
    return cost_of_bytes(4 * n + 8);
}

/** Reads and writes. */
static inline Cost scale_cost(double n) {
    return cost_of_bytes(8 * n);
}

/** Reads and writes. The flag is written only where there is something to say. */
static inline Cost unscale_cost(double n) {
    return cost_of_bytes(8 * n);
}

#ifdef __cplusplus
}
#endif

#endif
