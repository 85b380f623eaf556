/* The pointer to a thread's own row is declared, and never set to one. On a GPU the kernel ends
   with an illegal address; a compiler that sees it may leave out what follows. */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(int *out) {
    int *own = NULL;
#ifdef MENDED
    own = out + threadIdx.x;
#else
    (void)out;
#endif
    *own = 3; /* expect: null pointer */
}

int main(void) {
    int host[N], *out;
    TRY(cudaMalloc(&out, sizeof host));
    fill<<<1, N>>>(out);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    return expect(host[0] + host[N - 1], 6);
}
