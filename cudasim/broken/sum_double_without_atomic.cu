/* Threads of all blocks add to one double with a compare-and-swap that reads the sum only once:
   where another thread was faster, the swap fails and the addition is dropped. Mended, it is the
   loop of the CUDA guide. */
/* says: use an atomic */
#include "try.cuh"

static __device__ void add(double *p, double value) {
    unsigned long long *word = (unsigned long long *)p;
    unsigned long long old = *word, assumed;
#ifdef MENDED
    do {
        assumed = old;
        old = atomicCAS(word, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
#else
    assumed = old;
    *word = __double_as_longlong(value + __longlong_as_double(assumed)); /* expect: race */
#endif
}

static __global__ void sum(double *out) {
    add(out, threadIdx.x);
}

int main(void) {
    double host, *out;
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMemset(out, 0, sizeof host));
    sum<<<2, 64>>>(out);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    return expect(host, 4032);
}
