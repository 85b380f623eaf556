/* Each copy is timed by two events, and one of them is never destroyed. */
#include "try.cuh"
/* says: what it made was never destroyed, of 4 calls */

enum { COPIES = 4, N = 64 };

static void timed_copy(float *to, const float *from) {
    cudaEvent_t begin, end;
    TRY(cudaEventCreate(&begin)); /* expect: leak */
    TRY(cudaEventCreate(&end));
    TRY(cudaEventRecord(begin, 0));
    TRY(cudaMemcpyAsync(to, from, N * sizeof *to, cudaMemcpyHostToDevice, 0));
    TRY(cudaEventRecord(end, 0));
    TRY(cudaEventSynchronize(end));
#ifdef MENDED
    TRY(cudaEventDestroy(begin));
#endif
    TRY(cudaEventDestroy(end));
}

int main(void) {
    float *pinned, *x, last;
    TRY(cudaMallocHost((void **)&pinned, N * sizeof *pinned));
    TRY(cudaMalloc((void **)&x, N * sizeof *x));
    for (int i = 0; i < N; i++) {
        pinned[i] = (float)i;
    }
    for (int k = 0; k < COPIES; k++) {
        timed_copy(x, pinned);
    }
    TRY(cudaMemcpy(&last, x + N - 1, sizeof last, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFreeHost(pinned));
    return expect(last, N - 1);
}
