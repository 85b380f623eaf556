/* Token plus position embedding on the CPU. The contract is in embedding.h. A row is one token of
   one sequence: row = b * T + t. */
#include "kernels/embedding.h"
#include "kernels/real.h"

void CPU(embedding_forward)(Real *out, const int32_t *tokens, const Real *wte, const Real *wpe,
                            int B, int T, int C) {
#pragma omp parallel for
    for (int row = 0; row < B * T; row++) {
        Real *to = out + (size_t)row * C;
        const Real *token = tokens[row] >= 0 ? wte + (size_t)tokens[row] * C : NULL;
        const Real *position = wpe != NULL ? wpe + (size_t)(row % T) * C : NULL;
        if (token != NULL && position != NULL) {
            /* out[b][t] = wte[tokens[b][t]] + wpe[t] */
#pragma omp simd
            for (int c = 0; c < C; c++) {
                to[c] = real(to_float(token[c]) + to_float(position[c]));
            }
        } else { /* one of the two, or neither */
            const Real *one = token != NULL ? token : position;
            for (int c = 0; c < C; c++) {
                to[c] = one != NULL ? one[c] : real(0);
            }
        }
    }
}

/* Two sequences may hold the same token, so rows cannot be shared out among threads;
   channels can. */
enum { CHANNELS = 64 };

void CPU(embedding_backward)(float *dwte, float *dwpe, const Real *dout, const int32_t *tokens,
                             int B, int T, int C, int V, const Workspace *workspace) {
    (void)V, (void)workspace;
#pragma omp parallel for
    for (int first = 0; first < C; first += CHANNELS) {
        int last = first + CHANNELS < C ? first + CHANNELS : C;
        for (int row = 0; row < B * T; row++) {
            const Real *from = dout + (size_t)row * C;
            float *dposition = dwpe + (size_t)(row % T) * C;
            /* dwpe[t] += dout[b][t] */
#pragma omp simd
            for (int c = first; c < last; c++) {
                dposition[c] += to_float(from[c]);
            }
            if (tokens[row] < 0) {
                continue;
            }
            float *dtoken = dwte + (size_t)tokens[row] * C;
            /* dwte[tokens[b][t]] += dout[b][t] */
#pragma omp simd
            for (int c = first; c < last; c++) {
                dtoken[c] += to_float(from[c]);
            }
        }
    }
}
