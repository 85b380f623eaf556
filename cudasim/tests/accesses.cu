// The count of what check mode has looked at: each thread loads and stores a float in device
// memory, and another one in shared memory. What has been written before is looked at in place
// (quick.h): in the second launch the loads and stores of device memory.
#include <cuda_runtime.h>
#include <cudasim.h>
#include <stdio.h>

extern "C" double quick_accesses(void) __attribute__((weak)); // absent without check mode

enum { N = 64 };

__global__ void turn_round(float *out, const float *in) {
    __shared__ float kept[N];
    kept[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = kept[N - 1 - threadIdx.x];
}

int main(void) {
    float *in, *out;
    cudaMalloc((void **)&in, N * sizeof *in);
    cudaMalloc((void **)&out, N * sizeof *out);
    cudaMemset(in, 0, N * sizeof *in);
    double before = cudasim_accesses();
    turn_round<<<1, N>>>(out, in);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        return 1;
    }
    double looked = cudasim_accesses() - before;
    double quick_before = quick_accesses != NULL ? quick_accesses() : 0;
    turn_round<<<1, N>>>(out, in);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        return 1;
    }
    double quick = quick_accesses != NULL ? quick_accesses() - quick_before : 0;
    cudaFree(in);
    cudaFree(out);
    bool good = before < 0 ? looked == 0 : looked == 4 * N && quick >= 2 * N;
    printf("%s: %.0f accesses of %d threads, then %.0f in place\n", good ? "good" : "WRONG", looked,
           N, quick);
    return good ? 0 : 1;
}
