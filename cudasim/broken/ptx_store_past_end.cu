/* Inline PTX stores into shared memory, and the last thread stores after its end. */
#include "try.cuh"

enum { N = 128 };

static __global__ void shift(float *out, const float *x) {
    __shared__ float tile[N];
    int i = threadIdx.x;
#ifdef MENDED
    int next = i + 1 < N ? i + 1 : 0;
#else
    int next = i + 1;
    if (i == 0) {
        tile[0] = x[N - 1];
    }
#endif
    unsigned to = (unsigned)__cvta_generic_to_shared(tile) + next * (unsigned)sizeof(float);
    /* expect: out-of-bounds access */
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(to), "f"(x[i]));
    __syncthreads();
    out[i] = tile[i];
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = (float)i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    shift<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 690880);
}
