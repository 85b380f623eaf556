/* Two buffers take turns as input and output, and the swap comes too early: the second round reads
   what nobody has written. */
#include "try.cuh"

enum { N = 64 };

static __global__ void add_one(float *to, const float *from) {
    to[threadIdx.x] = from[threadIdx.x] + 1; /* expect: uninitialized device memory */
}

int main(void) {
    float host[N] = {0}, *buffer[2];
    TRY(cudaMalloc(&buffer[0], sizeof host));
    TRY(cudaMalloc(&buffer[1], sizeof host));
    TRY(cudaMemcpy(buffer[0], host, sizeof host, cudaMemcpyHostToDevice));
#ifdef MENDED
    int first = 0;
#else
    int first = 1;
#endif
    for (int round = 0; round < 4; round++) {
        int from = (first + round) % 2;
        add_one<<<1, N>>>(buffer[1 - from], buffer[from]);
        TRY(cudaGetLastError());
    }
    TRY(cudaMemcpy(host, buffer[0], sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(buffer[1]));
    TRY(cudaFree(buffer[0]));
    return expect(host[0], 4);
}
