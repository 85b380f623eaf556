/* A pipeline of chunks: pinned staging buffers, a host function after each copy, events to give the
   buffers back. */
#include <cuda_runtime.h>

#include "check.cuh"

enum { N = 128, CHUNKS = 6, BUFFERS = 2 };

struct Job {
    const float *x;
    double total;
};

static void add_up(void *p) {
    Job *job = (Job *)p;
    for (int i = 0; i < N; i++) {
        job->total += job->x[i];
    }
}

static __global__ void scale(float *x, float a) {
    x[threadIdx.x] *= a;
}

int main(void) {
    cudaStream_t stream[BUFFERS];
    cudaEvent_t in_free[BUFFERS];
    float *in[BUFFERS], *out[BUFFERS], *x[BUFFERS];
    Job job[BUFFERS];
    for (int b = 0; b < BUFFERS; b++) {
        OK(cudaStreamCreateWithFlags(&stream[b], cudaStreamNonBlocking));
        OK(cudaEventCreateWithFlags(&in_free[b], cudaEventDisableTiming));
        OK(cudaMallocHost(&in[b], N * sizeof(float)));
        OK(cudaMallocHost(&out[b], N * sizeof(float)));
        OK(cudaMalloc(&x[b], N * sizeof(float)));
        job[b] = {out[b], 0};
    }
    for (int c = 0; c < CHUNKS; c++) {
        int b = c % BUFFERS;
        OK(cudaEventSynchronize(in_free[b]));
        for (int i = 0; i < N; i++) {
            in[b][i] = c;
        }
        OK(cudaMemcpyAsync(x[b], in[b], N * sizeof(float), cudaMemcpyHostToDevice, stream[b]));
        OK(cudaEventRecord(in_free[b], stream[b]));
        scale<<<1, N, 0, stream[b]>>>(x[b], 2);
        OK(cudaMemcpyAsync(out[b], x[b], N * sizeof(float), cudaMemcpyDeviceToHost, stream[b]));
        OK(cudaLaunchHostFunc(stream[b], add_up, &job[b]));
    }
    OK(cudaDeviceSynchronize());
    MUST(job[0].total + job[1].total == 2.0 * N * (0 + 1 + 2 + 3 + 4 + 5));
    for (int b = 0; b < BUFFERS; b++) {
        OK(cudaFree(x[b]));
        OK(cudaFreeHost(in[b]));
        OK(cudaFreeHost(out[b]));
        OK(cudaEventDestroy(in_free[b]));
        OK(cudaStreamDestroy(stream[b]));
    }
    return 0;
}
