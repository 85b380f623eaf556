/**
 * @file attention_head.h
 * @brief One head of attention on the CPU, a panel of query rows at a time; for attention.c and
 *        flash.c, which differ only in what they keep of the probabilities.
 * @ingroup kernels
 */
#ifndef KERNELS_ATTENTION_HEAD_H
#define KERNELS_ATTENTION_HEAD_H

#include <string.h>

#include "kernels/blas.h"
#include "kernels/real.h"
#include "kernels/threads.h"
#include "kernels/vectormath.h"

/**
 * Query rows that are handled together, and keys beside them in the backward pass of flash
 * attention: what such a panel reads and adds to, 0.4 MB with HS = 64, stays in the cache.
 */
enum { HEAD_ROWS = 64, HEAD_KEYS = 256 };

/** A thread's scratch memory: one head's tensors as contiguous floats. */
typedef struct AttentionHead {
    int T;      /**< tokens */
    int HS;     /**< numbers of a head */
    int ld;     /**< floats from one row of p and dp to the next: blas_ld(T) */
    float *q;   /**< (T, HS) queries */
    float *k;   /**< (T, HS) keys */
    float *v;   /**< (T, HS) values */
    float *dq;  /**< (T, HS) backward: gradient of the queries */
    float *dk;  /**< (T, HS) of the keys */
    float *dv;  /**< (T, HS) of the values */
    float *out; /**< (T, HS) the output, or in backward its upstream gradient */
    float *p;   /**< (HEAD_ROWS, T) probabilities, in rows of ld floats */
    float *dp;  /**< (HEAD_ROWS, T) their gradient */
} AttentionHead;

/** Floats of an AttentionHead. */
static inline size_t head_floats(int T, int HS) {
    return 7 * (size_t)T * HS + 2 * (size_t)HEAD_ROWS * (size_t)blas_ld(T);
}

/** Lays an AttentionHead out over the calling thread's slice of the workspace. */
static inline AttentionHead head_new(const Workspace *workspace, int T, int HS) {
    size_t matrix = (size_t)T * HS;
    float *memory = thread_scratch(workspace, head_floats(T, HS));
    return (AttentionHead){.T = T,
                           .HS = HS,
                           .ld = blas_ld(T),
                           .q = memory,
                           .k = memory + matrix,
                           .v = memory + 2 * matrix,
                           .dq = memory + 3 * matrix,
                           .dk = memory + 4 * matrix,
                           .dv = memory + 5 * matrix,
                           .out = memory + 6 * matrix,
                           .p = memory + 7 * matrix,
                           .dp = memory + 7 * matrix + (size_t)HEAD_ROWS * blas_ld(T)};
}

/** Reads a head's (T, HS) slice out of rows of `stride` numbers. */
static inline void head_read(float *to, const Real *from, int T, int HS, int stride) {
    rows_to_floats(to, HS, from, stride, T, HS);
}

/** Writes a head's (T, HS) slice back. */
static inline void head_write(Real *to, const float *from, int T, int HS, int stride) {
    for (int t = 0; t < T; t++) {
        reals(to + (size_t)t * stride, from + (size_t)t * HS, (size_t)HS);
    }
}

/** Reads the head's queries, keys and values: in a token's row of qkv they lie C numbers apart. */
static inline void head_read_qkv(AttentionHead head, const Real *from, int C) {
    head_read(head.q, from, head.T, head.HS, 3 * C);
    head_read(head.k, from + C, head.T, head.HS, 3 * C);
    head_read(head.v, from + 2 * C, head.T, head.HS, 3 * C);
}

/** Writes head.dq, dk and dv where the gradients of queries, keys and values belong. */
static inline void head_write_dqkv(Real *to, AttentionHead head, int C) {
    head_write(to, head.dq, head.T, head.HS, 3 * C);
    head_write(to + C, head.dk, head.T, head.HS, 3 * C);
    head_write(to + 2 * C, head.dv, head.T, head.HS, 3 * C);
}

/** Scores of a panel's query rows against its keys, which are its columns, into head.p. */
static inline void head_scores(AttentionHead head, Panel panel) {
    int HS = head.HS;
    blas_sgemm(false, true, panel.rows, panel.cols, HS, head.q + (size_t)panel.row * HS, HS,
               head.k + (size_t)panel.col * HS, HS, 0, head.p, head.ld);
}

/** Gradients of a panel's probabilities, into head.dp: dprobs[t][s] = dout[t] . v[s]. */
static inline void head_dprobs(AttentionHead head, Panel panel) {
    int HS = head.HS;
    blas_sgemm(false, true, panel.rows, panel.cols, HS, head.out + (size_t)panel.row * HS, HS,
               head.v + (size_t)panel.col * HS, HS, 0, head.dp, head.ld);
}

/**
 * The softmax of a row before its division: turns the scores p[0 ... visible - 1] into
 * exp((score - max) * scale) and what follows them, to p[cols - 1], into 0. Less the largest, no
 * exponential can overflow.
 *
 * @param p       a row of head.p: whole vectors are computed, beyond `visible` and thrown away
 * @param visible scores of the row that are not in the future, at least 1
 * @param cols    numbers of the row
 * @param scale   1 / sqrt(HS)
 * @param max     the largest score
 * @return        the sum of the exponentials
 */
static inline float head_exponentials(float *p, int visible, int cols, float scale, float *max) {
    enum { VECTOR = 16 };
    float largest = -INFINITY, sums[VECTOR] = {0}, sum = 0;
#pragma omp simd reduction(max : largest)
    for (int s = 0; s < visible; s++) {
        largest = p[s] > largest ? p[s] : largest;
    }
    for (int s = 0; s < visible; s += VECTOR) {
#pragma omp simd
        for (int i = 0; i < VECTOR; i++) {
            p[s + i] = expf((p[s + i] - largest) * scale);
        }
    }
    int whole = ceil_div(visible, VECTOR) * VECTOR, end = cols > whole ? cols : whole;
    memset(p + visible, 0, (size_t)(end - visible) * sizeof *p);
    for (int s = 0; s < whole; s += VECTOR) {
#pragma omp simd
        for (int i = 0; i < VECTOR; i++) {
            sums[i] += p[s + i];
        }
    }
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < VECTOR; i++) {
        sum += sums[i];
    }
    *max = largest;
    return sum;
}

/**
 * The backward products of a panel, with probabilities in head.p and (p * dp summed over a row) in
 * `delta`: turns head.dp into dscore / sqrt(HS) and adds to head.dq, dk and dv.
 */
static inline void head_backward(AttentionHead head, Panel panel, const float *delta) {
    int HS = head.HS, ld = head.ld, rows = panel.rows, keys = panel.cols;
    float scale = 1 / sqrtf((float)HS);
    size_t t = (size_t)panel.row * HS, s = (size_t)panel.col * HS;
    blas_sgemm(true, false, keys, HS, rows, head.p, ld, head.out + t, HS, 1, head.dv + s, HS);
    for (int row = 0; row < rows; row++) {
        float *p = head.p + (size_t)row * ld, *dp = head.dp + (size_t)row * ld;
#pragma omp simd
        for (int key = 0; key < keys; key++) {
            dp[key] = p[key] * (dp[key] - delta[row]) * scale;
        }
    }
    blas_sgemm(false, false, rows, HS, keys, head.dp, ld, head.k + s, HS, 1, head.dq + t, HS);
    blas_sgemm(true, false, keys, HS, rows, head.dp, ld, head.q + t, HS, 1, head.dk + s, HS);
}

#endif
