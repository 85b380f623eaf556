/**
 * @file attention_head.h
 * @brief One head of attention on the CPU, a panel of query rows at a time; for attention.c and
 *        flash.c, which differ only in what they keep of the probabilities.
 * @ingroup kernels
 */
#ifndef KERNELS_ATTENTION_HEAD_H
#define KERNELS_ATTENTION_HEAD_H

#include "kernels/blas.h"
#include "kernels/real.h"
#include "kernels/threads.h"
#include "kernels/tile.h"
#include "kernels/transpose.h"
#include "kernels/vectormath.h"

/**
 * Query rows that are handled together, and keys beside them in the backward pass of flash
 * attention: what such a panel reads and adds to, 0.4 MB with HS = 64, stays in the cache.
 */
enum { HEAD_ROWS = 64, HEAD_KEYS = 256 };

/** Exponentials are computed by whole vectors of this many numbers. */
enum { HEAD_VECTOR = 16 };

/** A thread's scratch memory: one head's tensors as contiguous floats. Rows and columns are whole
    tiles; what they have beyond T and HS is computed like the rest, and means nothing. */
typedef struct AttentionHead {
    int T;      /**< tokens */
    int HS;     /**< numbers of a head */
    int ld;     /**< floats from one row of p and dp to the next */
    int width;  /**< floats from one row of the others to the next */
    float *q;   /**< (T, HS) queries */
    float *k;   /**< (T, HS) keys */
    float *v;   /**< (T, HS) values; in backward turned: head_read_turned() */
    float *kt;  /**< (T, HS) keys, turned */
    float *dq;  /**< (T, HS) backward: gradient of the queries */
    float *dk;  /**< (T, HS) of the keys */
    float *dv;  /**< (T, HS) of the values */
    float *out; /**< (T, HS) the output, or in backward its upstream gradient */
    float *p;   /**< (HEAD_ROWS, T) probabilities, in rows of ld floats */
    float *dp;  /**< (HEAD_ROWS, T) their gradient */
} AttentionHead;

/** A size, rounded up to whole tiles. */
static inline int head_whole(int size) {
    return ceil_div(size, TILE_COLS) * TILE_COLS;
}

/** Floats of an AttentionHead. */
static inline size_t head_floats(int T, int HS) {
    return 8 * (size_t)head_whole(T) * head_whole(HS) +
           2 * (size_t)HEAD_ROWS * blas_ld(head_whole(T));
}

/** Lays an AttentionHead out over the calling thread's slice of the workspace. */
static inline AttentionHead head_new(const Workspace *workspace, int T, int HS) {
    _Static_assert(HEAD_ROWS % TILE_ROWS == 0 && HEAD_KEYS % TILE_COLS == 0,
                   "a panel has whole tiles");
    _Static_assert(HEAD_VECTOR % TILE_ROWS == 0,
                   "what a tile does not see is in a row's last vector");
    int ld = blas_ld(head_whole(T)), width = head_whole(HS);
    size_t matrix = (size_t)head_whole(T) * width;
    float *memory = thread_scratch(workspace, head_floats(T, HS));
    return (AttentionHead){.T = T,
                           .HS = HS,
                           .ld = ld,
                           .width = width,
                           .q = memory,
                           .k = memory + matrix,
                           .v = memory + 2 * matrix,
                           .kt = memory + 3 * matrix,
                           .dq = memory + 4 * matrix,
                           .dk = memory + 5 * matrix,
                           .dv = memory + 6 * matrix,
                           .out = memory + 7 * matrix,
                           .p = memory + 8 * matrix,
                           .dp = memory + 8 * matrix + (size_t)HEAD_ROWS * ld};
}

/** Reads a head's (T, HS) slice out of rows of `stride` numbers. */
static inline void head_read(AttentionHead head, float *to, const Real *from, int stride) {
    rows_to_floats(to, head.width, from, stride, head.T, head.HS);
}

/** The same, turned for head_dots(): TILE_COLS tokens after the others, each (HS, TILE_COLS). */
static inline void head_read_turned(AttentionHead head, float *to, const Real *from, int stride) {
    for (int t = 0; t < head.T; t += TILE_COLS) {
        int tokens = head.T - t < TILE_COLS ? head.T - t : TILE_COLS;
        transposed_floats(to + (size_t)t * head.width, TILE_COLS, from + (size_t)t * stride, stride,
                          tokens, head.HS);
    }
}

/** Reads for the forward pass: in a row of qkv, query, key and value lie C numbers apart. */
static inline void head_read_forward(AttentionHead head, const Real *qkv, int C) {
    head_read(head, head.q, qkv, 3 * C);
    head_read_turned(head, head.kt, qkv + C, 3 * C);
    head_read(head, head.v, qkv + 2 * C, 3 * C);
}

/** Reads what both backward passes need: all but the turned keys. */
static inline void head_read_backward(AttentionHead head, const Real *qkv, const Real *dout,
                                      int C) {
    head_read(head, head.q, qkv, 3 * C);
    head_read(head, head.k, qkv + C, 3 * C);
    head_read_turned(head, head.v, qkv + 2 * C, 3 * C);
    head_read(head, head.out, dout, C);
}

/** Writes a head's (T, HS) slice back. */
static inline void head_write(AttentionHead head, Real *to, const float *from, int stride) {
    for (int t = 0; t < head.T; t++) {
        prefetch_row(to, stride, t, head.T, head.HS, true);
        reals(to + (size_t)t * stride, from + (size_t)t * head.width, (size_t)head.HS);
    }
}

/** Writes head.dq, dk and dv where the gradients of queries, keys and values belong. */
static inline void head_write_dqkv(AttentionHead head, Real *dqkv, int C) {
    head_write(head, dqkv, head.dq, 3 * C);
    head_write(head, dqkv + C, head.dk, 3 * C);
    head_write(head, dqkv + 2 * C, head.dv, 3 * C);
}

/** How many of the panel's keys, which are its columns, its query `row` sees. */
static inline int head_visible(Panel panel, int row) {
    int past = panel.row + row + 1 - panel.col;
    return past < panel.cols ? past : panel.cols;
}

/* The first row of the panel's tiles that see its key s. */
static inline int first_tile(Panel panel, int s) {
    int row = panel.col + s - panel.row;
    return row > 0 ? row / TILE_ROWS * TILE_ROWS : 0;
}

/**
 * to[t][s] = rows[t] . keys[s] for the panel's queries t and keys s, as far as t sees s, and some
 * beyond.
 *
 * @param      rows (T, HS)
 * @param      keys (T, HS), turned
 * @param[out] to   head.p or head.dp
 */
static inline void head_dots(AttentionHead head, Panel panel, const float *rows, const float *keys,
                             float *to) {
    int width = head.width, ld = head.ld;
    for (int s = 0; s < panel.cols; s += TILE_COLS) {
        const float *turned = keys + (size_t)(panel.col + s) * width;
        for (int t = first_tile(panel, s); t < panel.rows; t += TILE_ROWS) {
            tile_multiply(head.HS, rows + (size_t)(panel.row + t) * width, width, 1, turned,
                          TILE_COLS, false, to + (size_t)t * ld + s, ld);
        }
    }
}

/**
 * to[t] = sum_s p[t][s] * keys[s] over the panel's keys s, added but where they are the first.
 *
 * @param         p    head.p or head.dp, 0 where a row does not see
 * @param         keys (T, HS)
 * @param[in,out] to   (T, HS)
 */
static inline void head_sums(AttentionHead head, Panel panel, const float *p, const float *keys,
                             float *to) {
    enum { DEPTH = 64 }; /* rows of a tile's second factor, which stay in the first-level cache */
    int width = head.width, ld = head.ld;
    for (int i = 0; i < width; i += TILE_COLS) {
        for (int s = 0; s < panel.cols; s += DEPTH) {
            const float *from = keys + (size_t)(panel.col + s) * width + i;
            for (int t = first_tile(panel, s); t < panel.rows; t += TILE_ROWS) {
                int depth = head_visible(panel, t + TILE_ROWS - 1) - s;
                tile_multiply(depth < DEPTH ? depth : DEPTH, p + (size_t)t * ld + s, ld, 1, from,
                              width, panel.col + s > 0, to + (size_t)(panel.row + t) * width + i,
                              width);
            }
        }
    }
}

/**
 * to[s] = sum_t p[t][s] * rows[t] over the panel's queries t, added but where they are the first
 * that see key s.
 *
 * @param         p    head.p or head.dp, 0 where a row does not see
 * @param         rows (T, HS)
 * @param[in,out] to   (T, HS)
 */
static inline void head_turned_sums(AttentionHead head, Panel panel, const float *p,
                                    const float *rows, float *to) {
    int width = head.width, ld = head.ld;
    for (int i = 0; i < width; i += TILE_COLS) {
        for (int s = 0; s < panel.cols; s += TILE_ROWS) {
            int t = first_tile(panel, s);
            tile_multiply(panel.rows - t, p + (size_t)t * ld + s, 1, ld,
                          rows + (size_t)(panel.row + t) * width + i, width,
                          panel.col + s < panel.row, to + (size_t)(panel.col + s) * width + i,
                          width);
        }
    }
}

/* Sets what follows the `visible` numbers of a row, up to a whole vector. */
static inline void fill_vector(float *p, int visible, float value) {
    for (int s = visible; s % HEAD_VECTOR != 0; s++) {
        p[s] = value;
    }
}

/**
 * The softmax of a row before its division: turns the scores p[0 ... visible - 1] into
 * exp((score - max) * scale) and what follows them, up to a whole vector, into 0. Less the largest,
 * no exponential can overflow.
 *
 * @param p       a row of head.p
 * @param visible scores of the row that are not in the future, at least 1
 * @param scale   1 / sqrt(HS)
 * @param max     the largest score
 * @return        the sum of the exponentials
 */
static inline float head_exponentials(float *p, int visible, float scale, float *max) {
    float largest = -INFINITY, sum = 0;
    int whole = ceil_div(visible, HEAD_VECTOR) * HEAD_VECTOR;
    fill_vector(p, visible, p[0]);
#pragma omp simd reduction(max : largest)
    for (int s = 0; s < whole; s++) {
        largest = p[s] > largest ? p[s] : largest;
    }
#pragma omp simd
    for (int s = 0; s < whole; s++) {
        p[s] = expf((p[s] - largest) * scale);
    }
    fill_vector(p, visible, 0);
#pragma omp simd reduction(+ : sum)
    for (int s = 0; s < whole; s++) {
        sum += p[s];
    }
    *max = largest;
    return sum;
}

/**
 * The backward products of a panel, with probabilities in head.p and (p * dp summed over a row) in
 * `delta`: turns head.dp into dscore / sqrt(HS) and adds to head.dq, dk and dv.
 */
static inline void head_backward(AttentionHead head, Panel panel, const float *delta) {
    float scale = 1 / sqrtf((float)head.HS);
    head_turned_sums(head, panel, head.p, head.out, head.dv);
    for (int row = 0; row < panel.rows; row++) {
        float *p = head.p + (size_t)row * head.ld, *dp = head.dp + (size_t)row * head.ld;
        /* as far as a tile sees */
        int seen = head_visible(panel, row / TILE_ROWS * TILE_ROWS + TILE_ROWS - 1);
#pragma omp simd
        for (int key = 0; key < seen; key++) {
            dp[key] = p[key] * (dp[key] - delta[row]) * scale;
        }
    }
    head_sums(head, panel, head.dp, head.k, head.dq);
    head_turned_sums(head, panel, head.dp, head.q, head.dk);
}

#endif
