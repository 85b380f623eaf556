/* The headers that programs include beside cuda_runtime.h, and the names by which they ask for
   them. */
#include <cuComplex.h>
#include <cublas_api.h>
#include <cuda.h>
#include <cuda_device_runtime_api.h>
#include <cuda_fp8.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>
#include <driver_types.h>
#include <library_types.h>
#include <math_constants.h>
#include <nvtx3/nvToolsExt.h>
#include <sm_61_intrinsics.h>
#include <vector_functions.h>
#include <vector_types.h>

#include "check.cuh"

#ifndef __NVCC__
#error "so programs ask which compiler it is"
#endif

#ifndef __DRIVER_TYPES_H__
#error "programs ask for cudaError_t by this name"
#endif
#ifndef __CUDA_RUNTIME_H__
#error "programs ask for the runtime by this name"
#endif

__global__ void turn(float2 *p) {
    float angle = CUDART_PI_F * (float)threadIdx.x / 4;
    p[threadIdx.x] = make_float2(cosf(angle), threadIdx.x < 8 ? sinf(angle) : CUDART_INF_F);
}

int main() {
    int version, count, device;
    char name[256];
    MUST(cuInit(0) == CUDA_SUCCESS);
    MUST(cuDriverGetVersion(&version) == CUDA_SUCCESS && version >= 12000);
    MUST(cuDeviceGetCount(&count) == CUDA_SUCCESS && count >= 1);
    MUST(cuDeviceGet(&device, 0) == CUDA_SUCCESS);
    MUST(cuDeviceGetName(name, sizeof name, device) == CUDA_SUCCESS && name[0] != '\0');
    nvtxRangePush("turn");
    OK(cudaProfilerStart());
    float2 *p, host[8];
    OK(cudaMalloc(&p, sizeof host));
    turn<<<1, 8>>>(p);
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    OK(cudaProfilerStop());
    nvtxRangePop();
    MUST(fabsf(host[2].y - 1) < 1e-6f && fabsf(host[4].x + 1) < 1e-6f);
    clock_t now = clock();
    MUST(now != (clock_t)-1);
    OK(cudaFree(p));
    return 0;
}
