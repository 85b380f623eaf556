/* The host's table is memory of malloc(), and the copy is given the address of the pointer to it:
   what follows the pointer on the stack goes to the device. A GPU reports nothing. */
/* says: the source has 8 bytes */
#include "try.cuh"

enum { N = 8 };

struct Sphere {
    float x, y, z, radius;
};

static __constant__ Sphere spheres[N];

static __global__ void radii(float *out) {
    out[threadIdx.x] = spheres[threadIdx.x].radius;
}

int main() {
    float host[N], *out;
    Sphere *table = (Sphere *)malloc(sizeof spheres);
    for (int i = 0; i < N; i++) {
        table[i] = Sphere{0, 0, 1, (float)i};
    }
    TRY(cudaMalloc(&out, sizeof host));
#ifdef MENDED
    TRY(cudaMemcpyToSymbol(spheres, table, sizeof spheres));
#else
    TRY(cudaMemcpyToSymbol(spheres, &table, sizeof spheres)); /* expect: out-of-bounds access */
#endif
    radii<<<1, N>>>(out);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    free(table);
    return expect(checksum(host, N), 168);
}
