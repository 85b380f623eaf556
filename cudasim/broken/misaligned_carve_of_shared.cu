/* Dynamic shared memory is carved up: an odd number of floats, then doubles, whose addresses are
   no multiple of 8. */
#include "try.cuh"

enum { N = 31 };

static __global__ void weigh(double *out, int count) {
    extern __shared__ float narrow[];
#ifdef MENDED
    double *wide = (double *)(narrow + (count + 1) / 2 * 2);
#else
    double *wide = (double *)(narrow + count);
#endif
    narrow[threadIdx.x] = 1;
    __syncthreads();
    wide[threadIdx.x] = narrow[threadIdx.x]; /* expect: misaligned access */
    out[threadIdx.x] = wide[threadIdx.x];    /* more reports follow */
}

int main(void) {
    double host[N], *out;
    TRY(cudaMalloc(&out, sizeof host));
    weigh<<<1, N, 32 * sizeof(float) + N * sizeof(double)>>>(out, N);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    return expect(host[N - 1], 1);
}
