/* Three results, and the loop that asks for their memory leaves out the last: its pointer is never
   set. A real cudaMemcpy writes to wherever it happens to lead, or crashes. */
/* says: uses a pointer that was never set */
#include "try.cuh"

enum { N = 1000, RESULTS = 3 };

__global__ void count(float *x, int first) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        x[i] = (float)(first + i);
    }
}

static void take_memory(float **results, int n) {
    for (int i = 0; i < n; i++) {
        results[i] = (float *)malloc(N * sizeof(float));
    }
}

int main() {
    float *x, *results[RESULTS];
    double sum = 0;
#ifdef MENDED
    take_memory(results, RESULTS);
#else
    take_memory(results, RESULTS - 1);
#endif
    TRY(cudaMalloc(&x, N * sizeof(float)));
    for (int i = 0; i < RESULTS; i++) {
        count<<<4, 256>>>(x, i);
        TRY(cudaGetLastError());
        /* expect: out-of-bounds access */
        TRY(cudaMemcpy(results[i], x, N * sizeof(float), cudaMemcpyDeviceToHost));
        sum += checksum(results[i], N);
        free(results[i]);
    }
    TRY(cudaFree(x));
    return expect(sum, 1001500500);
}
