/* Threads of the host that call the runtime at once: OpenMP's, C++'s, each with a stream and a last
   error of its own; threads that share a stream; many threads one after the other. */
#include <cuda_runtime.h>

#include <atomic>
#include <thread>
#include <vector>

#include "check.cuh"

enum { N = 256, THREADS = 4, ROUNDS = 25 };

__global__ void sum_of_block(const float *x, float *sum) {
    __shared__ float part[N];
    part[threadIdx.x] = x[threadIdx.x];
    for (int step = N / 2; step > 0; step /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < step) {
            part[threadIdx.x] += part[threadIdx.x + step];
        }
    }
    if (threadIdx.x == 0) {
        *sum = part[0];
    }
}

__global__ void count(int *x) {
    atomicAdd(x, 1);
}

/* Everything that a thread needs, again and again. */
static void work(int me) {
    cudaStream_t stream;
    cudaEvent_t event;
    float *x, *sum, *host, got;
    OK(cudaSetDevice(0));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaEventCreate(&event));
    OK(cudaMallocHost(&host, N * sizeof *host));
    for (int round = 0; round < ROUNDS; round++) {
        OK(cudaMalloc(&x, N * sizeof *x));
        OK(cudaMallocAsync(&sum, sizeof *sum, stream));
        for (int i = 0; i < N; i++) {
            host[i] = (float)(me + round);
        }
        OK(cudaMemcpyAsync(x, host, N * sizeof *x, cudaMemcpyHostToDevice, stream));
        sum_of_block<<<1, N, 0, stream>>>(x, sum);
        OK(cudaGetLastError());
        OK(cudaMemcpyAsync(host, sum, sizeof got, cudaMemcpyDeviceToHost, stream));
        OK(cudaEventRecord(event, stream));
        OK(cudaFreeAsync(sum, stream));
        OK(cudaEventSynchronize(event));
        got = host[0];
        MUST(got == (float)N * (me + round));
        OK(cudaFree(x));
    }
    OK(cudaFreeHost(host));
    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(stream));
}

static void own_errors(int me) {
    void *p = NULL;
    if (me % 2 == 0) {
        MUST(cudaMalloc(&p, (size_t)1 << 60) == cudaErrorMemoryAllocation);
    }
    MUST(cudaPeekAtLastError() == (me % 2 == 0 ? cudaErrorMemoryAllocation : cudaSuccess));
    MUST(cudaGetLastError() == (me % 2 == 0 ? cudaErrorMemoryAllocation : cudaSuccess));
}

static void together(void (*function)(int)) {
    std::vector<std::thread> threads;
    for (int i = 0; i < THREADS; i++) {
        threads.emplace_back(function, i);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
}

static int *shared_count;

static void launch_counts(int me) {
    (void)me;
    for (int round = 0; round < ROUNDS; round++) {
        count<<<2, 32>>>(shared_count);
    }
}

/* A graph for each thread, captured while the others capture theirs. */
static void capture(int me) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *x, got;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaMallocAsync(&x, sizeof *x, stream));
    OK(cudaMemsetAsync(x, 0, sizeof *x, stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i <= me; i++) {
        count<<<1, 32, 0, stream>>>(x);
    }
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaMemcpyAsync(&got, x, sizeof got, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    MUST(got == 32 * (me + 1));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFreeAsync(x, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamDestroy(stream));
}

int main() {
#pragma omp parallel for num_threads(THREADS)
    for (int i = 0; i < THREADS; i++) {
        work(i);
    }
    together(work);
    together(own_errors);
    together(capture);

    int got;
    OK(cudaMalloc(&shared_count, sizeof *shared_count));
    OK(cudaMemset(shared_count, 0, sizeof *shared_count));
    together(launch_counts);
    OK(cudaMemcpy(&got, shared_count, sizeof got, cudaMemcpyDeviceToHost));
    MUST(got == THREADS * ROUNDS * 64);
    for (int i = 0; i < 100; i++) {
        std::thread([] { count<<<1, 32>>>(shared_count); }).join();
    }
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(&got, shared_count, sizeof got, cudaMemcpyDeviceToHost));
    MUST(got == THREADS * ROUNDS * 64 + 3200);
    OK(cudaFree(shared_count));
    return 0;
}
