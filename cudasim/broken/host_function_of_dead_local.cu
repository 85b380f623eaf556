/* A host function is given a local variable of a function that returns before the stream gets to
   it. The count then goes to whatever lies there by now. */
#include "try.cuh"

#ifdef MENDED
#define KEPT static
#else
#define KEPT
#endif

static double seen;

static void count(void *data) {
    seen = ++*(int *)data;
}

static __attribute__((noinline)) void count_later(cudaStream_t stream) {
    KEPT int calls;
    calls = 2;
    TRY(cudaLaunchHostFunc(stream, count, &calls)); /* expect: use after free */
}

int main(void) {
    cudaStream_t stream;
    TRY(cudaStreamCreate(&stream));
    count_later(stream);
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaStreamDestroy(stream));
    return expect(seen, 3);
}
