/* Odd-even sort: a shared flag says whether a round has changed anything. The first thread resets
   it for the next round while others still read it at the loop's end: these leave, and it waits for
   them at the next barrier. */
/* says: race for at flag_reset_too_early.cu:32 (sort) and flag_reset_too_early.cu:18 (sort) */
/* more reports follow */
#include "try.cuh"

enum { N = 64 };

__global__ void sort(int *x) {
    __shared__ int changed;
    int i = threadIdx.x, again;
    do {
#ifdef MENDED
        __syncthreads();
#endif
        if (i == 0) {
            changed = 0;
        }
        /* expect: barrier divergence */
        __syncthreads();
        for (int odd = 0; odd < 2; odd++) {
            int k = 2 * i + odd;
            if (k + 1 < N && x[k] > x[k + 1]) {
                int t = x[k];
                x[k] = x[k + 1];
                x[k + 1] = t;
                changed = 1;
            }
            __syncthreads();
        }
        again = changed;
    } while (again);
}

int main() {
    int start[N], result[N], *x, wrong = 0;
    for (int i = 0; i < N; i++) {
        start[i] = N - i;
    }
    TRY(cudaMalloc(&x, sizeof start));
    TRY(cudaMemcpy(x, start, sizeof start, cudaMemcpyHostToDevice));
    sort<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(result, x, sizeof result, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        wrong += result[i] != i + 1;
    }
    TRY(cudaFree(x));
    return expect(wrong, 0);
}
