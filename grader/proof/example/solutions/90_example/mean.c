/* Lab 90: a mean. The contract is in labs/90_example/contract.h. */
#include "labs/90_example/contract.h"

#include "common/lab.h"

double example_mean(const float *x, int n) {
#ifndef STUB
    double sum = 0;
    const float *end = x + n;
    while (end > x) {
        sum += (double)*--end;
    }
    return n > 0 ? sum / n : 0;
#else
    (void)x, (void)n;
    TODO("task 1: the mean of x (about 5 lines)");
#endif
}
