#include "grader/labs/07_optimizers/agree.h"

#include <math.h>
#include <stdio.h>

bool agrees(Agreement *a, double got, double want, double limit) {
    double error = fabs(got - want);
    bool good = isfinite(want) ? error <= limit : !isfinite(got);
    if (good && error > 0) {
        a->nearest = fmax(a->nearest, error / limit);
    }
    return good;
}

/* The largest number of a step, before or after it. */
static double largest(const double *want, const float *before, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        double size = fmax(fabs(want[i]), before != NULL ? fabs((double)before[i]) : 0);
        most = isfinite(size) && size > most ? size : most;
    }
    return most;
}

bool tensor_agrees(Agreement *a, const float *got, const double *want, const float *before,
                   size_t n, Tolerance tolerance, const char *name, int tensor) {
    double scaled = tolerance.scaled * largest(want, before, n);
    for (size_t i = 0; i < n; i++) {
        double limit = tolerance.relative * fabs(want[i]) + scaled;
        if (!agrees(a, (double)got[i], want[i], limit)) {
            snprintf(a->seen, sizeof a->seen,
                     "%s of tensor %d [%zu]: got %.9g, want %.9g, limit %.2g", name, tensor, i,
                     (double)got[i], want[i], limit);
            return false;
        }
    }
    return true;
}
