/**
 * @file try.cuh
 * @brief What the broken programs share: looking at a status, and comparing a result.
 * @ingroup cudasim
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>

/** Ends the program if a CUDA or cuBLAS call failed: 0 is success for both. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        int try_status = (int)(call);                                                              \
        if (try_status != 0) {                                                                     \
            fprintf(stderr, "%s:%d: %s: status %d\n", __FILE__, __LINE__, #call, try_status);      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/** A sum that changes when two elements change places. */
static inline double checksum(const float *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += (i + 1) * (double)x[i];
    }
    return sum;
}

/** Prints the result of a program; returns the status of main(). */
static inline int expect(double got, double want) {
    printf("%.10g, expected %.10g\n", got, want);
    return !(got == want);
}
