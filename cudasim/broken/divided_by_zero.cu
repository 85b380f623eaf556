/* Columns are counted by a size that is 0: an integer divided by it. A GPU gives some number and
   says nothing. */
#include "try.cuh"

enum { N = 64 };

static __global__ void rows(float *out, const int *columns) {
    int i = threadIdx.x;
    out[i] = (float)(i / columns[i % 2]); /* expect: undefined behaviour */
}

int main(void) {
#ifdef MENDED
    int host_columns[2] = {4, 8};
#else
    int host_columns[2] = {4, 0};
#endif
    float host[N], *out;
    int *columns;
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMalloc(&columns, sizeof host_columns));
    TRY(cudaMemcpy(columns, host_columns, sizeof host_columns, cudaMemcpyHostToDevice));
    rows<<<1, N>>>(out, columns);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(columns));
    return expect(checksum(host, N), 15440);
}
