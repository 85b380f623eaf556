/* A block-wide sum is taken twice with the same buffer. The second call stores into it while other
   threads still read the first result. On a GPU the mean is sometimes the sum of squares. */
#include "try.cuh"

enum { THREADS = 128 };

static __device__ float block_sum(float *buffer, float value) {
#ifdef MENDED
    __syncthreads();
#endif
    buffer[threadIdx.x] = value; /* expect: race */
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < THREADS; i++) {
        sum += buffer[i];
    }
    return sum;
}

static __global__ void moments(float *mean, float *square, const float *x) {
    __shared__ float buffer[THREADS];
    float value = x[threadIdx.x];
    mean[threadIdx.x] = block_sum(buffer, value) / THREADS;
    square[threadIdx.x] = block_sum(buffer, value * value);
}

int main(void) {
    float host[THREADS], *x, *mean, *square;
    for (int i = 0; i < THREADS; i++) {
        host[i] = 2;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&mean, sizeof host));
    TRY(cudaMalloc(&square, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    moments<<<1, THREADS>>>(mean, square, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, mean, sizeof host, cudaMemcpyDeviceToHost));
    return expect(checksum(host, THREADS), 2 * 8256);
}
