/* The tables of ops, one per device and precision, and the workspace that the neediest op takes.
   The contract is in ops.h. */
#include "kernels/ops.h"

#define CPU_F32(op) .op = op##_cpu_f32,
#define CPU_F16(op) .op = op##_cpu_f16,
#define CPU_BF16(op) .op = op##_cpu_bf16,
#define CPU_FLOAT(op) .op = op##_cpu,

const Ops ops_cpu[3] = {
    [F32] = {EACH_OP(CPU_F32) EACH_FLOAT_OP(CPU_FLOAT)},
    [F16] = {EACH_OP(CPU_F16) EACH_FLOAT_OP(CPU_FLOAT)},
    [BF16] = {EACH_OP(CPU_BF16) EACH_FLOAT_OP(CPU_FLOAT)},
};

static size_t max(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Ops run one at a time, so the largest demand is enough for all. */
size_t ops_workspace_cpu(Precision precision, int T, int C, int NH, size_t length, int threads) {
    size_t layernorm = 2 * LAYERNORM_BLOCKS * (size_t)C;
    static matmul_scratch_fn *const matmul_scratch[] = {
        matmul_scratch_cpu_f32, matmul_scratch_cpu_f16, matmul_scratch_cpu_bf16};
    size_t matmul = (size_t)threads * matmul_scratch[precision](C);
    size_t attention = (size_t)threads * attention_scratch_cpu(T, C / NH);
    size_t floats = max(layernorm, max(matmul, attention));
    return max(floats * sizeof(float), sumsq_scratch(length));
}

size_t ops_workspace_gpu(int T, int C, int NH, size_t length, bool plain) {
    /* The head has no bias: nothing is as wide as the vocabulary. */
    size_t layernorm = 2 * LAYERNORM_BLOCKS * (size_t)C;
    size_t matmul = matmul_scratch_gpu(4 * C);
    size_t floats = max(layernorm, matmul);
    size_t attention = plain ? attention_scratch_gpu(T, NH) : flash_scratch_gpu(T, NH);
    return max(floats * sizeof(float), max(attention, sumsq_scratch(length)));
}
