/* __syncthreads() joins the threads of one block, and the second half of the kernel reads what
   other blocks write. On a GPU these may not have begun yet. */
#include "try.cuh"

enum { THREADS = 32, BLOCKS = 4, N = THREADS * BLOCKS };

static __global__ void square(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = (float)i * i;
}

static __global__ void reverse(float *out, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[N - 1 - i];
}

static __global__ void both(float *out, float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = (float)i * i;
    __syncthreads();
    out[i] = x[N - 1 - i]; /* expect: race */
}

int main(void) {
    float host[N], *x, *out;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
#ifdef MENDED
    square<<<BLOCKS, THREADS>>>(x);
    reverse<<<BLOCKS, THREADS>>>(out, x);
    (void)both;
#else
    both<<<BLOCKS, THREADS>>>(out, x);
    (void)square, (void)reverse;
#endif
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 22368256);
}
