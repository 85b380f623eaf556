/* Causal attention on the CPU that keeps its probabilities, one head after the other. The contract
   is in attention.h; attention_head.h has the products of a head that flash.c uses too. */
#include "kernels/attention.h"
#include "kernels/attention_head.h"

/* The probabilities of one row from its scores, 0 where the future is. */
static void softmax(float *p, int visible, float scale) {
    float max, norm = 1 / head_exponentials(p, visible, scale, &max);
    /* probs[s] = exp((score[s] - max) / sqrt(HS)) / their sum */
#pragma omp simd
    for (int s = 0; s < visible; s++) {
        p[s] *= norm;
    }
}

void CPU(attention_forward)(Real *out, Real *probs, const Real *qkv, int B, int T, int C, int NH,
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
        /* a panel of queries sees the keys up to its last row; later keys are never computed */
        for (int first = 0; first < T; first += HEAD_ROWS) {
            int rows = T - first < HEAD_ROWS ? T - first : HEAD_ROWS, cols = first + rows;
            Panel panel = {first, 0, rows, cols};
            /* score[t][s] = q[t] . k[s] */
            head_dots(head, panel, head.q, head.kt, head.p);
            /* probs[t] = softmax(score[t] / sqrt(HS)), kept for backward: 0 for s > t */
            for (int row = 0; row < rows; row++) {
                float *p = head.p + (size_t)row * head.ld;
                Real *kept = probs + ((size_t)index * T + first + row) * T;
                softmax(p, first + row + 1, scale);
                for (int s = 0; s < T; s++) {
                    kept[s] = real(s <= first + row ? p[s] : 0);
                }
            }
            /* out[t] = sum_s probs[t][s] * v[s] */
            head_sums(head, panel, head.p, head.v, head.out);
        }
        head_write(head, out + (size_t)b * T * C + h * HS, head.out, C);
    }
}

void CPU(attention_backward)(Real *dqkv, const Real *dout, const Real *probs, const Real *qkv,
                             int B, int T, int C, int NH, const Workspace *workspace) {
    int HS = C / NH;
#pragma omp parallel for
    for (int index = 0; index < B * NH; index++) {
        AttentionHead head = head_new(workspace, T, HS);
        int b = index / NH, h = index % NH;
        const Real *from = qkv + (size_t)b * T * 3 * C + h * HS;
        head_read_backward(head, from, dout + (size_t)b * T * C + h * HS, C);
        /* panels as in forward; each adds to dk and dv of all the keys that it sees */
        for (int first = 0; first < T; first += HEAD_ROWS) {
            int rows = T - first < HEAD_ROWS ? T - first : HEAD_ROWS, cols = first + rows;
            Panel panel = {first, 0, rows, cols};
            head_dots(head, panel, head.out, head.v, head.dp);
            float delta[HEAD_ROWS];
            /* delta[t] = sum_r probs[t][r] * dprobs[t][r], the softmax's part that all s share */
            for (int row = 0; row < rows; row++) {
                const Real *kept = probs + ((size_t)index * T + first + row) * T;
                float *p = head.p + (size_t)row * head.ld, *dp = head.dp + (size_t)row * head.ld,
                      sum = 0;
                int visible = head_visible(panel, row);
#pragma omp simd reduction(+ : sum)
                for (int s = 0; s < visible; s++) {
                    p[s] = to_float(kept[s]);
                    sum += p[s] * dp[s];
                }
                fill_vector(p, visible, 0);
                delta[row] = sum;
            }
            /* dscore[t][s] = probs[t][s] * (dprobs[t][s] - delta[t]) / sqrt(HS)
               dq[t] += sum_s dscore[t][s] * k[s]
               dk[s] += sum_t dscore[t][s] * q[t]
               dv[s] += sum_t probs[t][s] * dout[t] */
            head_backward(head, panel, delta);
        }
        head_write_dqkv(head, dqkv + (size_t)b * T * 3 * C + h * HS, C);
    }
}

#if !defined REAL_F16 && !defined REAL_BF16
size_t attention_scratch_cpu(int T, int HS) {
    return head_floats(T, HS);
}
#endif
