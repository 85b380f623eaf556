/* A barrier that some threads never reach, in a kernel that is launched for each step. It is said
   once, and nothing else is. GPUs since Volta let those pass that are left; earlier ones hang. */
#include "try.cuh"

enum { N = 100, STEPS = 3, THREADS = 64 };

static __global__ void rotate(const float *from, float *to) {
    __shared__ float copy[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    copy[threadIdx.x] = i < N ? from[i] : 0;
#ifdef MENDED
    __syncthreads();
#else
    if (i >= N) {
        return;
    }
    __syncthreads(); /* expect: barrier divergence */
#endif
    if (i < N) {
        to[i] = copy[threadIdx.x ^ 1] + 1;
    }
}

int main(void) {
    float host[N], *x[2];
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x[0], sizeof host));
    TRY(cudaMalloc(&x[1], sizeof host));
    TRY(cudaMemcpy(x[0], host, sizeof host, cudaMemcpyHostToDevice));
    for (int step = 0; step < STEPS; step++) {
        rotate<<<2, THREADS>>>(x[step % 2], x[1 - step % 2]);
        TRY(cudaGetLastError());
    }
    TRY(cudaMemcpy(host, x[STEPS % 2], sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x[0]));
    TRY(cudaFree(x[1]));
    return expect(host[0] + host[1] + host[N - 1], 1 + 0 + N - 2 + 9);
}
