/* Softmax and cross-entropy over a range of the vocabulary, on the CPU. The contract is
   in vocab.h. */
#include "kernels/vocab.h"

#include "kernels/real.h"
#include "kernels/vectormath.h"

void CPU(vocab_ids)(int32_t *out, const int32_t *ids, int first, int V, int N) {
    for (int row = 0; row < N; row++) {
        int id = ids[row];
        bool here = id >= first && id - first < V;
        out[row] = id == IGNORE_INDEX ? IGNORE_INDEX : here ? id - first : NOT_HERE;
    }
}

void CPU(vocab_max)(float *max, const Real *logits, int N, int V, int stride) {
#pragma omp parallel for
    for (int row = 0; row < N; row++) {
        const Real *x = logits + (size_t)row * stride;
        float most = -INFINITY;
#pragma omp simd reduction(max : most)
        for (int v = 0; v < V; v++) {
            most = to_float(x[v]) > most ? to_float(x[v]) : most;
        }
        max[row] = most;
    }
}

void CPU(vocab_sum)(float *sum, float *at_target, const Real *logits, const float *max,
                    const int32_t *targets, int N, int V, int stride) {
#pragma omp parallel for
    for (int row = 0; row < N; row++) {
        const Real *x = logits + (size_t)row * stride;
        float all = 0, most = max[row];
#pragma omp simd reduction(+ : all)
        for (int v = 0; v < V; v++) {
            all += expf(to_float(x[v]) - most);
        }
        sum[row] = all;
        at_target[row] = targets[row] >= 0 ? to_float(x[targets[row]]) : 0;
    }
}

void CPU(vocab_loss)(float *losses, float *lse, const float *max, const float *sum,
                     const float *at_target, const int32_t *targets, int N) {
    for (int row = 0; row < N; row++) {
        lse[row] = max[row] + logf(sum[row]);
        losses[row] = targets[row] == IGNORE_INDEX ? 0 : lse[row] - at_target[row];
    }
}

void CPU(vocab_backward)(Real *logits, const float *lse, const int32_t *targets, float dloss, int N,
                         int V, int stride) {
#pragma omp parallel for
    for (int row = 0; row < N; row++) {
        Real *x = logits + (size_t)row * stride;
        int target = targets[row];
        float row_lse = lse[row], factor = target == IGNORE_INDEX ? 0 : dloss;
        float at_target = target >= 0 ? expf(to_float(x[target]) - row_lse) : 0;
        for (int v = 0; v < V && factor == 0; v++) {
            x[v] = real(0);
        }
#pragma omp simd
        for (int v = 0; v < (factor == 0 ? 0 : V); v++) {
            x[v] = real(factor * expf(to_float(x[v]) - row_lse));
        }
        if (target >= 0) {
            x[target] = real(factor * (at_target - 1));
        }
    }
}
