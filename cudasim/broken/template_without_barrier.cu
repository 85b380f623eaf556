/* A reduction is made for three types, and lacks a barrier: one line to mend, and one report. */
#include "try.cuh"

enum { N = 64 };

template <class Type> static __global__ void sum(Type *out, const Type *x) {
    __shared__ Type part[N];
    part[threadIdx.x] = x[threadIdx.x];
    for (int half = N / 2; half > 0; half /= 2) {
#ifdef MENDED
        __syncthreads();
#endif
        if ((int)threadIdx.x < half) {
            part[threadIdx.x] += part[threadIdx.x + half]; /* expect: race */
        }
    }
    if (threadIdx.x == 0) {
        *out = part[0];
    }
}

template <class Type> static double summed() {
    Type host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = (Type)i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof *out));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    sum<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return (double)host[0];
}

int main() {
    return expect(summed<int>() + summed<float>() + summed<double>(), 3 * 2016);
}
