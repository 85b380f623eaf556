#include "kernels/attention.h"
#include "kernels/attention_head.h"

/* The probabilities of one row from its scores, 0 where the future is. */
static void softmax(float *p, int visible, int cols, float scale) {
    float max = -INFINITY, sum = 0;
#pragma omp simd reduction(max : max)
    for (int s = 0; s < visible; s++) {
        max = p[s] > max ? p[s] : max;
    }
#pragma omp simd reduction(+ : sum)
    for (int s = 0; s < visible; s++) {
        p[s] = expf((p[s] - max) * scale);
        sum += p[s];
    }
    float norm = 1 / sum;
#pragma omp simd
    for (int s = 0; s < visible; s++) {
        p[s] *= norm;
    }
    memset(p + visible, 0, (size_t)(cols - visible) * sizeof *p);
}

void CPU(attention_forward)(Real *out, Real *probs, const Real *qkv, int B, int T, int C, int NH,
                            const Workspace *workspace) {
    int HS = C / NH;
    float scale = 1 / sqrtf((float)HS);
#pragma omp parallel for
    for (int index = 0; index < B * NH; index++) {
        Head head = head_new(workspace, T, HS);
        int b = index / NH, h = index % NH;
        const Real *from = qkv + (size_t)b * T * 3 * C + h * HS;
        head_read(head.q, from, T, HS, 3 * C);
        head_read(head.k, from + C, T, HS, 3 * C);
        head_read(head.v, from + 2 * C, T, HS, 3 * C);
        for (int first = 0; first < T; first += HEAD_ROWS) {
            int rows = T - first < HEAD_ROWS ? T - first : HEAD_ROWS, cols = first + rows;
            head_scores(head, first, rows, cols);
            for (int row = 0; row < rows; row++) {
                float *p = head.p + (size_t)row * T;
                Real *kept = probs + ((size_t)index * T + first + row) * T;
                softmax(p, first + row + 1, cols, scale);
                for (int s = 0; s < T; s++) {
                    kept[s] = real(s < cols ? p[s] : 0);
                }
            }
            blas_sgemm(false, false, rows, HS, cols, head.p, T, head.v, HS, 0,
                       head.out + (size_t)first * HS, HS);
        }
        head_write(out + (size_t)b * T * C + h * HS, head.out, T, HS, C);
    }
}

void CPU(attention_backward)(Real *dqkv, const Real *dout, const Real *probs, const Real *qkv,
                             int B, int T, int C, int NH, const Workspace *workspace) {
    int HS = C / NH;
#pragma omp parallel for
    for (int index = 0; index < B * NH; index++) {
        Head head = head_new(workspace, T, HS);
        int b = index / NH, h = index % NH;
        const Real *from = qkv + (size_t)b * T * 3 * C + h * HS;
        head_read(head.q, from, T, HS, 3 * C);
        head_read(head.k, from + C, T, HS, 3 * C);
        head_read(head.v, from + 2 * C, T, HS, 3 * C);
        head_read(head.out, dout + (size_t)b * T * C + h * HS, T, HS, C);
        memset(head.dq, 0, 3 * (size_t)T * HS * sizeof(float));
        for (int first = 0; first < T; first += HEAD_ROWS) {
            int rows = T - first < HEAD_ROWS ? T - first : HEAD_ROWS, cols = first + rows;
            blas_sgemm(false, true, rows, cols, HS, head.out + (size_t)first * HS, HS, head.v, HS,
                       0, head.dp, T);
            float delta[HEAD_ROWS];
            for (int row = 0; row < rows; row++) {
                const Real *kept = probs + ((size_t)index * T + first + row) * T;
                float *p = head.p + (size_t)row * T, *dp = head.dp + (size_t)row * T, sum = 0;
#pragma omp simd reduction(+ : sum)
                for (int s = 0; s < cols; s++) {
                    p[s] = to_float(kept[s]);
                    sum += p[s] * dp[s];
                }
                delta[row] = sum;
            }
            head_backward(head, first, rows, cols, delta);
        }
        Real *to = dqkv + (size_t)b * T * 3 * C + h * HS;
        head_add(to, head.dq, T, HS, 3 * C);
        head_add(to + C, head.dk, T, HS, 3 * C);
        head_add(to + 2 * C, head.dv, T, HS, 3 * C);
    }
}

#if !defined REAL_F16 && !defined REAL_BF16
size_t attention_scratch_cpu(int T, int HS) {
    return head_floats(T, HS);
}
#endif
