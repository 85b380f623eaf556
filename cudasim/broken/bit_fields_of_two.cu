/* Two threads store in two bit fields of one word. Each store reads the word, changes its bits and
   stores the word: on a GPU the one may undo the other. */
#include "try.cuh"

struct Flags {
    unsigned first : 4, second : 4, rest : 24;
};

__global__ void set(Flags *flags) {
    if (threadIdx.x == 0) {
        flags->first = 3;
    }
#ifdef MENDED
    __syncthreads();
#endif
    if (threadIdx.x == 1) {
        flags->second = 5; /* expect: race */
    }
}

int main() {
    Flags host, *flags;
    TRY(cudaMalloc(&flags, sizeof host));
    TRY(cudaMemset(flags, 0, sizeof host));
    set<<<1, 64>>>(flags);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&host, flags, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(flags));
    return expect(host.first + 10 * host.second, 53);
}
