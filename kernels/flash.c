/* Causal attention on the CPU that keeps one number per row instead of T probabilities; the
   contract is in flash.h. A panel's scores fit in the cache as a whole, so the softmax needs no
   running maximum: that trick is for the GPU's tiles. As there, backward computes the probabilities
   again. */
#include "kernels/flash.h"
#include "kernels/attention_head.h"

void CPU(flash_forward)(Real *out, float *lse, const Real *qkv, int B, int T, int C, int NH,
                        const Workspace *workspace) {
    int HS = C / NH;
    float scale = 1 / sqrtf((float)HS);
    /* each (sequence, head) is a task of its own: no two write to the same numbers */
#pragma omp parallel for
    for (int index = 0; index < B * NH; index++) {
        AttentionHead head = head_new(workspace, T, HS);
        int b = index / NH, h = index % NH;
        const Real *from = qkv + (size_t)b * T * 3 * C + h * HS;
        head_read_qkv(head, from, C);
        for (int first = 0; first < T; first += HEAD_ROWS) {
            int rows = T - first < HEAD_ROWS ? T - first : HEAD_ROWS, cols = first + rows;
            float sum[HEAD_ROWS];
            /* score[t][s] = q[t] . k[s] */
            head_scores(head, first, rows, cols);
            /* lse[t] = max + log(sum_s exp(score[t][s] - max)), all that is kept of a row */
            for (int row = 0; row < rows; row++) {
                float max;
                sum[row] = head_exponentials(head.p + (size_t)row * head.ld, first + row + 1, cols,
                                             scale, &max);
                lse[(size_t)index * T + first + row] = max * scale + logf(sum[row]);
            }
            /* out[t] = sum_s exp(score[t][s] - max) * v[s] / sum[t] */
            float *y = head.out + (size_t)first * HS;
            blas_sgemm(false, false, rows, HS, cols, head.p, head.ld, head.v, HS, 0, y, HS);
            for (int row = 0; row < rows; row++) {
#pragma omp simd
                for (int i = 0; i < HS; i++) {
                    y[row * HS + i] /= sum[row];
                }
            }
        }
        head_write(out + (size_t)b * T * C + h * HS, head.out, T, HS, C);
    }
}

/* The probabilities of one row from its scores, again. */
static void probabilities(float *p, int visible, int cols, float scale, float lse) {
    /* probs[t][s] = exp(score[t][s] - lse[t]) */
#pragma omp simd
    for (int s = 0; s < visible; s++) {
        p[s] = expf(p[s] * scale - lse);
    }
    memset(p + visible, 0, (size_t)(cols - visible) * sizeof *p);
}

void CPU(flash_backward)(Real *dqkv, const Real *dout, const Real *out, const float *lse,
                         const Real *qkv, int B, int T, int C, int NH, const Workspace *workspace) {
    int HS = C / NH;
    float scale = 1 / sqrtf((float)HS);
#pragma omp parallel for
    for (int index = 0; index < B * NH; index++) {
        AttentionHead head = head_new(workspace, T, HS);
        int b = index / NH, h = index % NH;
        const Real *from = qkv + (size_t)b * T * 3 * C + h * HS;
        const Real *y = out + (size_t)b * T * C + h * HS;
        head_read_qkv(head, from, C);
        head_read(head.out, dout + (size_t)b * T * C + h * HS, T, HS, C);
        memset(head.dq, 0, 3 * (size_t)T * HS * sizeof(float));
        /* panels as in forward; each adds to dk and dv of all the keys that it sees */
        for (int first = 0; first < T; first += HEAD_ROWS) {
            int rows = T - first < HEAD_ROWS ? T - first : HEAD_ROWS, cols = first + rows;
            /* dprobs[t][s] = dout[t] . v[s] */
            blas_sgemm(false, true, rows, cols, HS, head.out + (size_t)first * HS, HS, head.v, HS,
                       0, head.dp, head.ld);
            /* the scores again, as in forward */
            head_scores(head, first, rows, cols);
            float delta[HEAD_ROWS];
            for (int row = 0; row < rows; row++) {
                int t = first + row;
                const float *dy = head.out + (size_t)t * HS;
                float sum = 0;
                /* delta[t] = sum_r probs[t][r] * dprobs[t][r] = sum_i dout[t][i] * out[t][i] */
#pragma omp simd reduction(+ : sum)
                for (int i = 0; i < HS; i++) {
                    sum += dy[i] * to_float(y[(size_t)t * C + i]);
                }
                delta[row] = sum;
                probabilities(head.p + (size_t)row * head.ld, t + 1, cols, scale,
                              lse[(size_t)index * T + t]);
            }
            /* dscore, and from it dq, dk and dv: as in attention.c */
            head_backward(head, first, rows, cols, delta);
        }
        Real *to = dqkv + (size_t)b * T * 3 * C + h * HS;
        head_add_dqkv(to, head, C);
    }
}
