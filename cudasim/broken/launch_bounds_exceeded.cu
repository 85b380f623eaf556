/* The kernel promises blocks of at most 128 threads, and the launch has 256. On a GPU it does not
   run: the compiler has given each thread more registers than 256 of them could have. */
/* says: its __launch_bounds__ allow 128 */
/* says: "invalid argument" */
#include "try.cuh"

enum { N = 256 };
#ifdef MENDED
#define MOST 256
#else
#define MOST 128
#endif

template <int THREADS>
static __global__ void __launch_bounds__(THREADS, 2) fill(float *x, float value) {
    x[threadIdx.x] = value;
}

int main(void) {
    float host[N], *x;
    TRY(cudaMalloc(&x, sizeof host));
    fill<MOST><<<1, N>>>(x, 2); /* expect: launch failed */
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 65792);
}
