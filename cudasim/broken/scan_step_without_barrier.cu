/* The way down of a scan: each step changes what another thread has left in the step before, and
   no barrier is between two steps. A warp that is ahead takes old sums. */
/* says: a __syncthreads() is missing between the steps */
#include "try.cuh"

enum { N = 128 };

static __global__ void scan(float *x) {
    __shared__ float sum[N];
    int t = threadIdx.x, far = 1;
    sum[2 * t] = x[2 * t];
    sum[2 * t + 1] = x[2 * t + 1];
    for (int left = N / 2; left > 0; left /= 2, far *= 2) {
        __syncthreads();
        if (t < left) {
            sum[far * (2 * t + 2) - 1] += sum[far * (2 * t + 1) - 1];
        }
    }
    if (t == 0) {
        sum[N - 1] = 0;
    }
    for (int pairs = 1; pairs < N; pairs *= 2) {
        far /= 2;
#ifdef MENDED
        __syncthreads();
#endif
        if (t < pairs) {
            float &right = sum[far * (2 * t + 2) - 1], &left = sum[far * (2 * t + 1) - 1],
                  old = left;
            left = right, right += old; /* expect: race */
        }
    }
    __syncthreads();
    x[2 * t] = sum[2 * t];
    x[2 * t + 1] = sum[2 * t + 1];
}

int main(void) {
    float host[N], *x;
    for (int i = 0; i < N; i++) {
        host[i] = i % 3;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    scan<<<1, N / 2>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 693504);
}
