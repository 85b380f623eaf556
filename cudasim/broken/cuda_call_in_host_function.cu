/* A host function that a stream calls may not call CUDA: it would wait for itself. */
#include "try.cuh"

static float *x;

static void look(void *data) {
    float *y = (float *)data;
#ifdef MENDED
    *y = 1;
#else
    TRY(cudaMemcpy(y, x, sizeof *y, cudaMemcpyDeviceToHost)); /* expect: unsupported */
#endif
}

int main() {
    float y = 0, one = 1;
    TRY(cudaMalloc(&x, sizeof *x));
    TRY(cudaMemcpy(x, &one, sizeof one, cudaMemcpyHostToDevice));
    TRY(cudaLaunchHostFunc(0, look, &y));
    TRY(cudaDeviceSynchronize());
    TRY(cudaFree(x));
    return expect(y, 1);
}
