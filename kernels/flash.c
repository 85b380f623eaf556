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
        head_read_forward(head, from, C);
        for (int first = 0; first < T; first += HEAD_ROWS) {
            int rows = T - first < HEAD_ROWS ? T - first : HEAD_ROWS, cols = first + rows;
            Panel panel = {first, 0, rows, cols};
            float max[HEAD_ROWS], sum[HEAD_ROWS];
            /* score[t][s] = q[t] . k[s] */
            head_dots(head, panel, head.q, head.kt, head.p);
            for (int row = 0; row < rows; row++) {
                sum[row] = head_exponentials(head.p + (size_t)row * head.ld, first + row + 1, scale,
                                             &max[row]);
            }
            /* lse[t] = max + log(sum_s exp(score[t][s] - max)), all that is kept of a row */
            float *row_lse = lse + (size_t)index * T + first;
#pragma omp simd
            for (int row = 0; row < rows; row++) {
                row_lse[row] = max[row] * scale + logf(sum[row]);
            }
            /* out[t] = sum_s exp(score[t][s] - max) * v[s] / sum[t] */
            head_sums(head, panel, head.p, head.v, head.out);
            for (int row = 0; row < rows; row++) {
                float *y = head.out + (size_t)(first + row) * (size_t)head.width;
#pragma omp simd
                for (int i = 0; i < HS; i++) {
                    y[i] /= sum[row];
                }
            }
        }
        head_write(head, out + (size_t)b * T * C + h * HS, head.out, C);
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
        int visible = head_visible(panel, row);
        int whole = ceil_div(visible, HEAD_VECTOR) * HEAD_VECTOR;
        fill_vector(p, visible, p[0]);
        /* probs[t][s] = exp(score[t][s] - lse[t]) */
#pragma omp simd
        for (int s = 0; s < whole; s++) {
            p[s] = expf(p[s] * scale - lse[row]);
        }
        fill_vector(p, visible, 0);
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
        head_read_backward(head, from, dout + (size_t)b * T * C + h * HS, C);
        head_read_turned(head, head.kt, from + C, 3 * C);
        /* rows as in forward, but a part of their keys at a time */
        for (int first = 0; first < T; first += HEAD_ROWS) {
            int rows = T - first < HEAD_ROWS ? T - first : HEAD_ROWS, cols = first + rows;
            float delta[HEAD_ROWS];
            for (int row = 0; row < rows; row++) {
                size_t t = (size_t)(first + row);
                prefetch_row(y, C, first + row, T, HS, false);
                /* delta[t] = sum_r probs[t][r] * dprobs[t][r] = sum_i dout[t][i] * out[t][i] */
                delta[row] = dot(head.out + t * head.width, y + t * C, HS);
            }
            const float *row_lse = lse + (size_t)index * T + first;
            for (int key = 0; key < cols; key += HEAD_KEYS) {
                Panel panel = {first, key, rows, cols - key < HEAD_KEYS ? cols - key : HEAD_KEYS};
                head_dots(head, panel, head.out, head.v, head.dp);
                head_dots(head, panel, head.q, head.kt, head.p);
                probabilities(head, panel, scale, row_lse);
                /* dscore, and from it dq, dk and dv: as in attention.c */
                head_backward(head, panel, delta);
            }
        }
        head_write_dqkv(head, dqkv + (size_t)b * T * 3 * C + h * HS, C);
    }
}
