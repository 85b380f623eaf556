/* Usual CUDA at which a compiler of the host's might stumble or warn: #pragma unroll, structures of
   the runtime set by {0}, vectors through pointers to other types, a value that one lane alone has
   before the shuffle. */
#include <cuda_runtime.h>

#include "check.cuh"

enum { N = 32, EACH = 8 };

/* Eight numbers of 16 bits are stored as one vector. */
static __global__ void pack(const int *in, uint4 *out) {
    __align__(16) unsigned short part[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        part[i] = (unsigned short)in[EACH * threadIdx.x + i];
    }
    out[threadIdx.x] = *reinterpret_cast<uint4 *>(part);
}

static __global__ void of_leader(const int *in, int *out) {
#if defined __SANITIZE_THREAD__ || defined __clang__
    int taken = 0; /* here the warning is of this file, and meant for other programs */
#else
    int taken;
#endif
    if (threadIdx.x == 3) {
        taken = in[5];
    }
    taken = __shfl_sync(0xffffffffu, taken, 3);
#pragma unroll 2
    for (int i = 0; i < 4; i++) {
        out[4 * threadIdx.x + i] = taken + i;
    }
}

static void launch_by_config(const int *in, int *out) {
    cudaLaunchConfig_t config = {0};
    config.gridDim = dim3(1);
    config.blockDim = dim3(N);
    OK(cudaLaunchKernelEx(&config, of_leader, in, out));
}

static void copy_by_parameters(int *to, int *from) {
    cudaMemcpy3DParms copy = {0};
    copy.srcPtr = make_cudaPitchedPtr(from, N * sizeof(int), N, 1);
    copy.dstPtr = make_cudaPitchedPtr(to, N * sizeof(int), N, 1);
    copy.extent = make_cudaExtent(N * sizeof(int), 1, 1);
    copy.kind = cudaMemcpyDeviceToDevice;
    OK(cudaMemcpy3D(&copy));
}

int main() {
    int host[EACH * N], *in, *out;
    for (int i = 0; i < EACH * N; i++) {
        host[i] = 3 * i + 1;
    }
    OK(cudaMalloc(&in, sizeof host));
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));

    pack<<<1, N>>>(in, reinterpret_cast<uint4 *>(out));
    unsigned short packed[EACH * N];
    OK(cudaMemcpy(packed, out, sizeof packed, cudaMemcpyDeviceToHost));
    for (int i = 0; i < EACH * N; i++) {
        MUST(packed[i] == host[i]);
    }

    launch_by_config(in, out);
    copy_by_parameters(in, out);
    OK(cudaMemcpy(host, in, N * sizeof(int), cudaMemcpyDeviceToHost));
    MUST(host[0] == 16 && host[7] == 19 && host[N - 1] == 19);
    OK(cudaFree(in));
    OK(cudaFree(out));
    return 0;
}
