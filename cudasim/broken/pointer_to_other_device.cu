/* The kernel finds its pointer in memory: the table is on device 1, one of the buffers on device 0,
   whose kernel has just filled it. On a GPU that is an illegal address. */
/* devices: 2 */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x, float value) {
    x[threadIdx.x] = value;
}

static __global__ void add_all(float *sum, float *const *table, int buffers) {
    for (int b = 0; b < buffers; b++) {
        sum[threadIdx.x] += table[b][threadIdx.x]; /* expect: memory of another device */
    }
}

int main(void) {
    float host[N], *buffer[2], *sum, **table;
    cudaEvent_t filled;
#ifdef MENDED
    TRY(cudaSetDevice(1));
#endif
    TRY(cudaMalloc(&buffer[0], sizeof host));
    TRY(cudaEventCreate(&filled));
    fill<<<1, N>>>(buffer[0], 1);
    TRY(cudaEventRecord(filled));
    TRY(cudaSetDevice(1));
    TRY(cudaMalloc(&buffer[1], sizeof host));
    TRY(cudaMalloc(&sum, sizeof host));
    TRY(cudaMalloc(&table, sizeof buffer));
    TRY(cudaMemcpy(table, buffer, sizeof buffer, cudaMemcpyHostToDevice));
    fill<<<1, N>>>(buffer[1], 2);
    fill<<<1, N>>>(sum, 0);
    TRY(cudaStreamWaitEvent(0, filled, 0));
    add_all<<<1, N>>>(sum, table, 2);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, sum, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaEventDestroy(filled));
    TRY(cudaFree(buffer[0]));
    TRY(cudaFree(buffer[1]));
    TRY(cudaFree(sum));
    TRY(cudaFree(table));
    return expect(checksum(host, N), 3 * 2080);
}
