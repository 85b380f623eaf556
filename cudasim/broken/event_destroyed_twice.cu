/* An event is destroyed by two clean-up paths. On a GPU the second call fails, or destroys another
   event that has got the same handle. */
#include "try.cuh"

int main(void) {
    cudaEvent_t event;
    TRY(cudaEventCreate(&event));
    TRY(cudaEventRecord(event, 0));
    TRY(cudaEventSynchronize(event));
    TRY(cudaEventDestroy(event));
#ifndef MENDED
    cudaEventDestroy(event); /* expect: use after free */
#endif
    return expect(1, 1);
}
