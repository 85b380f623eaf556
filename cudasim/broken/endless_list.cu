/* The list has a circle, and the loop looks for its end. On a GPU the kernel never finishes; with a
   display attached the driver kills it after seconds. */
#include "try.cuh"

enum { N = 8 };

static __global__ void last(int *out, const int *next) {
    int i = threadIdx.x;
    for (; next[i] != i; i = next[i]) { /* expect: timeout */
    }
    out[threadIdx.x] = i;
}

int main(void) {
    int host[N], *next, *out;
    for (int i = 0; i < N; i++) {
        host[i] = (i + 1) % N;
    }
#ifdef MENDED
    host[N - 1] = N - 1;
#endif
    TRY(cudaMalloc(&next, sizeof host));
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMemcpy(next, host, sizeof host, cudaMemcpyHostToDevice));
    last<<<1, N>>>(out, next);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    return expect(host[0], N - 1);
}
