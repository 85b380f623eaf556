/* The kernel is made for blocks of 256 threads by its template's argument, and launched with 128:
   half of its shared memory is added up without having been filled. */
#include "try.cuh"

template <int THREADS> __global__ void sum(const float *x, float *total) {
    __shared__ float part[THREADS];
    int t = threadIdx.x;
    part[t] = x[t];
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            part[t] += part[t + half]; /* expect: uninitialized shared memory */
        }
        __syncthreads();
    }
    if (t == 0) {
        *total = part[0];
    }
}

int main() {
    enum { N = 128 };
    float host[N], *x, *total, result;
    for (int i = 0; i < N; i++) {
        host[i] = (float)i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&total, sizeof result));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
#ifdef MENDED
    sum<N><<<1, N>>>(x, total);
#else
    sum<256><<<1, N>>>(x, total);
#endif
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&result, total, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(total));
    return expect(result, 8128);
}
