/* Causal attention on the CPU that keeps one number per row instead of T probabilities; the
   contract is in flash.h. A panel's scores fit in the cache as a whole, so the softmax needs no
   running maximum: that trick is for the GPU's tiles. As there, backward computes the probabilities
   again. With no maximum to find, it goes by keys as well. */
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
            head_scores(head, (Panel){first, 0, rows, cols});
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

static float dot(const float *dout, const Real *out, int HS) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < HS; i++) {
        sum += dout[i] * to_float(out[i]);
    }
    return sum;
}

/* The probabilities of a panel from its scores, again. */
static void probabilities(AttentionHead head, Panel panel, float scale, const float *lse) {
    _Static_assert(HEAD_KEYS % HEAD_ROWS == 0, "a row could see no key of its panel");
    for (int row = 0; row < panel.rows; row++) {
        float *p = head.p + (size_t)row * head.ld;
        int past = panel.row + row + 1 - panel.col;
        int visible = past < panel.cols ? past : panel.cols;
        /* probs[t][s] = exp(score[t][s] - lse[t]) */
#pragma omp simd
        for (int s = 0; s < visible; s++) {
            p[s] = expf(p[s] * scale - lse[row]);
        }
        memset(p + visible, 0, (size_t)(panel.cols - visible) * sizeof *p);
    }
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
        /* rows as in forward, but a part of their keys at a time */
        for (int first = 0; first < T; first += HEAD_ROWS) {
            int rows = T - first < HEAD_ROWS ? T - first : HEAD_ROWS, cols = first + rows;
            float delta[HEAD_ROWS];
            for (int row = 0; row < rows; row++) {
                size_t t = (size_t)(first + row);
                prefetch_row(y, C, first + row, T, HS);
                /* delta[t] = sum_r probs[t][r] * dprobs[t][r] = sum_i dout[t][i] * out[t][i] */
                delta[row] = dot(head.out + t * HS, y + t * C, HS);
            }
            const float *row_lse = lse + (size_t)index * T + first;
            for (int key = 0; key < cols; key += HEAD_KEYS) {
                Panel panel = {first, key, rows, cols - key < HEAD_KEYS ? cols - key : HEAD_KEYS};
                head_dprobs(head, panel);
                head_scores(head, panel);
                probabilities(head, panel, scale, row_lse);
                /* dscore, and from it dq, dk and dv: as in attention.c */
                head_backward(head, panel, delta);
            }
        }
        Real *to = dqkv + (size_t)b * T * 3 * C + h * HS;
        head_write_dqkv(to, head, C);
    }
}
