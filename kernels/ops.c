#include "kernels/ops.h"

#define F32_ENTRY(op) .op = op##_cpu_f32,
#define F16_ENTRY(op) .op = op##_cpu_f16,
#define BF16_ENTRY(op) .op = op##_cpu_bf16,
#define FLOAT_ENTRY(op) .op = op##_cpu,

const Ops ops_cpu[3] = {
    [F32] = {EACH_OP(F32_ENTRY) EACH_FLOAT_OP(FLOAT_ENTRY)},
    [F16] = {EACH_OP(F16_ENTRY) EACH_FLOAT_OP(FLOAT_ENTRY)},
    [BF16] = {EACH_OP(BF16_ENTRY) EACH_FLOAT_OP(FLOAT_ENTRY)},
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
