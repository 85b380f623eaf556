/* A kernel prints a size_t by %zu. A GPU's printf() knows the sizes h, l and ll alone: what follows
   in the line is garbage there. */
#include "try.cuh"

static __global__ void count(const float *x, size_t n, int *positive) {
    for (size_t i = 0; i < n; i++) {
        *positive += x[i] > 0;
    }
#ifdef MENDED
    printf("of %llu: %d\n", (unsigned long long)n, *positive);
#else
    printf("of %zu: %d\n", n, *positive); /* expect: undefined behaviour */
#endif
}

int main(void) {
    float host[] = {1, -2, 3, 4}, *x;
    int sum, *positive;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&positive, sizeof *positive));
    TRY(cudaMemset(positive, 0, sizeof *positive));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    count<<<1, 1>>>(x, 4, positive);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&sum, positive, sizeof sum, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(positive));
    return expect(sum, 3);
}
