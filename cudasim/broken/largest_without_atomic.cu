/* Every thread compares its number with the largest so far and stores it if it is larger. Between
   the two another thread may store a larger one, which is then lost. A barrier would not help. */
/* says: both read the value, change it and store it, and one change is lost: use an atomic */
#include "try.cuh"

static __global__ void largest(int *best, const int *x) {
    int i = threadIdx.x;
#ifdef MENDED
    atomicMax(best, x[i]);
#else
    if (x[i] > *best) { /* expect: race */
        *best = x[i];
    }
#endif
}

int main(void) {
    const int N = 64;
    int x[N], right = 0, got, *device_x, *best;
    for (int i = 0; i < N; i++) {
        x[i] = i * 37 % 61;
        right = x[i] > right ? x[i] : right;
    }
    TRY(cudaMalloc(&device_x, sizeof x));
    TRY(cudaMalloc(&best, sizeof *best));
    TRY(cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice));
    TRY(cudaMemset(best, 0, sizeof *best));
    largest<<<1, N>>>(best, device_x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&got, best, sizeof got, cudaMemcpyDeviceToHost));
    TRY(cudaFree(device_x));
    TRY(cudaFree(best));
    return expect(got, right);
}
