/* Numbers of cuRAND's generators for the host: how they are distributed, and when they come where.
   library: curand */
#include <math.h>

#include "filled.cuh"

enum { N = 1 << 16 /* of which moments are taken */ };

/* ---- moments --------------------------------------------------------------------------------- */

/* The mean and variance of N numbers are this far from what they should be in one run of three
   million: five deviations, of the mean sqrt(variance / N), of the variance sqrt((m4 - variance^2)
   / N), where m4 is the fourth central moment. */
static void expect(const double *x, double mean, double variance, double m4) {
    double sum = 0, squares = 0;
    for (int i = 0; i < N; i++) {
        sum += x[i];
        squares += (x[i] - mean) * (x[i] - mean);
    }
    MUST(fabs(sum / N - mean) < 5 * sqrt(variance / N));
    MUST(fabs(squares / N - variance) < 5 * sqrt((m4 - variance * variance) / N));
}

static void uniform_moments(curandGenerator_t g, Filled to, double *x) {
    float *floats = (float *)malloc(N * sizeof *floats);
    DRAWN(curandGenerateUniform(g, (float *)to.memory, N));
    read_back(to, floats, N * sizeof *floats);
    for (int i = 0; i < N; i++) {
        MUST(floats[i] > 0 && floats[i] <= 1);
        x[i] = floats[i];
    }
    expect(x, 1 / 2., 1 / 12., 1 / 80.);
    DRAWN(curandGenerateUniformDouble(g, (double *)to.memory, N));
    read_back(to, x, N * sizeof *x);
    for (int i = 0; i < N; i++) {
        MUST(x[i] > 0 && x[i] <= 1);
    }
    expect(x, 1 / 2., 1 / 12., 1 / 80.);
    free(floats);
}

static void normal_moments(curandGenerator_t g, Filled to, double *x) {
    float *floats = (float *)malloc(N * sizeof *floats);
    DRAWN(curandGenerateNormal(g, (float *)to.memory, N, 3, 2));
    read_back(to, floats, N * sizeof *floats);
    for (int i = 0; i < N; i++) {
        x[i] = floats[i];
    }
    expect(x, 3, 4, 3 * 16);
    DRAWN(curandGenerateLogNormal(g, (float *)to.memory, N, 3, 2));
    read_back(to, floats, N * sizeof *floats);
    for (int i = 0; i < N; i++) {
        x[i] = log(floats[i]);
    }
    expect(x, 3, 4, 3 * 16);
    DRAWN(curandGenerateNormalDouble(g, (double *)to.memory, N, -1, 0.5));
    read_back(to, x, N * sizeof *x);
    expect(x, -1, 0.25, 3 / 16.);
    free(floats);
}

static void poisson_moments(curandGenerator_t g, Filled to, double *x) {
    static const double lambdas[] = {0.25, 3, 40, 1000};
    unsigned *counts = (unsigned *)malloc(N * sizeof *counts);
    for (double lambda : lambdas) {
        int zeros = 0;
        DRAWN(curandGeneratePoisson(g, (unsigned *)to.memory, N, lambda));
        read_back(to, counts, N * sizeof *counts);
        for (int i = 0; i < N; i++) {
            zeros += counts[i] == 0;
            x[i] = counts[i];
        }
        expect(x, lambda, lambda, lambda + 3 * lambda * lambda);
        double none = exp(-lambda);
        MUST(fabs((double)zeros / N - none) <= 5 * sqrt(none * (1 - none) / N) + 1. / N);
    }
    free(counts);
}

static void moments(curandRngType_t type, bool on_host) {
    Filled to = take(on_host, N * sizeof(double));
    double *x = (double *)malloc(N * sizeof *x);
    curandGenerator_t g = make(type, on_host, 20261130);
    uniform_moments(g, to, x);
    normal_moments(g, to, x);
    poisson_moments(g, to, x);
    DRAWN(curandDestroyGenerator(g));
    free(x);
    give_back(to);
}

/* ---- streams and memory ---------------------------------------------------------------------- */

__global__ void double_all(float *x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
}

/* The numbers come between what the stream was given before and after; another stream waits. */
static void streams_keep_their_order(void) {
    enum { COUNT = 256 };
    static float x[COUNT];
    float *a, *b;
    cudaStream_t stream, other;
    cudaEvent_t drawn;
    curandGenerator_t g = make(CURAND_RNG_PSEUDO_PHILOX4_32_10, false, 1);
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    OK(cudaEventCreate(&drawn));
    OK(cudaMalloc(&a, sizeof x));
    OK(cudaMalloc(&b, sizeof x));
    DRAWN(curandSetStream(g, stream));
    OK(cudaMemsetAsync(a, 0xff, sizeof x, stream));
    DRAWN(curandGenerateUniform(g, a, COUNT));
    double_all<<<2, COUNT / 2, 0, stream>>>(a);
    OK(cudaGetLastError());
    OK(cudaEventRecord(drawn, stream));
    OK(cudaStreamWaitEvent(other, drawn, 0));
    OK(cudaMemcpyAsync(b, a, sizeof x, cudaMemcpyDeviceToDevice, other));
    OK(cudaStreamSynchronize(other));
    OK(cudaMemcpy(x, b, sizeof x, cudaMemcpyDeviceToHost));
    float most = 0;
    for (int i = 0; i < COUNT; i++) {
        MUST(x[i] > 0 && x[i] <= 2);
        most = fmaxf(most, x[i]);
    }
    MUST(most > 1.8f);
    DRAWN(curandSetStream(g, 0));
    DRAWN(curandDestroyGenerator(g));
    OK(cudaStreamDestroy(stream));
    OK(cudaStreamDestroy(other));
    OK(cudaEventDestroy(drawn));
    OK(cudaFree(a));
    OK(cudaFree(b));
}

__device__ float variable[4];

/* Managed and pinned memory, a variable, and a part of an allocation. */
static void other_memory(void) {
    float *managed, *pinned, *part, at_variable[4], first;
    void *p;
    curandGenerator_t g = make(CURAND_RNG_PSEUDO_XORWOW, false, 1);
    OK(cudaMallocManaged(&managed, 4 * sizeof *managed));
    OK(cudaMallocHost(&pinned, 4 * sizeof *pinned));
    OK(cudaMalloc(&part, 5 * sizeof *part));
    OK(cudaGetSymbolAddress(&p, variable));
    DRAWN(curandGenerateUniform(g, managed, 4));
    DRAWN(curandGenerateUniform(g, pinned, 4));
    DRAWN(curandGenerateUniform(g, (float *)p, 4));
    DRAWN(curandGenerateUniform(g, part + 1, 4));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyFromSymbol(at_variable, variable, sizeof at_variable));
    OK(cudaMemcpy(&first, part + 1, sizeof first, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4; i++) {
        MUST(managed[i] > 0 && managed[i] <= 1 && pinned[i] > 0 && pinned[i] <= 1);
        MUST(at_variable[i] > 0 && at_variable[i] <= 1);
    }
    MUST(first > 0 && first <= 1 && first != managed[0] && managed[0] != pinned[0]);
    DRAWN(curandDestroyGenerator(g));
    OK(cudaFree(managed));
    OK(cudaFreeHost(pinned));
    OK(cudaFree(part));
}

int main(void) {
    for (int on_host = 0; on_host < 2; on_host++) {
        moments(CURAND_RNG_PSEUDO_DEFAULT, on_host);
        moments(CURAND_RNG_PSEUDO_PHILOX4_32_10, on_host);
    }
    streams_keep_their_order();
    other_memory();
    return 0;
}
