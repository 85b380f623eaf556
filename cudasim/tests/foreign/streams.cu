/* Streams with priorities, functions of the host in a stream, rows with a pitch. */
#include <cuda_runtime.h>

#include "check.cuh"

enum { ROWS = 5, COLUMNS = 37 };

__global__ void add(float *x, size_t pitch, int columns) {
    float *row = (float *)((char *)x + blockIdx.x * pitch);
    if ((int)threadIdx.x < columns) {
        row[threadIdx.x] += (float)blockIdx.x;
    }
}

struct Seen {
    const float *result;
    float sum;
    int calls;
};

static void CUDART_CB after_copy(cudaStream_t stream, cudaError_t status, void *data) {
    Seen *seen = (Seen *)data;
    (void)stream;
    MUST(status == cudaSuccess);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        seen->sum += seen->result[i];
    }
    seen->calls++;
}

static void CUDART_CB count_call(void *data) {
    ((Seen *)data)->calls++;
}

int main() {
    int least, greatest, priority;
    cudaStream_t stream;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    MUST(greatest <= least);
    OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    OK(cudaStreamGetPriority(stream, &priority));
    MUST(priority == greatest);

    float *x, *host;
    size_t pitch;
    OK(cudaMallocPitch(&x, &pitch, COLUMNS * sizeof *x, ROWS));
    OK(cudaMallocHost(&host, ROWS * COLUMNS * sizeof *host));
    MUST(pitch >= COLUMNS * sizeof *x && pitch % 32 == 0);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        host[i] = 1;
    }
    const size_t width = COLUMNS * sizeof *host;
    OK(cudaMemcpy2DAsync(x, pitch, host, width, width, ROWS, cudaMemcpyHostToDevice, stream));
    add<<<ROWS, 64, 0, stream>>>(x, pitch, COLUMNS);
    OK(cudaMemcpy2DAsync(host, width, x, pitch, width, ROWS, cudaMemcpyDeviceToHost, stream));
    Seen seen = {host, 0, 0};
    OK(cudaStreamAddCallback(stream, after_copy, &seen, 0));
    OK(cudaLaunchHostFunc(stream, count_call, &seen));
    OK(cudaStreamSynchronize(stream));
    MUST(seen.calls == 2 && seen.sum == (1 + 2 + 3 + 4 + 5) * COLUMNS);

    OK(cudaMemset2D(x, pitch, 0, width, ROWS));
    OK(cudaMemcpy2D(host, width, x, pitch, width, ROWS, cudaMemcpyDeviceToHost));
    MUST(host[ROWS * COLUMNS - 1] == 0);
    OK(cudaFreeHost(host));
    OK(cudaFree(x));
    OK(cudaStreamDestroy(stream));
    return 0;
}
