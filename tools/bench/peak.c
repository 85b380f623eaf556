/* The rate of fused multiplications and additions in registers. The contract is in peak.h. */
#include "tools/bench/peak.h"

#include "kernels/threads.h"
#include "train/measure.h"

/* The widest vector that the build may use. CHAINS of them hide the latency of one addition: two
   units, four or five cycles each. Sixteen registers hold them all. */
#if defined __AVX512F__
enum { VECTOR_BYTES = 64 };
#elif defined __AVX__
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif
enum { CHAINS = 12, LANES = VECTOR_BYTES / (int)sizeof(float), TIMES = 1 << 20, ROUNDS = 3 };

typedef float Vector __attribute__((vector_size(VECTOR_BYTES)));

/* Sums of products that do not wait for one another. @return something of them all, so that none
   is left out by the compiler */
static float chains(float start) {
    Vector x[CHAINS], scale = {0}, sum = {0};
    scale += 0.5f;
    for (int chain = 0; chain < CHAINS; chain++) {
        x[chain] = sum + start * (float)chain;
    }
    for (int time = 0; time < TIMES; time++) {
#pragma GCC unroll 12
        for (int chain = 0; chain < CHAINS; chain++) {
            x[chain] = x[chain] * scale + scale;
        }
    }
    for (int chain = 0; chain < CHAINS; chain++) {
        sum += x[chain];
    }
    float all = 0;
    for (int lane = 0; lane < LANES; lane++) {
        all += sum[lane];
    }
    return all;
}

double peak_flops(void) {
    double rate[ROUNDS], flops = 2.0 * TIMES * CHAINS * LANES * thread_count();
    volatile float kept = 1;
    for (int round = 0; round < ROUNDS; round++) {
        float sum = 0, start = kept;
        double begin = now_ms();
#pragma omp parallel reduction(+ : sum)
        sum += chains(start);
        rate[round] = flops / (now_ms() - begin);
        kept = sum;
    }
    return median(rate, ROUNDS);
}
