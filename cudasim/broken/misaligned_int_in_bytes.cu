/* A number is read from the middle of a byte stream by a cast. A GPU wants addresses that are a
   multiple of the size. */
#include "try.cuh"

static __global__ void parse(int *out, const unsigned char *bytes) {
#ifdef MENDED
    out[0] = bytes[1] | bytes[2] << 8 | bytes[3] << 16 | bytes[4] << 24;
#else
    out[0] = *(const int *)(bytes + 1); /* expect: misaligned access */
#endif
}

int main(void) {
    unsigned char host[8] = {9, 1, 2, 0, 0, 9, 9, 9}, *bytes;
    int result, *out;
    TRY(cudaMalloc(&bytes, sizeof host));
    TRY(cudaMalloc(&out, sizeof result));
    TRY(cudaMemcpy(bytes, host, sizeof host, cudaMemcpyHostToDevice));
    parse<<<1, 1>>>(out, bytes);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(bytes));
    return expect(result, 513);
}
