#include "common/profile.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What an op is limited by: products by arithmetic, all others by memory. */
typedef enum OpId {
#define ID(op) ID_##op,
    EACH_OP(ID) EACH_FLOAT_OP(ID) OP_COUNT
#undef ID
} OpId;

typedef struct Entry {
    const char *name;
    double seconds, flops, bytes;
    long calls;
} Entry;

static struct {
    const Ops *inner;
    Ops timed;
    Device *device;
    double element; /* bytes of a stored number */
    double began;
    Entry entries[OP_COUNT];
} profile;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void begin(void) {
    profile.began = now();
}

static void end(OpId id, double flops, double bytes) {
    device_synchronize(profile.device);
    Entry *entry = &profile.entries[id];
    entry->seconds += now() - profile.began;
    entry->flops += flops;
    entry->bytes += bytes;
    entry->calls++;
}

/* One function an op: the call, and what it must at least compute and move. */
#define TIMED(op, parameters, arguments, flops, bytes)                                             \
    static void op##_timed parameters {                                                            \
        begin();                                                                                   \
        profile.inner->op arguments;                                                               \
        end(ID_##op, (double)(flops), (double)(bytes));                                            \
    }

#define ELEMENTS ((double)N * C * profile.element)

TIMED(embedding_forward,
      (Real * out, const int32_t *tokens, const Real *wte, const Real *wpe, int B, int T, int C),
      (out, tokens, wte, wpe, B, T, C), 0, 3.0 * B * T * C * profile.element)
TIMED(embedding_backward,
      (float *dwte, float *dwpe, const Real *dout, const int32_t *tokens, int B, int T, int C,
       int V, const Workspace *workspace),
      (dwte, dwpe, dout, tokens, B, T, C, V, workspace), 0, (double)B *T *C *(profile.element + 16))
TIMED(layernorm_forward,
      (Real * out, float *mean, float *rstd, const Real *in, const Real *weight, const Real *bias,
       int N, int C),
      (out, mean, rstd, in, weight, bias, N, C), 0, 2 * ELEMENTS)
TIMED(layernorm_backward,
      (Real * din, float *dweight, float *dbias, const Real *dout, const Real *in,
       const float *mean, const float *rstd, const Real *weight, int N, int C,
       const Workspace *workspace),
      (din, dweight, dbias, dout, in, mean, rstd, weight, N, C, workspace), 0, 4 * ELEMENTS)
TIMED(matmul_forward,
      (Real * out, const Real *in, const Real *weight, const Real *bias, int N, int C, int OC,
       const Workspace *workspace),
      (out, in, weight, bias, N, C, OC, workspace), 2.0 * N * C * OC,
      ((double)N * C + (double)OC * C + (double)N * OC) * profile.element)
TIMED(matmul_backward,
      (Real * din, float *dweight, float *dbias, const Real *dout, const Real *in,
       const Real *weight, int N, int C, int OC, const Workspace *workspace),
      (din, dweight, dbias, dout, in, weight, N, C, OC, workspace),
      (2.0 * (din != NULL) + 2.0 * (dweight != NULL)) * N * C * OC,
      (3.0 * N * C + (double)OC * C + 2.0 * N * OC) * profile.element + 8.0 * OC * C)
/* The causal half of the products is all that is asked for. */
TIMED(attention_forward,
      (Real * out, Real *probs, const Real *qkv, int B, int T, int C, int NH,
       const Workspace *workspace),
      (out, probs, qkv, B, T, C, NH, workspace), 2.0 * B * T * T * C,
      (4.0 * B * T * C + (double)B * NH * T * T) * profile.element)
TIMED(attention_backward,
      (Real * dqkv, const Real *dout, const Real *probs, const Real *qkv, int B, int T, int C,
       int NH, const Workspace *workspace),
      (dqkv, dout, probs, qkv, B, T, C, NH, workspace), 4.0 * B * T * T * C,
      (10.0 * B * T * C + (double)B * NH * T * T) * profile.element)
TIMED(flash_forward,
      (Real * out, float *lse, const Real *qkv, int B, int T, int C, int NH,
       const Workspace *workspace),
      (out, lse, qkv, B, T, C, NH, workspace), 2.0 * B * T * T * C,
      4.0 * B * T * C * profile.element)
TIMED(flash_backward,
      (Real * dqkv, const Real *dout, const Real *out, const float *lse, const Real *qkv, int B,
       int T, int C, int NH, const Workspace *workspace),
      (dqkv, dout, out, lse, qkv, B, T, C, NH, workspace), 5.0 * B * T * T * C,
      11.0 * B * T * C * profile.element)
TIMED(gelu_forward, (Real * out, Real *in, const Real *bias, int N, int C), (out, in, bias, N, C),
      0, 3 * ELEMENTS)
TIMED(gelu_backward, (Real * din, const Real *dout, const Real *in, int N, int C),
      (din, dout, in, N, C), 0, 3 * ELEMENTS)
TIMED(dropout_forward, (Real * out, const Real *in, size_t n, Dropout dropout),
      (out, in, n, dropout), 0, 2 * (double)n * profile.element)
TIMED(dropout_backward, (Real * din, const Real *dout, size_t n, Dropout dropout),
      (din, dout, n, dropout), 0, 3 * (double)n * profile.element)
TIMED(residual_forward,
      (Real * out, const Real *stream, const Real *branch, size_t n, Dropout dropout),
      (out, stream, branch, n, dropout), 0, 3 * (double)n * profile.element)
TIMED(residual_backward,
      (Real * dstream, Real *dbranch, const Real *dout, size_t n, Dropout dropout),
      (dstream, dbranch, dout, n, dropout), 0,
      (dstream != NULL ? 5 : 3) * (double)n * profile.element)
TIMED(crossentropy_forward,
      (float *losses, float *lse, const Real *logits, const int32_t *targets, int N, int V),
      (losses, lse, logits, targets, N, V), 0, (double)N *V *profile.element)
TIMED(crossentropy_backward,
      (Real * dlogits, const Real *logits, const float *lse, const int32_t *targets, float dloss,
       int N, int V),
      (dlogits, logits, lse, targets, dloss, N, V), 0, 2.0 * N * V * profile.element)
TIMED(cast_from_float, (Real * out, const float *in, size_t n), (out, in, n), 0,
      (double)n *(profile.element + 4))
TIMED(cast_to_float, (float *out, const Real *in, size_t n), (out, in, n), 0,
      (double)n *(profile.element + 4))
TIMED(adamw, (float *weight, float *m, float *v, const float *grad, size_t n, AdamW adamw, int t),
      (weight, m, v, grad, n, adamw, t), 0, 28 * (double)n)
TIMED(sumsq, (float *out, const float *x, size_t n, const Workspace *workspace),
      (out, x, n, workspace), 0, 4 * (double)n)
TIMED(scale, (float *x, size_t n, float factor), (x, n, factor), 0, 8 * (double)n)
TIMED(unscale, (float *grad, size_t n, float inv_scale, float *found_inf),
      (grad, n, inv_scale, found_inf), 0, 8 * (double)n)

void profile_begin(Model *model) {
    profile.inner = model->ops;
    profile.device = model->device;
    profile.element = (double)precision_bytes(model->config.precision);
    profile.timed = (Ops){
#define TIMED_ENTRY(op) .op = op##_timed,
        EACH_OP(TIMED_ENTRY) EACH_FLOAT_OP(TIMED_ENTRY)
#undef TIMED_ENTRY
    };
    profile_reset();
    model->ops = &profile.timed;
}

void profile_reset(void) {
    memset(profile.entries, 0, sizeof profile.entries);
#define NAME(op) profile.entries[ID_##op].name = #op;
    EACH_OP(NAME)
    EACH_FLOAT_OP(NAME)
#undef NAME
}

static int by_seconds(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

/* A GPU would be done with a small product before its start is paid for. */
static int ceiling_side(const Device *device) {
    return device->host_memory || device->simulated ? 1024 : 4096;
}

/* The best rates of two ops that do little else than multiply and copy. */
static void measure_ceilings(Model *model, double *flops, double *bytes) {
    enum { REPEAT = 5 };
    int side = ceiling_side(model->device);
    size_t n = (size_t)side * side, count = 16 * n;
    *flops = *bytes = 0;
    /* From the device and not from its memory's budget: this is no part of training. */
    Real *a = device_alloc(model->device, count * 4), *b = device_alloc(model->device, count * 4);
    CHECK(a != NULL && b != NULL, "no memory to measure a copy");
    device_fill(model->device, a, 0, count * 4);
    device_fill(model->device, b, 0, count * 4);
    for (int i = 0; i < REPEAT; i++) {
        double start = now();
        Real *c = (Real *)((char *)b + n * 4);
        profile.inner->matmul_forward(c, a, b, NULL, side, side, side, &model->workspace);
        device_synchronize(model->device);
        double rate = 2.0 * side * side * side / (now() - start);
        *flops = rate > *flops ? rate : *flops;
        start = now();
        model->device->ops[F32].cast_to_float((float *)a, b, count);
        device_synchronize(model->device);
        rate = 8 * (double)count / (now() - start);
        *bytes = rate > *bytes ? rate : *bytes;
    }
    device_release(model->device, b, count * 4);
    device_release(model->device, a, count * 4);
}

void profile_end(Model *model) {
    model->ops = profile.inner;
}

void profile_print(Model *model, double seconds, int steps, FILE *out) {
    double peak_flops, peak_bytes, sum = 0;
    int side = ceiling_side(model->device);
    measure_ceilings(model, &peak_flops, &peak_bytes);
    qsort(profile.entries, OP_COUNT, sizeof *profile.entries, by_seconds);
    fprintf(
        out,
        "\nWhere the time goes: %.2f ms a step over %d steps; ceilings measured here: a product "
        "of %d^3\nat %.0f GFLOP/s, a copy of %d MiB at %.1f GB/s (tensors that stay in a "
        "cache can exceed it)\n\n"
        "  op                      calls   ms/step  share    GFLOP/s      GB/s  of ceiling\n",
        1e3 * seconds / steps, steps, side, peak_flops * 1e-9, 64 * (side / 1024) * (side / 1024),
        peak_bytes * 1e-9);
    for (int i = 0; i < OP_COUNT && profile.entries[i].calls > 0; i++) {
        const Entry *entry = &profile.entries[i];
        double flops = entry->flops / entry->seconds, bytes = entry->bytes / entry->seconds;
        sum += entry->seconds;
        fprintf(out, "  %-22s %6ld %9.3f %5.1f %% ", entry->name, entry->calls / steps,
                1e3 * entry->seconds / steps, 100 * entry->seconds / seconds);
        if (entry->flops > 0) {
            fprintf(out, "%10.1f %9s %9.0f %%\n", flops * 1e-9, "", 100 * flops / peak_flops);
        } else {
            fprintf(out, "%10s %9.1f %9.0f %%\n", "", bytes * 1e-9, 100 * bytes / peak_bytes);
        }
    }
    fprintf(out, "  %-22s %6s %9.3f %5.1f %%\n", "everything else", "",
            1e3 * (seconds - sum) / steps, 100 * (seconds - sum) / seconds);
}
