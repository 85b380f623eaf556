/* A thread puts the address of a local variable into shared memory, and another one follows it. On
   a GPU each thread has a local memory of its own at the same addresses: the reader gets its own
   variable. */
#include "try.cuh"

enum { N = 64 };

static __global__ void shift(float *out, const float *x) {
    int i = threadIdx.x;
#ifdef MENDED
    __shared__ float value[N];
    value[i] = 2 * x[i];
    __syncthreads();
    out[i] = value[(i + 1) % N];
#else
    __shared__ float *value[N];
    float mine = 2 * x[i];
    value[i] = &mine;
    __syncthreads();
    out[i] = *value[(i + 1) % N]; /* expect: another thread's local */
    __syncthreads();
#endif
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    shift<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 170688);
}
