/* The address of a device variable is taken by the host and given to a kernel. On the host the
   name means a shadow of the variable: its address is of no use on a GPU. */
#include "try.cuh"

static __device__ float total;

#ifndef MENDED
static __global__ void add(float *sum, float value) {
    atomicAdd(sum, value);
}
#endif

static __global__ void add_to_total(float value) {
    atomicAdd(&total, value);
}

int main(void) {
    float host = 0;
    TRY(cudaMemcpyToSymbol(total, &host, sizeof host));
    add_to_total<<<1, 1>>>(0);
#ifdef MENDED
    add_to_total<<<1, 32>>>(1);
#else
    add<<<1, 32>>>(&total, 1); /* expect: host pointer passed to a kernel */
#endif
    TRY(cudaGetLastError());
    TRY(cudaMemcpyFromSymbol(&host, total, sizeof host));
    return expect(host, 32);
}
