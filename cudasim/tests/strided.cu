/* Accesses of a known cost, for the profile: what it counts here is known beforehand. */
#include <stdio.h>

enum { N = 32 };

static __global__ void rows(float *out, const float *in) {
    out[threadIdx.x] = in[threadIdx.x]; /* 4 sectors each */
}

static __global__ void columns(float *out, const float *in) {
    out[threadIdx.x * N] = in[threadIdx.x * N]; /* 32 sectors each */
}

static __global__ void banks(float *out, int pitch) {
    __shared__ float tile[N * (N + 1)];
    tile[threadIdx.x * pitch] = threadIdx.x; /* 32-way with pitch 32, 1-way with 33 */
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x * pitch];
}

/* One warp of 32 has work. */
static __global__ void few(float *out, const float *in) {
    if (threadIdx.x / N == 17) {
        int lane = threadIdx.x % N;
        out[lane] = in[lane * N];
    }
}

int main(void) {
    float *x, *y;
    cudaMalloc(&x, N * N * sizeof *x);
    cudaMalloc(&y, N * N * sizeof *y);
    cudaMemset(x, 0, N * N * sizeof *x);
    rows<<<1, N>>>(y, x);
    columns<<<1, N>>>(y, x);
    banks<<<1, N>>>(y, N);
    few<<<1, 32 * N>>>(y, x);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
