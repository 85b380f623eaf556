/**
 * @file threads.h
 * @brief How the CPU ops share out work: fixed panels, a scratch slice for each thread.
 * @ingroup kernels
 *
 * How work is *cut* depends on shapes alone; threads only take the pieces. So results have the same
 * bits with 1 thread as with 16.
 *
 * In every program that links threads.c, threads that wait soon sleep instead of spinning for
 * milliseconds: on a machine that others use too, a thread that spins keeps the core from the one
 * it waits for (`make bench-busy`, docs/performance.md). threads.c sees to it before main(), by
 * GOMP_SPINCOUNT=1000 for gcc's OpenMP, some 50 microseconds, and OMP_WAIT_POLICY=passive for
 * clang's. Where the user has set one of the two, it does nothing. It needs glibc and a PATH in the
 * environment; elsewhere OpenMP's own choice stands.
 */
#ifndef KERNELS_THREADS_H
#define KERNELS_THREADS_H

#ifdef _OPENMP
#include <omp.h>
#endif

#include <stdbool.h>

#include "kernels/base.h"

/** Threads that a parallel loop may use. */
int thread_count(void);

/** The calling thread's own slice of the workspace: at least `floats` floats. */
static inline float *thread_scratch(const Workspace *workspace, size_t floats) {
#ifdef _OPENMP
    size_t thread = (size_t)omp_get_thread_num();
#else
    size_t thread = 0;
#endif
    CHECK(workspace->bytes >= (thread + 1) * floats * sizeof(float),
          "workspace of %zu bytes, thread %zu needs %zu floats", workspace->bytes, thread, floats);
    return (float *)workspace->data + thread * floats;
}

/** A cut of an (M, N) matrix into panels of equal size, the last ones smaller. */
typedef struct Panels {
    int M;     /**< rows of the matrix */
    int N;     /**< columns of the matrix */
    int rows;  /**< rows of a full panel */
    int cols;  /**< columns of a full panel */
    int down;  /**< panels on top of each other */
    int count; /**< panels in all */
} Panels;

/** One panel: where it begins, and its size. */
typedef struct Panel {
    int row;  /**< its first row */
    int col;  /**< its first column */
    int rows; /**< its size, at the edges smaller than others */
    int cols; /**< its size */
} Panel;

/** The integer quotient, rounded up. */
static inline int ceil_div(int a, int b) {
    return (a + b - 1) / b;
}

/**
 * Cuts an (M, N) matrix: in two along the longer side of the panel, until there are eight or until
 * panels are small, then down to the given limits. Eight was measured: fewer leave threads idle,
 * more pack the operands of the product too often. Columns are cut only where a product is left
 * wide enough, and into multiples of 48, three vectors of 16 floats, which is how many columns the
 * products of oneDNN compute at a time (docs/performance.md).
 *
 * @param M,N      the matrix; both may be 0
 * @param max_rows limit of a panel's rows, a multiple of 16
 * @param max_cols limit of a panel's columns, a multiple of 48
 * @param columns_first whether columns are cut while they are wide enough, and rows only then
 */
static inline Panels panels_cut(int M, int N, int max_rows, int max_cols, bool columns_first) {
    enum { WANTED = 8, LOW = 32, NARROW = 192, ROUND_ROWS = 16, ROUND_COLS = 48 };
    Panels panels = {.M = M, .N = N, .rows = M, .cols = N};
    int down = 1, across = 1;
    while (down * across < WANTED && (panels.rows > LOW || panels.cols >= NARROW)) {
        bool wide = (columns_first || panels.cols > panels.rows) && panels.cols >= NARROW;
        if (wide || panels.rows <= LOW) {
            across *= 2;
            panels.cols = ceil_div(ceil_div(N, across), ROUND_COLS) * ROUND_COLS;
        } else {
            down *= 2;
            panels.rows = ceil_div(ceil_div(M, down), ROUND_ROWS) * ROUND_ROWS;
        }
    }
    panels.rows = panels.rows < max_rows ? panels.rows : max_rows;
    panels.cols = panels.cols < max_cols ? panels.cols : max_cols;
    panels.down = M > 0 ? ceil_div(M, panels.rows) : 0;
    panels.count = N > 0 ? panels.down * ceil_div(N, panels.cols) : 0;
    return panels;
}

/** Panel number `index` of a cut. */
static inline Panel panels_at(Panels panels, int index) {
    Panel panel = {.row = index % panels.down * panels.rows,
                   .col = index / panels.down * panels.cols};
    panel.rows = panels.M - panel.row < panels.rows ? panels.M - panel.row : panels.rows;
    panel.cols = panels.N - panel.col < panels.cols ? panels.N - panel.col : panels.cols;
    return panel;
}

#endif
