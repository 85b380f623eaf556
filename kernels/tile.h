/**
 * @file tile.h
 * @brief A product of float matrices, a tile of whose sums stays in registers.
 * @ingroup kernels
 *
 * For factors that lie in the cache and products too small for a library (blas.h), which would copy
 * the factors first: docs/performance.md has both speeds.
 */
#ifndef KERNELS_TILE_H
#define KERNELS_TILE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* As many sums as hide the time that one addition takes, and as the registers hold beside a row of
   the second factor. */
#if defined __AVX512F__
enum { TILE_LANES = 16, TILE_ROWS = 8 };
#elif defined __AVX__
enum { TILE_LANES = 8, TILE_ROWS = 4 };
#else
enum { TILE_LANES = 4, TILE_ROWS = 4 };
#endif

/** Columns of a tile, two vectors; it has TILE_ROWS rows. */
enum { TILE_VECTORS = 2, TILE_COLS = TILE_VECTORS * TILE_LANES };

/** @cond */
typedef float TileVector __attribute__((vector_size(TILE_LANES * sizeof(float))));
/** @endcond */

/**
 * c[i][j] = sum_k a[i * a_row + k * a_col] * b[k * b_ld + j], or that added to c[i][j]
 *
 * for TILE_ROWS rows i and TILE_COLS columns j, all of which are read and written.
 *
 * @param     depth  numbers of a sum; may be 0
 * @param     a      first factor: its rows are a_row floats apart, its columns a_col
 * @param     a_row  1 for a factor that is stored transposed
 * @param     a_col  1 for one that is not
 * @param     b      second factor, (depth, TILE_COLS)
 * @param     b_ld   floats from one row of b to the next
 * @param     add    whether c is added to
 * @param[in,out] c  the tile; no overlap with a or b
 * @param     c_ld   floats from one row of c to the next
 */
static inline __attribute__((always_inline)) void tile_multiply(int depth, const float *a,
                                                                int a_row, int a_col,
                                                                const float *b, int b_ld, bool add,
                                                                float *c, int c_ld) {
    TileVector sums[TILE_ROWS][TILE_VECTORS] = {{{0}}};
    for (int k = 0; k < depth; k++) {
        const float *from = a + (size_t)k * a_col, *row = b + (size_t)k * b_ld;
        TileVector factors[TILE_VECTORS];
#pragma GCC unroll 2
        for (int j = 0; j < TILE_VECTORS; j++) {
            memcpy(&factors[j], row + j * TILE_LANES, sizeof factors[j]);
        }
#pragma GCC unroll 8
        for (int i = 0; i < TILE_ROWS; i++) {
#pragma GCC unroll 2
            for (int j = 0; j < TILE_VECTORS; j++) {
                sums[i][j] += from[(size_t)i * a_row] * factors[j];
            }
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < TILE_ROWS; i++) {
#pragma GCC unroll 2
        for (int j = 0; j < TILE_VECTORS; j++) {
            float *to = c + (size_t)i * c_ld + j * TILE_LANES;
            if (add) {
                TileVector before;
                memcpy(&before, to, sizeof before);
                sums[i][j] += before;
            }
            memcpy(to, &sums[i][j], sizeof sums[i][j]);
        }
    }
}

#endif
