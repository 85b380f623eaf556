/* A kernel is given a structure in managed memory, and follows the pointer in it to an array that
   is managed, too. The host reads the array before the kernel is over. */
/* says: managed memory that a kernel writes */
#include "try.cuh"

enum { N = 64 };

struct Vector {
    int length;
    float *x;
};

static __global__ void twice(Vector *v) {
    if ((int)threadIdx.x < v->length) {
        v->x[threadIdx.x] *= 2;
    }
}

int main() {
    Vector *v;
    float *x;
    TRY(cudaMallocManaged(&v, sizeof *v));
    TRY(cudaMallocManaged(&x, N * sizeof *x));
    *v = {N, x};
    for (int i = 0; i < N; i++) {
        x[i] = i;
    }
    twice<<<1, N>>>(v);
    TRY(cudaGetLastError());
#ifdef MENDED
    TRY(cudaDeviceSynchronize());
#endif
    float last = x[N - 1]; /* expect: pending kernel */
    TRY(cudaDeviceSynchronize());
    TRY(cudaFree(x));
    TRY(cudaFree(v));
    return expect(last, 2 * (N - 1));
}
