/* Bytes have 256 values, and the host's histogram has a place for the largest, 255, but none for 0:
   the copy back writes into the variable that lies beside it. */
/* says: static or global variable */
#include "try.cuh"

#ifdef MENDED
enum { BINS = 256 };
#else
enum { BINS = 255 };
#endif

static unsigned bins_of_red[BINS], bins_of_blue[BINS];

static __global__ void count(unsigned *bin, const unsigned char *byte) {
    atomicAdd(&bin[byte[threadIdx.x]], 1);
}

/* The status is handed on. */
static __attribute__((noinline)) cudaError_t histogram(unsigned *to, const unsigned char *byte) {
    unsigned *bin;
    TRY(cudaMalloc(&bin, 256 * sizeof *bin));
    TRY(cudaMemset(bin, 0, 256 * sizeof *bin));
    count<<<1, 128>>>(bin, byte);
    TRY(cudaGetLastError());
    /* expect: out-of-bounds access */
    cudaError_t status = cudaMemcpy(to, bin, 256 * sizeof *bin, cudaMemcpyDeviceToHost);
    TRY(cudaFree(bin));
    return status;
}

int main(void) {
    unsigned char pixels[2][128], *byte;
    for (int i = 0; i < 128; i++) {
        pixels[0][i] = 2 * i;
        pixels[1][i] = 7;
    }
    TRY(cudaMalloc(&byte, sizeof pixels));
    TRY(cudaMemcpy(byte, pixels, sizeof pixels, cudaMemcpyHostToDevice));
    TRY(histogram(bins_of_red, byte));
    TRY(histogram(bins_of_blue, byte + 128));
    TRY(cudaFree(byte));
    return expect(bins_of_red[254] + bins_of_blue[7], 129);
}
