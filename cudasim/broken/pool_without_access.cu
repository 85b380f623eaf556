/* Memory from cudaMallocAsync belongs to a pool, and peer access does not open it: the pool has
   rights of its own. */
/* says: cudaMemPoolSetAccess opens the pool */
/* devices: 2 */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x, float value) {
    x[threadIdx.x] = value;
}

int main(void) {
    float host[N], *x;
    cudaMemPool_t pool;
    TRY(cudaMallocAsync(&x, sizeof host, 0));
    TRY(cudaDeviceSynchronize());
    TRY(cudaDeviceGetDefaultMemPool(&pool, 0));
    TRY(cudaSetDevice(1));
#ifdef MENDED
    cudaMemAccessDesc access = {};
    access.location.type = cudaMemLocationTypeDevice;
    access.location.id = 1;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    TRY(cudaMemPoolSetAccess(pool, &access, 1));
#else
    TRY(cudaDeviceEnablePeerAccess(0, 0));
#endif
    fill<<<1, N>>>(x, 2); /* expect: memory of another device */
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 2 * 2080);
}
