/* The tile is filled again while slower threads still read it: the barrier at the end of the loop
   body is missing. On a GPU some sums use numbers of the next tile. */
#include "try.cuh"

enum { TILE = 64, TILES = 4 };

static __global__ void sums(float *out, const float *x) {
    __shared__ float tile[TILE];
    float sum = 0;
    for (int t = 0; t < TILES; t++) {
        tile[threadIdx.x] = x[t * TILE + threadIdx.x]; /* expect: race */
        __syncthreads();
        for (int i = 0; i < TILE; i++) {
            sum += tile[i];
        }
#ifdef MENDED
        __syncthreads();
#endif
    }
    out[threadIdx.x] = sum;
}

int main(void) {
    float host[TILE * TILES], result[TILE], *x, *out;
    for (int i = 0; i < TILE * TILES; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof result));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    sums<<<1, TILE>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(result, TILE), 32640.0 * 2080);
}
