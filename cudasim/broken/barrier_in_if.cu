/* Only the threads that have an element come to the barrier. On a GPU that is undefined: older ones
   hang, newer ones often go on, until the compiler changes its mind. */
#include "try.cuh"

enum { N = 100, THREADS = 128 };

static __global__ void reverse(float *x) {
    __shared__ float copy[N];
    int i = threadIdx.x;
#ifdef MENDED
    if (i < N) {
        copy[i] = x[i];
    }
    __syncthreads();
    if (i < N) {
        x[i] = copy[N - 1 - i];
    }
#else
    if (i < N) {
        copy[i] = x[i];
        __syncthreads(); /* expect: barrier divergence */
        x[i] = copy[N - 1 - i];
    }
#endif
}

int main(void) {
    float host[N], *x;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    reverse<<<1, THREADS>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 166650);
}
