/* A copy to a variable of the host as if it were the device's: the word __device__ was forgotten.
   nvcc does not see it; the copy fails, and a program that looks at no status goes on. */
/* says: declare it __device__ */
#include "try.cuh"

namespace counters {
#ifdef MENDED
__device__ int seen[2];
#else
int seen[2];
#endif
} // namespace counters

int main(void) {
    int host[2] = {3, 4}, back[2] = {0, 0};
    cudaMemcpyToSymbol(counters::seen, host, sizeof host); /* expect: invalid symbol */
#ifdef MENDED
    TRY(cudaMemcpyFromSymbol(back, counters::seen, sizeof back));
#endif
    return expect(10 * back[0] + back[1], 34);
}
