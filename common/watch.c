/* A table of ops that reports the cost of each call before and after the real op runs. The contract
   is in watch.h; the costs are in kernels/cost.h. */
#include "common/watch.h"

static Watch watch;
static double r; /* bytes of a stored number */

static void before(void) {
    if (watch.before != NULL) {
        watch.before(watch.context);
    }
}

/* One function an op: its parameters, the call, and what its cost depends on. */
#define WATCHED(op, parameters, arguments, sizes)                                                  \
    static void op##_watched parameters {                                                          \
        before();                                                                                  \
        if (watch.ops != NULL) {                                                                   \
            watch.ops->op arguments;                                                               \
        }                                                                                          \
        watch.after(watch.context, #op, op##_cost sizes);                                          \
    }

WATCHED(embedding_forward,
        (Real * out, const int32_t *tokens, const Real *wte, const Real *wpe, int B, int T, int C),
        (out, tokens, wte, wpe, B, T, C), (B, T, C, r))
WATCHED(embedding_backward,
        (float *dwte, float *dwpe, const Real *dout, const int32_t *tokens, int B, int T, int C,
         int V, const Workspace *workspace),
        (dwte, dwpe, dout, tokens, B, T, C, V, workspace), (B, T, C, V, r))
WATCHED(layernorm_forward,
        (Real * out, float *mean, float *rstd, const Real *in, const Real *weight, const Real *bias,
         int N, int C),
        (out, mean, rstd, in, weight, bias, N, C), (N, C, r))
WATCHED(layernorm_backward,
        (Real * din, float *dweight, float *dbias, const Real *dout, const Real *in,
         const float *mean, const float *rstd, const Real *weight, int N, int C,
         const Workspace *workspace),
        (din, dweight, dbias, dout, in, mean, rstd, weight, N, C, workspace), (N, C, r))
WATCHED(matmul_forward,
        (Real * out, const Real *in, const Real *weight, const Real *bias, int N, int C, int OC,
         int stride, const Workspace *workspace),
        (out, in, weight, bias, N, C, OC, stride, workspace), (N, C, OC, bias != NULL, r))
WATCHED(matmul_backward,
        (Real * din, float *dweight, float *dbias, const Real *dout, const Real *in,
         const Real *weight, int N, int C, int OC, int stride, const Workspace *workspace),
        (din, dweight, dbias, dout, in, weight, N, C, OC, stride, workspace),
        (N, C, OC, din != NULL, dweight != NULL, dbias != NULL, r))
WATCHED(attention_forward,
        (Real * out, Real *probs, const Real *qkv, int B, int T, int C, int NH,
         const Workspace *workspace),
        (out, probs, qkv, B, T, C, NH, workspace), (B, T, C, NH, r))
WATCHED(attention_backward,
        (Real * dqkv, const Real *dout, const Real *probs, const Real *qkv, int B, int T, int C,
         int NH, const Workspace *workspace),
        (dqkv, dout, probs, qkv, B, T, C, NH, workspace), (B, T, C, NH, r))
WATCHED(flash_forward,
        (Real * out, float *lse, const Real *qkv, int B, int T, int C, int NH,
         const Workspace *workspace),
        (out, lse, qkv, B, T, C, NH, workspace), (B, T, C, NH, r))
WATCHED(flash_backward,
        (Real * dqkv, const Real *dout, const Real *out, const float *lse, const Real *qkv, int B,
         int T, int C, int NH, const Workspace *workspace),
        (dqkv, dout, out, lse, qkv, B, T, C, NH, workspace), (B, T, C, NH, r))
WATCHED(gelu_forward, (Real * out, Real *in, const Real *bias, int N, int C), (out, in, bias, N, C),
        (N, C, bias != NULL, r))
WATCHED(gelu_backward, (Real * din, const Real *dout, const Real *in, int N, int C),
        (din, dout, in, N, C), (N, C, din == dout, r))
WATCHED(dropout_forward, (Real * out, const Real *in, size_t n, Dropout dropout),
        (out, in, n, dropout), ((double)n, r))
WATCHED(dropout_backward, (Real * din, const Real *dout, size_t n, Dropout dropout),
        (din, dout, n, dropout), ((double)n, din == dout, r))
WATCHED(residual_forward,
        (Real * out, const Real *stream, const Real *branch, size_t n, Dropout dropout),
        (out, stream, branch, n, dropout), ((double)n, r))
WATCHED(residual_backward,
        (Real * dstream, Real *dbranch, const Real *dout, size_t n, Dropout dropout),
        (dstream, dbranch, dout, n, dropout), ((double)n, dstream != NULL, r))
WATCHED(crossentropy_forward,
        (float *losses, float *lse, const Real *logits, const int32_t *targets, int N, int V,
         int stride),
        (losses, lse, logits, targets, N, V, stride), (N, V, r))
WATCHED(crossentropy_backward,
        (Real * dlogits, const Real *logits, const float *lse, const int32_t *targets, float dloss,
         int N, int V, int stride),
        (dlogits, logits, lse, targets, dloss, N, V, stride), (N, V, dlogits == logits, r))
WATCHED(cast_from_float, (Real * out, const float *in, size_t n), (out, in, n), ((double)n, r))
WATCHED(cast_to_float, (float *out, const Real *in, size_t n), (out, in, n), ((double)n, r))
WATCHED(adamw, (TensorList weight, TensorList m, TensorList v, TensorList grad, AdamW adamw, int t),
        (weight, m, v, grad, adamw, t), ((double)weight.n))
WATCHED(sumsq, (float *out, TensorList x, const Workspace *workspace), (out, x, workspace),
        ((double)x.n))
WATCHED(scale, (TensorList x, float factor), (x, factor), ((double)x.n))
WATCHED(unscale, (float *grad, size_t n, float inv_scale, float *found_inf),
        (grad, n, inv_scale, found_inf), ((double)n))

const Ops *ops_watch(Watch new_watch) {
#define ENTRY(op) .op = op##_watched,
    static const Ops watched = {EACH_OP(ENTRY) EACH_FLOAT_OP(ENTRY)};
#undef ENTRY
    watch = new_watch;
    r = (double)precision_bytes(watch.precision);
    return &watched;
}
