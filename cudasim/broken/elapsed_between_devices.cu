/* The time between events of two devices is asked for. Each GPU has a clock of its own: the call
   fails. */
/* devices: 2 */
#include "try.cuh"

int main(void) {
    cudaEvent_t from, to;
    float ms = -1;
    TRY(cudaEventCreate(&from));
    TRY(cudaEventRecord(from));
#ifndef MENDED
    TRY(cudaSetDevice(1));
#endif
    TRY(cudaEventCreate(&to));
    TRY(cudaEventRecord(to));
    TRY(cudaEventSynchronize(from));
    TRY(cudaEventSynchronize(to));
    TRY(cudaEventElapsedTime(&ms, from, to)); /* expect: event misuse */
    TRY(cudaEventDestroy(from));
    TRY(cudaEventDestroy(to));
    return expect(ms >= 0, 1);
}
