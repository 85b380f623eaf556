/* Copies of every vector type, as programs write them: the profile must count each as one access of
   a lane, whatever the compiler makes of it. */
#include <stdio.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { N = 256 };

static __device__ float first(float x) {
    return x;
}
template <class T> static __device__ float first(T v) {
    return (float)v.x;
}

template <class T> static __device__ T same(T v) {
    return v;
}

template <class T> struct Wrapped { T inside; };

/* A local variable, whole. */
template <class T> static __global__ void local(T *out, const T *in, float *sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T v = in[i];
    sum[i] = first(v);
    out[i] = v;
}

/* By value, through a function. */
template <class T> static __global__ void by_value(T *out, const T *in, float *sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = first(same(in[i]));
    out[i] = same(in[i]);
}

/* In a structure. */
template <class T>
static __global__ void wrapped(Wrapped<T> *out, const Wrapped<T> *in, float *sum) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
        Wrapped<T> v = in[i];
        sum[i] = first(v.inside);
        out[i] = v;
    }
}

template <class T> static void all(const char *name) {
    T *x, *y;
    float *sum;
    cudaMalloc(&x, N * sizeof *x);
    cudaMalloc(&y, N * sizeof *y);
    cudaMalloc(&sum, N * sizeof *sum);
    cudaMemset(x, 0, N * sizeof *x);
    local<T><<<N / 64, 64>>>(y, x, sum);
    by_value<T><<<N / 64, 64>>>(y, x, sum);
    wrapped<T><<<2, 64>>>((Wrapped<T> *)y, (const Wrapped<T> *)x, sum);
    cudaFree(x);
    cudaFree(y);
    cudaFree(sum);
    printf("%s\n", name);
}
#define ALL(T) all<T>(#T)

/* The members that a program uses may be some of them; and results are made, not copied. */
static __global__ void members(float4 *out, const float4 *in, const int2 *more, float *sum) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 p = in[i];
    int2 q = more[i];
    sum[i] = p.x + p.y + p.z + p.w + q.x * q.y;
    out[i] = make_float4(p.x + 1, p.y + 2, p.z + 3, p.w + 4);
}

int main(void) {
    ALL(float2), ALL(float4), ALL(double2), ALL(int2), ALL(int4), ALL(uint2), ALL(uint4);
    ALL(short2), ALL(short4), ALL(ushort2), ALL(ushort4), ALL(char2), ALL(char4);
    ALL(uchar2), ALL(uchar4), ALL(longlong2), ALL(ulonglong2), ALL(__half2), ALL(__nv_bfloat162);
    float4 *x, *y;
    int2 *more;
    float *sum;
    cudaMalloc(&x, N * sizeof *x);
    cudaMalloc(&y, N * sizeof *y);
    cudaMalloc(&more, N * sizeof *more);
    cudaMalloc(&sum, N * sizeof *sum);
    cudaMemset(x, 0, N * sizeof *x);
    cudaMemset(more, 0, N * sizeof *more);
    members<<<N / 64, 64>>>(y, x, more, sum);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
