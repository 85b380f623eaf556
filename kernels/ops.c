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

#define GPU_F32(op) .op = op##_gpu_f32,
#define GPU_F16(op) .op = op##_gpu_f16,
#define GPU_BF16(op) .op = op##_gpu_bf16,
#define GPU_FLOAT(op) .op = op##_gpu,

const Ops ops_gpu[3] = {
    [F32] = {EACH_OP(GPU_F32) EACH_FLOAT_OP(GPU_FLOAT)},
    [F16] = {EACH_OP(GPU_F16) EACH_FLOAT_OP(GPU_FLOAT)},
    [BF16] = {EACH_OP(GPU_BF16) EACH_FLOAT_OP(GPU_FLOAT)},
};

static size_t max(size_t a, size_t b) {
    return a > b ? a : b;
}

size_t ops_workspace_cpu(Precision precision, int T, int C, int NH, int threads) {
    size_t layernorm = 2 * LAYERNORM_BLOCKS * (size_t)C;
    size_t matmul = (size_t)threads * matmul_scratch_cpu(precision);
    size_t attention = (size_t)threads * attention_scratch_cpu(T, C / NH);
    return max(layernorm, max(matmul, attention)) * sizeof(float);
}

size_t ops_workspace_gpu(Precision precision, int T, int C, int NH, int V, bool plain) {
    (void)V; /* the head has no bias: nothing is as wide as the vocabulary */
    size_t layernorm = 2 * LAYERNORM_BLOCKS * (size_t)C;
    size_t matmul = matmul_scratch_gpu(4 * C);
    size_t floats = max(layernorm, max(matmul, SUMSQ_BLOCKS));
    size_t attention = plain ? attention_scratch_gpu(precision, T, NH) : 0;
    return max(floats * sizeof(float), attention);
}
