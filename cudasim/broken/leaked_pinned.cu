/* A loader takes a larger pinned buffer whenever a batch is longer than all before it, and forgets
   the smaller one. Pinned memory cannot be swapped out: the host runs short of it first. */
#include "try.cuh"
/* says: of 2 calls, never given back */

enum { BATCHES = 4 };

typedef struct Loader {
    float *pinned;
    int room; /* floats */
} Loader;

static float *buffer(Loader *loader, int floats) {
    if (floats > loader->room) {
#ifdef MENDED
        TRY(cudaFreeHost(loader->pinned));
#endif
        /* expect: leak */
        TRY(cudaMallocHost((void **)&loader->pinned, (size_t)floats * sizeof(float)));
        loader->room = floats;
    }
    return loader->pinned;
}

int main(void) {
    const int length[BATCHES] = {16, 48, 32, 64};
    Loader loader = {NULL, 0};
    float *x, last = 0;
    TRY(cudaMalloc((void **)&x, 64 * sizeof *x));
    for (int k = 0; k < BATCHES; k++) {
        float *from = buffer(&loader, length[k]);
        for (int i = 0; i < length[k]; i++) {
            from[i] = (float)i;
        }
        TRY(cudaMemcpy(x, from, (size_t)length[k] * sizeof *x, cudaMemcpyHostToDevice));
        TRY(cudaMemcpy(&last, x + length[k] - 1, sizeof last, cudaMemcpyDeviceToHost));
    }
    TRY(cudaFreeHost(loader.pinned));
    TRY(cudaFree(x));
    return expect(last, 63);
}
