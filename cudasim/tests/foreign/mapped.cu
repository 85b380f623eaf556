/* Mapped memory that kernels and the host use at a time: flags, parts of one array, host functions
   of a stream. */
#include <cuda_runtime.h>

#include <string.h>

#include "check.cuh"

enum { N = 256 };

static __global__ void work(int *data, volatile int *done) {
    data[threadIdx.x] = 3 * (int)threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence_system();
        *done = 1;
    }
}

/* The host looks at a flag while the kernel runs, and at the data after it. */
static void signal_of_kernel(void) {
    int *data, *done;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaMallocHost(&data, N * sizeof *data));
    OK(cudaHostAlloc(&done, sizeof *done, cudaHostAllocMapped));
    *(volatile int *)done = 0;
    work<<<1, N, 0, stream>>>(data, done);
    while (*(volatile int *)done == 0) {
        cudaStreamQuery(stream);
    }
    MUST(data[N - 1] == 3 * (N - 1));
    OK(cudaStreamSynchronize(stream));
    OK(cudaFreeHost(data));
    OK(cudaFreeHost(done));
    OK(cudaStreamDestroy(stream));
}

static __global__ void answer(int *out, const int *question, volatile int *asked) {
    while (*asked == 0) {
    }
    __threadfence_system();
    *out = *question + 1;
}

/* The kernel waits for the host. */
static void signal_of_host(void) {
    int *memory;
    OK(cudaMallocHost(&memory, 3 * sizeof *memory));
    volatile int *asked = memory + 2;
    *asked = 0;
    answer<<<1, 1>>>(memory, memory + 1, memory + 2);
    memory[1] = 41;
    *asked = 1;
    OK(cudaDeviceSynchronize());
    MUST(memory[0] == 42);
    OK(cudaFreeHost(memory));
}

static __global__ void twice(float *y, const float *x, int n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < (unsigned)n;
         i += gridDim.x * blockDim.x) {
        y[i] = 2 * x[i];
    }
}

/* Kernel and host read the same, and each writes a part of its own. */
static void side_by_side(void) {
    float *x, *y;
    OK(cudaMallocHost(&x, N * sizeof *x));
    OK(cudaMallocHost(&y, N * sizeof *y));
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
    }
    twice<<<1, N>>>(y, x, N / 2);
    for (int i = N / 2; i < N; i++) {
        y[i] = 2 * x[i] + x[0];
    }
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++) {
        MUST(y[i] == 2 * (float)i);
    }
    OK(cudaFreeHost(x));
    OK(cudaFreeHost(y));
}

static void add_one(void *data) {
    float *x = (float *)data;
    for (int i = 0; i < N; i++) {
        x[i] += 1;
    }
}

/* A host function of the stream changes what kernels before and after it use. */
static void host_function(void) {
    float *x, *y;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaMallocHost(&x, N * sizeof *x));
    OK(cudaMallocHost(&y, N * sizeof *y));
    memset(x, 0, N * sizeof *x);
    add_one(x);
    twice<<<1, N, 0, stream>>>(y, x, N);
    OK(cudaLaunchHostFunc(stream, add_one, y));
    twice<<<1, N, 0, stream>>>(x, y, N);
    OK(cudaStreamSynchronize(stream));
    MUST(x[0] == 6 && x[N - 1] == 6);
    OK(cudaFreeHost(x));
    OK(cudaFreeHost(y));
    OK(cudaStreamDestroy(stream));
}

/* Two streams and copies, ordered by events; the host waits for the last of them. */
static void two_streams(void) {
    float *x, *y, *plain;
    cudaStream_t kernels, copies;
    cudaEvent_t copied, done;
    OK(cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    OK(cudaMallocHost(&x, N * sizeof *x));
    OK(cudaMallocHost(&y, N * sizeof *y));
    OK(cudaMalloc(&plain, N * sizeof *plain));
    for (int round = 1; round <= 3; round++) {
        for (int i = 0; i < N; i++) {
            x[i] = (float)round;
        }
        OK(cudaMemcpyAsync(plain, x, N * sizeof *x, cudaMemcpyHostToDevice, copies));
        OK(cudaEventRecord(copied, copies));
        OK(cudaStreamWaitEvent(kernels, copied, 0));
        twice<<<1, N, 0, kernels>>>(y, plain, N);
        twice<<<1, N, 0, kernels>>>(x, y, N);
        OK(cudaEventRecord(done, kernels));
        OK(cudaEventSynchronize(done));
        MUST(x[0] == 4 * (float)round && y[N - 1] == 2 * (float)round);
    }
    OK(cudaFree(plain));
    OK(cudaFreeHost(x));
    OK(cudaFreeHost(y));
    OK(cudaEventDestroy(copied));
    OK(cudaEventDestroy(done));
    OK(cudaStreamDestroy(kernels));
    OK(cudaStreamDestroy(copies));
}

/* Freed, and given out again: who used it before does not matter. */
static void used_again(void) {
    for (int round = 0; round < 3; round++) {
        float *x, *y;
        OK(cudaMallocHost(&x, N * sizeof *x));
        OK(cudaMallocHost(&y, N * sizeof *y));
        memset(x, 0, N * sizeof *x);
        twice<<<1, N>>>(y, x, N);
        OK(cudaFreeHost(x)); /* waits */
        MUST(y[7] == 0);
        OK(cudaFreeHost(y));
    }
}

static __global__ void count(unsigned long long *n, float *sum) {
    atomicAdd_system(n, 1ull);
    atomicAdd(sum, 0.5f);
}

static void atomics(void) {
    struct {
        unsigned long long n;
        float sum;
    } * both;
    OK(cudaMallocHost((void **)&both, sizeof *both));
    both->n = 0;
    both->sum = 0;
    count<<<4, N>>>(&both->n, &both->sum);
    OK(cudaDeviceSynchronize());
    MUST(both->n == 4 * N && both->sum == 2.0f * N);
    OK(cudaFreeHost(both));
}

int main(void) {
    signal_of_kernel();
    signal_of_host();
    side_by_side();
    host_function();
    two_streams();
    used_again();
    atomics();
    return 0;
}
