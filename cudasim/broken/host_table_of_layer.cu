/* The layers have biases of their own lengths, and all are copied with the length of the longest:
   of the shorter ones the copy reads what lies after them in the program. */
/* says: static or global variable */
#include "try.cuh"

enum { MOST = 48 };

struct Layer {
    const float *bias;
    int width;
};

static const float first[MOST] = {1, 2, 3}, second[MOST / 2] = {4, 5}, third[MOST / 4] = {6};
static const Layer layers[] = {{first, MOST}, {second, MOST / 2}, {third, MOST / 4}};

static __global__ void add(float *sum, const float *bias, int width) {
    if (threadIdx.x < width) {
        sum[threadIdx.x] += bias[threadIdx.x];
    }
}

int main(void) {
    float host[MOST], *sum, *bias;
    TRY(cudaMalloc(&sum, sizeof host));
    TRY(cudaMalloc(&bias, sizeof host));
    TRY(cudaMemset(sum, 0, sizeof host));
    for (const Layer &layer : layers) {
#ifdef MENDED
        int count = layer.width;
#else
        int count = MOST;
#endif
        /* expect: out-of-bounds access */
        (void)cudaMemcpy(bias, layer.bias, count * sizeof(float), cudaMemcpyHostToDevice);
        add<<<1, MOST>>>(sum, bias, layer.width);
        TRY(cudaGetLastError());
    }
    TRY(cudaMemcpy(host, sum, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(bias));
    TRY(cudaFree(sum));
    return expect(checksum(host, MOST), 34);
}
