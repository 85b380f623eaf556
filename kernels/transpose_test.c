#include "kernels/transpose.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "kernels/base.h"

static int whole_blocks(int n) {
    return (n + TRANSPOSE_SIDE - 1) / TRANSPOSE_SIDE * TRANSPOSE_SIDE;
}

/* Each number is another one, and what lies beyond the last block keeps its own. */
static void check_transpose(int rows, int cols) {
    enum { BEYOND = 8, UNTOUCHED = -1 };
    int from_ld = cols + 3, to_ld = whole_blocks(rows) + BEYOND, to_rows = whole_blocks(cols) + 1;
    Real *from = calloc((size_t)(rows + 1) * (size_t)from_ld, sizeof *from);
    float *to = calloc((size_t)to_rows * (size_t)to_ld, sizeof *to);
    CHECK(from != NULL && to != NULL, "rows = %d, cols = %d", rows, cols);
    for (int i = 0; i < rows * from_ld; i++) {
        from[i] = real((float)i);
    }
    for (int i = 0; i < to_rows * to_ld; i++) {
        to[i] = UNTOUCHED;
    }
    transposed_floats(to, to_ld, from, from_ld, rows, cols);
    for (int c = 0; c < to_rows; c++) {
        for (int r = 0; r < to_ld; r++) {
            float got = to[c * to_ld + r];
            if (r < rows && c < cols) {
                cr_assert_eq(got, to_float(from[r * from_ld + c]), "(%d, %d): [%d][%d] is %g", rows,
                             cols, c, r, (double)got);
            } else if (r >= whole_blocks(rows) || c >= whole_blocks(cols)) {
                cr_assert_eq(got, UNTOUCHED, "(%d, %d): [%d][%d] is %g", rows, cols, c, r,
                             (double)got);
            }
        }
    }
    free(from);
    free(to);
}

Test(transpose, is_exact) {
    static const int sides[] = {0, 1, 7, 8, 9, 33, 63, 64, 65, 128, 201};
    enum { SIDES = sizeof sides / sizeof *sides };
    for (int i = 0; i < SIDES * SIDES; i++) {
        check_transpose(sides[i / SIDES], sides[i % SIDES]);
    }
}
