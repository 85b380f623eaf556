/* The kernel finds its pointer in memory: the table is on device 1, one of the buffers on device 0.
   On a GPU that is an illegal address. */
/* devices: 2 */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill_all(float *const *table, int buffers) {
    for (int b = 0; b < buffers; b++) {
        table[b][threadIdx.x] = (float)b; /* expect: memory of another device */
    }
}

int main(void) {
    float host[N], *buffer[2], **table;
    TRY(cudaMalloc(&buffer[0], sizeof host));
    TRY(cudaSetDevice(1));
#ifdef MENDED
    TRY(cudaFree(buffer[0]));
    TRY(cudaMalloc(&buffer[0], sizeof host));
#endif
    TRY(cudaMalloc(&buffer[1], sizeof host));
    TRY(cudaMalloc(&table, sizeof buffer));
    TRY(cudaMemcpy(table, buffer, sizeof buffer, cudaMemcpyHostToDevice));
    fill_all<<<1, N>>>(table, 2);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, buffer[1], sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(buffer[0]));
    TRY(cudaFree(buffer[1]));
    TRY(cudaFree(table));
    return expect(checksum(host, N), 2080);
}
