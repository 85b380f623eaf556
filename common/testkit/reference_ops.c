/* Every op in double, as the formula in its header says and in the plainest loops. The contracts
   are in reference.h. */
#include "common/testkit/reference.h"

#include <math.h>

#include "kernels/philox.h"

void reference_embedding_forward(double *out, const int32_t *tokens, const double *wte,
                                 const double *wpe, int B, int T, int C) {
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            for (int c = 0; c < C; c++) {
                int32_t token = tokens[b * T + t]; /* a negative one has no row */
                out[(b * T + t) * C + c] = (token < 0 ? 0 : wte[token * C + c]) + wpe[t * C + c];
            }
        }
    }
}

void reference_embedding_backward(double *dwte, double *dwpe, const double *dout,
                                  const int32_t *tokens, int B, int T, int C) {
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            for (int c = 0; c < C; c++) {
                if (tokens[b * T + t] >= 0) {
                    dwte[tokens[b * T + t] * C + c] += dout[(b * T + t) * C + c];
                }
                dwpe[t * C + c] += dout[(b * T + t) * C + c];
            }
        }
    }
}

void reference_layernorm_forward(double *out, double *mean, double *rstd, const double *in,
                                 const double *weight, const double *bias, int N, int C) {
    for (int n = 0; n < N; n++) {
        const double *x = in + n * C;
        double sum = 0, squares = 0;
        for (int c = 0; c < C; c++) {
            sum += x[c];
        }
        mean[n] = sum / C;
        for (int c = 0; c < C; c++) {
            squares += (x[c] - mean[n]) * (x[c] - mean[n]);
        }
        rstd[n] = 1 / sqrt(squares / C + 1e-5);
        for (int c = 0; c < C; c++) {
            out[n * C + c] = (x[c] - mean[n]) * rstd[n] * weight[c] + bias[c];
        }
    }
}

void reference_layernorm_backward(double *din, double *dweight, double *dbias, const double *dout,
                                  const double *in, const double *mean, const double *rstd,
                                  const double *weight, int N, int C) {
    for (int n = 0; n < N; n++) {
        double sum_dx = 0, sum_dx_x = 0;
        for (int c = 0; c < C; c++) {
            double x = (in[n * C + c] - mean[n]) * rstd[n], dy = dout[n * C + c];
            dweight[c] += dy * x;
            dbias[c] += dy;
            sum_dx += dy * weight[c];
            sum_dx_x += dy * weight[c] * x;
        }
        for (int c = 0; c < C; c++) {
            double x = (in[n * C + c] - mean[n]) * rstd[n], dx = dout[n * C + c] * weight[c];
            din[n * C + c] += (dx - sum_dx / C - x * sum_dx_x / C) * rstd[n];
        }
    }
}

void reference_matmul_forward(double *out, const double *in, const double *weight,
                              const double *bias, int N, int C, int OC) {
    for (int n = 0; n < N; n++) {
        for (int o = 0; o < OC; o++) {
            double sum = bias != NULL ? bias[o] : 0;
            for (int c = 0; c < C; c++) {
                sum += in[n * C + c] * weight[o * C + c];
            }
            out[n * OC + o] = sum;
        }
    }
}

void reference_matmul_backward(double *din, double *dweight, double *dbias, const double *dout,
                               const double *in, const double *weight, int N, int C, int OC) {
    for (int n = 0; n < N; n++) {
        for (int o = 0; o < OC; o++) {
            double dy = dout[n * OC + o];
            if (dbias != NULL) {
                dbias[o] += dy;
            }
            for (int c = 0; c < C; c++) {
                if (din != NULL) {
                    din[n * C + c] += dy * weight[o * C + c];
                }
                if (dweight != NULL) {
                    dweight[o * C + c] += dy * in[n * C + c];
                }
            }
        }
    }
}

/* Where head h of token t of sequence b has its query (which = 0), key (1) or value (2). */
static int slot(int b, int t, int which, int h, int T, int C, int NH) {
    return (b * T + t) * 3 * C + which * C + h * (C / NH);
}

void reference_attention_forward(double *out, double *probs, const double *qkv, int B, int T, int C,
                                 int NH) {
    int HS = C / NH;
    for (int b = 0; b < B; b++) {
        for (int h = 0; h < NH; h++) {
            for (int t = 0; t < T; t++) {
                double *p = probs + ((b * NH + h) * T + t) * T, largest = -HUGE_VAL, sum = 0;
                const double *q = qkv + slot(b, t, 0, h, T, C, NH);
                for (int s = 0; s <= t; s++) {
                    const double *k = qkv + slot(b, s, 1, h, T, C, NH);
                    double score = 0;
                    for (int i = 0; i < HS; i++) {
                        score += q[i] * k[i];
                    }
                    p[s] = score / sqrt(HS);
                    largest = fmax(largest, p[s]);
                }
                for (int s = 0; s <= t; s++) {
                    p[s] = exp(p[s] - largest);
                    sum += p[s];
                }
                for (int s = 0; s < T; s++) {
                    p[s] = s <= t ? p[s] / sum : 0;
                }
                for (int i = 0; i < HS; i++) {
                    double y = 0;
                    for (int s = 0; s <= t; s++) {
                        y += p[s] * qkv[slot(b, s, 2, h, T, C, NH) + i];
                    }
                    out[(b * T + t) * C + h * HS + i] = y;
                }
            }
        }
    }
}

/* One row of scores: query t of head h of sequence b against all keys before it. */
static void attention_row_backward(double *dqkv, const double *dy, const double *p,
                                   const double *qkv, int b, int h, int t, int T, int C, int NH) {
    int HS = C / NH, q = slot(b, t, 0, h, T, C, NH);
    double weighted = 0;
    for (int s = 0; s <= t; s++) {
        int v = slot(b, s, 2, h, T, C, NH);
        for (int i = 0; i < HS; i++) {
            weighted += p[s] * dy[i] * qkv[v + i];
            dqkv[v + i] += p[s] * dy[i];
        }
    }
    for (int s = 0; s <= t; s++) {
        int k = slot(b, s, 1, h, T, C, NH), v = slot(b, s, 2, h, T, C, NH);
        double dp = 0;
        for (int i = 0; i < HS; i++) {
            dp += dy[i] * qkv[v + i];
        }
        double dscore = p[s] * (dp - weighted) / sqrt(HS);
        for (int i = 0; i < HS; i++) {
            dqkv[q + i] += dscore * qkv[k + i];
            dqkv[k + i] += dscore * qkv[q + i];
        }
    }
}

void reference_attention_backward(double *dqkv, const double *dout, const double *probs,
                                  const double *qkv, int B, int T, int C, int NH) {
    int HS = C / NH;
    for (int b = 0; b < B; b++) {
        for (int h = 0; h < NH; h++) {
            for (int t = 0; t < T; t++) {
                attention_row_backward(dqkv, dout + (b * T + t) * C + h * HS,
                                       probs + ((b * NH + h) * T + t) * T, qkv, b, h, t, T, C, NH);
            }
        }
    }
}

static const double SQRT_2_OVER_PI = 0.79788456080286535588;

void reference_gelu_forward(double *out, const double *in, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double x = in[i], u = SQRT_2_OVER_PI * (x + 0.044715 * x * x * x);
        out[i] = 0.5 * x * (1 + tanh(u));
    }
}

void reference_gelu_backward(double *din, const double *dout, const double *in, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double x = in[i], u = SQRT_2_OVER_PI * (x + 0.044715 * x * x * x);
        double du = SQRT_2_OVER_PI * (1 + 3 * 0.044715 * x * x), th = tanh(u);
        din[i] += dout[i] * (0.5 * (1 + th) + 0.5 * x * (1 - th * th) * du);
    }
}

void reference_dropout_factors(double *factor, size_t n, Dropout dropout) {
    for (size_t i = 0; i < n; i++) {
        if (dropout.p > 0) {
            uint32_t word = philox(dropout.offset + i / 4, 0, dropout.seed).word[i % 4];
            factor[i] = word < (double)dropout.p * 0x1p32 ? 0 : 1 / (1 - (double)dropout.p);
        } else {
            factor[i] = 1;
        }
    }
}

double reference_crossentropy_forward(double *losses, double *probs, const double *logits,
                                      const int32_t *targets, int N, int V) {
    double total = 0;
    for (int n = 0; n < N; n++) {
        const double *x = logits + (size_t)n * V;
        double *p = probs + (size_t)n * V, largest = -HUGE_VAL, sum = 0;
        for (int v = 0; v < V; v++) {
            largest = fmax(largest, x[v]);
        }
        for (int v = 0; v < V; v++) {
            p[v] = exp(x[v] - largest);
            sum += p[v];
        }
        for (int v = 0; v < V; v++) {
            p[v] /= sum;
        }
        bool ignored = targets[n] == IGNORE_INDEX;
        losses[n] = ignored ? 0 : largest + log(sum) - x[targets[n]];
        total += losses[n];
    }
    return total;
}

void reference_crossentropy_backward(double *dlogits, const double *probs, const int32_t *targets,
                                     double dloss, int N, int V) {
    for (int n = 0; n < N; n++) {
        for (int v = 0; v < V && targets[n] != IGNORE_INDEX; v++) {
            size_t at = (size_t)n * V + v;
            dlogits[at] += dloss * (probs[at] - (v == targets[n]));
        }
    }
}

void reference_adamw(double *weight, double *m, double *v, const double *grad, size_t n, double lr,
                     double beta1, double beta2, double epsilon, double weight_decay, int t) {
    for (size_t i = 0; i < n; i++) {
        m[i] = beta1 * m[i] + (1 - beta1) * grad[i];
        v[i] = beta2 * v[i] + (1 - beta2) * grad[i] * grad[i];
        double unbiased_m = m[i] / (1 - pow(beta1, t)), unbiased_v = v[i] / (1 - pow(beta2, t));
        weight[i] -= lr * (unbiased_m / (sqrt(unbiased_v) + epsilon) + weight_decay * weight[i]);
    }
}
