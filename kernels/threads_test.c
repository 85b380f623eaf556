#include "kernels/threads.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdlib.h>

static const int sides[] = {0, 1, 15, 31, 33, 64, 128, 129, 191, 192, 193, 256, 384, 600, 1031};
enum { SIDES = sizeof sides / sizeof *sides };

static void expect_covered_once(int M, int N, int max_rows, int max_cols, bool columns_first) {
    Panels panels = panels_cut(M, N, max_rows, max_cols, columns_first);
    char *covered = calloc((size_t)M * (size_t)N + 1, 1);
    CHECK(covered != NULL, "M = %d, N = %d", M, N);
    for (int index = 0; index < panels.count; index++) {
        Panel panel = panels_at(panels, index);
        cr_assert(panel.rows > 0 && panel.rows <= max_rows, "(%d, %d): %d rows", M, N, panel.rows);
        cr_assert(panel.cols > 0 && panel.cols <= max_cols, "(%d, %d): %d cols", M, N, panel.cols);
        for (int i = 0; i < panel.rows * panel.cols; i++) {
            int row = panel.row + i / panel.cols, col = panel.col + i % panel.cols;
            cr_assert(row < M && col < N, "(%d, %d): panel %d has [%d][%d]", M, N, index, row, col);
            cr_assert_eq(covered[row * N + col]++, 0, "(%d, %d): [%d][%d] twice", M, N, row, col);
        }
    }
    for (int i = 0; i < M * N; i++) {
        cr_assert_eq(covered[i], 1, "(%d, %d): [%d][%d] is in no panel", M, N, i / N, i % N);
    }
    free(covered);
}

Test(threads, panels_cover_a_matrix_once) {
    for (int i = 0; i < SIDES * SIDES; i++) {
        expect_covered_once(sides[i / SIDES], sides[i % SIDES], INT_MAX, INT_MAX, false);
        expect_covered_once(sides[i / SIDES], sides[i % SIDES], 256, 384, false);
        expect_covered_once(sides[i / SIDES], sides[i % SIDES], 256, 384, true);
    }
    /* the matrices of a model with 128 channels have work for eight threads */
    cr_assert_eq(panels_cut(384, 128, INT_MAX, INT_MAX, false).count, 8);
    cr_assert_eq(panels_cut(1024, 512, INT_MAX, INT_MAX, false).count, 8);
}

/* Rows are cut only where columns cannot be: eight panels of all rows, or of all columns. */
Test(threads, columns_may_be_cut_first) {
    Panels wide = panels_cut(1024, 768, INT_MAX, INT_MAX, true),
           narrow = panels_cut(1024, 128, INT_MAX, INT_MAX, true);
    cr_assert(wide.rows == 1024 && wide.cols == 96, "(%d, %d)", wide.rows, wide.cols);
    cr_assert(narrow.rows == 128 && narrow.cols == 128, "(%d, %d)", narrow.rows, narrow.cols);
}

/* Whole vectors of a product's kernel, and not too few, unless the matrix itself has fewer. */
Test(threads, panels_are_as_wide_as_a_product_likes) {
    enum { KERNEL = 48, LEAST = 96 };
    for (int i = 0; i < SIDES * SIDES; i++) {
        int M = sides[i / SIDES], N = sides[i % SIDES];
        int cols = panels_cut(M, N, INT_MAX, INT_MAX, false).cols;
        cr_assert(cols == N || (cols % KERNEL == 0 && cols >= LEAST), "(%d, %d): %d columns", M, N,
                  cols);
    }
}
