/* Each element becomes its difference to the next, in place. The barrier between reading and
   storing joins the threads of one block; the last of them reads what the next block stores, and
   that block has read it too before it stores. On a GPU the difference at each seam is a matter of
   luck. */
/* says: blocks run in any order */
#include "try.cuh"

enum { N = 256, BLOCK = 64 };

static __global__ void differences(const float *x, float *d) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float value = i + 1 < N ? x[i + 1] - x[i] : 0;
    __syncthreads();
    d[i] = value; /* expect: race */
}

int main(void) {
    float host[N], *x, *d;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
#ifdef MENDED
    TRY(cudaMalloc(&d, sizeof host));
#else
    d = x;
#endif
    differences<<<N / BLOCK, BLOCK>>>(x, d);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost));
    return expect(checksum(host, N - 1), N * (N - 1) / 2);
}
