#include "kernels/gemm.h"

#include <criterion/criterion.h>

#include "common/testkit/fixture.h"

/* Rows begin at multiples of 16 bytes and end between two, in each direction. */
enum { M = 19, N = 13, K = 21, LD = 24 };

/* The product of one pair, by addresses in device memory if `each`; A stored as it is, or as its
   transpose. */
static void check_product(Fixture *f, bool each, bool transposed) {
    double *a = fixture_random(f, M * K, 1), *b = fixture_random(f, K * N, 1);
    double *stored = fixture_zeros(f, M * K), *want = fixture_zeros(f, M * N);
    for (int i = 0; i < M; i++) {
        for (int k = 0; k < K; k++) {
            stored[transposed ? k * M + i : i * K + k] = a[i * K + k];
            for (int j = 0; j < N; j++) {
                want[i * N + j] += a[i * K + k] * b[k * N + j];
            }
        }
    }
    Real *A = transposed ? fixture_rows(f, stored, K, M, LD) : fixture_rows(f, stored, M, K, LD);
    Real *B = fixture_rows(f, b, K, N, LD), *C = fixture_rows(f, NULL, M, N, LD);
    void *addresses[] = {A, NULL, B, NULL, C, NULL}; /* each at a multiple of 16 bytes */
    void **table = (void **)fixture_ids(f, (const int32_t *)addresses, sizeof addresses / 4);
    Matrix x = each ? matrix_each(table, f->precision, LD) : matrix(A, f->precision, LD, 0);
    Matrix y = each ? matrix_each(table + 2, f->precision, LD) : matrix(B, f->precision, LD, 0);
    Matrix z = each ? matrix_each(table + 4, f->precision, LD) : matrix(C, f->precision, LD, 0);
    gemm(z, 1, transposed ? transpose(x) : x, y, 0, M, N, K, 1, &f->workspace);
    fixture_expect_rows(f, each ? "C, by addresses" : "C", C, want, M, N, LD,
                        tolerance_of_op(f->precision, K));
}

Test(gemm, rows_that_end_anywhere) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int i = 0; i < 4 && !f.device->host_memory; i++) {
            check_product(&f, i % 2, i / 2);
        }
    }
}
