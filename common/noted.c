/* Ops that say what they cost. The contract is in noted.h. */
#include "common/noted.h"

#include <cuda_runtime.h>

#ifdef CUDASIM
#include <cudasim_record.h>

#include "kernels/cost.h"

static const Ops *real;
static const CudasimPrecision units[] = {
    [F32] = CUDASIM_F32, [F16] = CUDASIM_F16, [BF16] = CUDASIM_BF16};

#define CALL_AS(precision, function, op, parameters, arguments, sizes)                             \
    static void function parameters {                                                              \
        double r = (double)precision_bytes(precision);                                             \
        (void)r;                                                                                   \
        Cost cost = op##_cost sizes;                                                               \
        cudasim_op_begin(#op, cost.flops, cost.bytes, units[precision]);                           \
        real[precision].op arguments;                                                              \
        cudasim_op_end();                                                                          \
    }

#define CALL(op, ...) CALL_AS(F32, op##_noted_f32, op, __VA_ARGS__)
#include "common/each_call.inc"
#undef CALL
#define CALL(op, ...) CALL_AS(F16, op##_noted_f16, op, __VA_ARGS__)
#include "common/each_call.inc"
#undef CALL
#define CALL(op, ...) CALL_AS(BF16, op##_noted_bf16, op, __VA_ARGS__)
#include "common/each_call.inc"
#undef CALL

const Ops *ops_noted(const Ops ops[3]) {
#define NOTED_F32(op) .op = op##_noted_f32,
#define NOTED_F16(op) .op = op##_noted_f16,
#define NOTED_BF16(op) .op = op##_noted_bf16,
    static const Ops noted[3] = {
        [F32] = {EACH_OP(NOTED_F32) EACH_FLOAT_OP(NOTED_F32)},
        [F16] = {EACH_OP(NOTED_F16) EACH_FLOAT_OP(NOTED_F16)},
        [BF16] = {EACH_OP(NOTED_BF16) EACH_FLOAT_OP(NOTED_BF16)},
    };
    real = ops;
    return cudasim_recording() ? noted : ops;
}

#else

const Ops *ops_noted(const Ops ops[3]) {
    return ops;
}

#endif
