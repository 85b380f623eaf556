/* Of a structure of pointers one is set on one of two paths. On a GPU the kernel dies, or writes
   where whatever was on the host's stack leads. */
#include "try.cuh"

struct Buffers {
    float *out, *sums;
};

static __global__ void fill(Buffers buffers) {
    buffers.out[threadIdx.x] = 1;
    buffers.sums[threadIdx.x] = 2; /* expect: out-of-bounds access */
}

static void allocate(Buffers *buffers, bool with_sums) {
    TRY(cudaMalloc(&buffers->out, 32 * sizeof(float)));
    if (with_sums) {
        TRY(cudaMalloc(&buffers->sums, 32 * sizeof(float)));
    }
}

int main(int argc, char **argv) {
    float host[32] = {0};
    Buffers buffers;
    (void)argv;
#ifdef MENDED
    argc++;
#endif
    allocate(&buffers, argc > 1);
    fill<<<1, 32>>>(buffers);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, buffers.out, sizeof host, cudaMemcpyDeviceToHost));
    return expect(checksum(host, 32), 528);
}
