/* The GPU's table of ops. Labs write some of them, so it is an object outside of the library:
   a program that links labs links it too, and hands it to device_gpu_new(). The contract is in
   ops.h. */
#include "kernels/ops.h"

#define GPU_F32(op) .op = op##_gpu_f32,
#define GPU_F16(op) .op = op##_gpu_f16,
#define GPU_BF16(op) .op = op##_gpu_bf16,
#define GPU_FLOAT(op) .op = op##_gpu,

const Ops ops_gpu[3] = {
    [F32] = {EACH_OP(GPU_F32) EACH_FLOAT_OP(GPU_FLOAT)},
    [F16] = {EACH_OP(GPU_F16) EACH_FLOAT_OP(GPU_FLOAT)},
    [BF16] = {EACH_OP(GPU_BF16) EACH_FLOAT_OP(GPU_FLOAT)},
};
