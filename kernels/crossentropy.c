/* Softmax and cross-entropy on the CPU, a row of logits per token. The contract, with both
   formulas, is in crossentropy.h. */
#include "kernels/crossentropy.h"

#include "kernels/real.h"
#include "kernels/vectormath.h"

void CPU(crossentropy_forward)(float *losses, float *lse, const Real *logits,
                               const int32_t *targets, int N, int V, int stride) {
#pragma omp parallel for
    for (int row = 0; row < N; row++) {
        const Real *x = logits + (size_t)row * stride;
        float max = -INFINITY, sum = 0;
        /* max = max_v logits[v]: without it exp overflows from 89 on */
#pragma omp simd reduction(max : max)
        for (int v = 0; v < V; v++) {
            max = to_float(x[v]) > max ? to_float(x[v]) : max;
        }
        /* sum = sum_v exp(logits[v] - max) */
#pragma omp simd reduction(+ : sum)
        for (int v = 0; v < V; v++) {
            sum += expf(to_float(x[v]) - max);
        }
        /* lse = max + log(sum), loss = lse - logits[target] */
        lse[row] = max + logf(sum);
        losses[row] = targets[row] == IGNORE_INDEX ? 0 : lse[row] - to_float(x[targets[row]]);
    }
}

void CPU(crossentropy_backward)(Real *dlogits, const Real *logits, const float *lse,
                                const int32_t *targets, float dloss, int N, int V, int stride) {
    uint32_t keep = keep_mask(dlogits == logits);
#pragma omp parallel for
    for (int row = 0; row < N; row++) {
        const Real *x = logits + (size_t)row * stride;
        Real *dx = dlogits + (size_t)row * stride;
        int target = targets[row];
        if (target == IGNORE_INDEX) {
            for (int v = 0; v < V; v++) {
                dx[v] = real(kept(to_float(dx[v]), keep));
            }
            continue;
        }
        /* The target's own is set aside: in place, the loop below overwrites its logit. */
        float row_lse = lse[row], before = kept(to_float(dx[target]), keep);
        float p = expf(to_float(x[target]) - row_lse);
        /* dlogits[v] += dloss * exp(logits[v] - lse), and less dloss at the target */
#pragma omp simd
        for (int v = 0; v < V; v++) {
            dx[v] = real(kept(to_float(dx[v]), keep) + dloss * expf(to_float(x[v]) - row_lse));
        }
        dx[target] = real(before + dloss * (p - 1));
    }
}
