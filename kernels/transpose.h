/**
 * @file transpose.h
 * @brief A transposed copy of a matrix, as floats, whatever it is stored in.
 * @ingroup kernels
 */
#ifndef KERNELS_TRANSPOSE_H
#define KERNELS_TRANSPOSE_H

#include <string.h>

#include "kernels/real.h"

/** The side of a block that is transposed in registers. */
enum { TRANSPOSE_SIDE = 8 };

/** @cond */
typedef float TransposeRow __attribute__((vector_size(TRANSPOSE_SIDE * sizeof(float))));
/** @endcond */

/* to[c * to_ld + r] = from[r * from_ld + c] for a block. Three times, rows i and i + 4 are
   interleaved into rows 2 i and 2 i + 1. With the place of a number written as six bits, three of
   its row and three of its column, that rotates them by one; after three times, row and column have
   changed places. */
static inline void transpose_block(float *to, size_t to_ld, const float *from, size_t from_ld) {
    enum { SIDE = TRANSPOSE_SIDE, HALF = SIDE / 2 };
    TransposeRow rows[SIDE], next[SIDE];
    for (int i = 0; i < SIDE; i++) {
        memcpy(&rows[i], from + (size_t)i * from_ld, sizeof rows[i]);
    }
#pragma GCC unroll 3
    for (int turn = 0; turn < 3; turn++) {
#pragma GCC unroll 4
        for (int i = 0; i < HALF; i++) {
            TransposeRow low = rows[i], high = rows[i + HALF];
            next[2 * i] = __builtin_shufflevector(low, high, 0, 8, 1, 9, 2, 10, 3, 11);
            next[2 * i + 1] = __builtin_shufflevector(low, high, 4, 12, 5, 13, 6, 14, 7, 15);
        }
        memcpy(rows, next, sizeof rows);
    }
    for (int i = 0; i < SIDE; i++) {
        memcpy(to + (size_t)i * to_ld, &rows[i], sizeof rows[i]);
    }
}

/**
 * to (cols, rows) = the transpose of from (rows, cols), as floats.
 *
 * It moves whole blocks of TRANSPOSE_SIDE rows and columns, so `to` is written beyond its last row
 * and column, up to the end of their blocks; those numbers mean nothing.
 *
 * @param[out] to        room for `cols` rows, up to the end of their blocks; no overlap
 * @param      to_ld     floats from one row of `to` to the next: at least the same of `rows`
 * @param[in]  from      (rows, cols)
 * @param      from_ld   elements from one row of `from` to the next
 * @param      rows,cols the matrix; may be 0
 */
static inline void transposed_floats(float *to, int to_ld, const Real *from, int from_ld, int rows,
                                     int cols) {
    enum { SIDE = TRANSPOSE_SIDE, RUN = 64 };
    float run[SIDE][RUN] = {{0}};
    for (int row = 0; row < rows; row += SIDE) {
        int count = rows - row < SIDE ? rows - row : SIDE;
        for (int col = 0; col < cols; col += RUN) {
            int n = cols - col < RUN ? cols - col : RUN;
            for (int i = 0; i < count; i++) {
                prefetch_row(from + col, from_ld, row + i, rows, n, false);
                to_floats(run[i], from + (size_t)(row + i) * from_ld + col, (size_t)n);
            }
            for (int i = 0; i < n; i += SIDE) {
                transpose_block(to + (size_t)(col + i) * to_ld + row, (size_t)to_ld, run[0] + i,
                                RUN);
            }
        }
    }
}

#endif
