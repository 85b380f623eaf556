/* One printf() with 33 numbers. A GPU takes 32: it prints the last "%d" as it stands. */
#include "try.cuh"

static __global__ void show(const int *x) {
#define FOUR(i) x[i], x[(i) + 1], x[(i) + 2], x[(i) + 3]
#define SIXTEEN(i) FOUR(i), FOUR((i) + 4), FOUR((i) + 8), FOUR((i) + 12)
#define F16 "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d "
#ifdef MENDED
    printf(F16 F16 "\n", SIXTEEN(0), SIXTEEN(16));
    printf("%d\n", x[32]);
#else
    printf(F16 F16 "%d\n", SIXTEEN(0), SIXTEEN(16), x[32]); /* expect: undefined behaviour */
#endif
}

int main(void) {
    int host[33], *x;
    for (int i = 0; i < 33; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    show<<<1, 1>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaFree(x));
    return expect(host[32], 32);
}
