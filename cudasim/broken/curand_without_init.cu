/* A generator is used that curand_init() has never seen: its state is whatever lay in memory. */
#include <curand_kernel.h>

#include "try.cuh"

enum { BLOCKS = 2, THREADS = 64, N = BLOCKS * THREADS };

static __global__ void make_states(curandState *states, unsigned long long seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curand_init(seed, i, 0, &states[i]);
}

static __global__ void draw(float *out, curandState *states) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = curand_uniform(&states[i]); /* expect: uninitialized device memory */
}

int main(void) {
    float host[N], *out;
    curandState *states;
    int inside = 0;
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMalloc(&states, N * sizeof *states));
#ifdef MENDED
    make_states<<<BLOCKS, THREADS>>>(states, 1);
#else
    (void)make_states;
#endif
    draw<<<BLOCKS, THREADS>>>(out, states);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        inside += host[i] > 0 && host[i] <= 1;
    }
    TRY(cudaFree(states));
    TRY(cudaFree(out));
    return expect(inside, N);
}
