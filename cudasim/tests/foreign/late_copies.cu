/* Copies that the host may not overtake: of registered memory, of pageable memory in a graph. */
#include <cuda_runtime.h>

#include <numeric>
#include <vector>

#include "check.cuh"

enum { N = 1000, BATCHES = 3 };

__global__ void add(float *sum, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        sum[i] += x[i];
    }
}

static float *x, *sum;
static cudaStream_t stream;

/* Two registered halves take turns; an event says when one is free again. */
static void registered(void) {
    std::vector<float> half[2] = {std::vector<float>(N), std::vector<float>(N)}, result(N);
    cudaEvent_t copied[2];
    for (int i = 0; i < 2; i++) {
        OK(cudaHostRegister(half[i].data(), N * sizeof(float), cudaHostRegisterDefault));
        OK(cudaEventCreateWithFlags(&copied[i], cudaEventDisableTiming));
    }
    OK(cudaHostRegister(result.data(), N * sizeof(float), cudaHostRegisterDefault));
    OK(cudaMemsetAsync(sum, 0, N * sizeof(float), stream));
    for (int b = 0; b < 2 * BATCHES; b++) {
        OK(cudaEventSynchronize(copied[b % 2]));
        half[b % 2].assign(N, b);
        OK(cudaMemcpyAsync(x, half[b % 2].data(), N * sizeof(float), cudaMemcpyHostToDevice,
                           stream));
        OK(cudaEventRecord(copied[b % 2], stream));
        add<<<(N + 255) / 256, 256, 0, stream>>>(sum, x, N);
    }
    OK(cudaMemcpyAsync(result.data(), sum, N * sizeof(float), cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    MUST(result[0] == 15 && result[N - 1] == 15);
    OK(cudaHostUnregister(result.data()));
    for (int i = 0; i < 2; i++) {
        OK(cudaHostUnregister(half[i].data()));
        OK(cudaEventDestroy(copied[i]));
    }
}

struct Report {
    std::vector<float> result;
    double total;
};

/* Within the graph, and so between its copies. */
static void CUDART_CB add_up(void *data) {
    Report *report = static_cast<Report *>(data);
    report->total += std::accumulate(report->result.begin(), report->result.end(), 0.0);
}

static void pageable(void) {
    std::vector<float> batch(N), neighbour(N);
    Report report = {std::vector<float>(N), 0};
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaMemset(sum, 0, N * sizeof(float)));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMemcpyAsync(x, batch.data(), N * sizeof(float), cudaMemcpyHostToDevice, stream));
    add<<<(N + 255) / 256, 256, 0, stream>>>(sum, x, N);
    OK(cudaMemcpyAsync(report.result.data(), sum, N * sizeof(float), cudaMemcpyDeviceToHost,
                       stream));
    OK(cudaLaunchHostFunc(stream, add_up, &report));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    for (int b = 1; b <= BATCHES; b++) {
        batch.assign(N, b);
        OK(cudaGraphLaunch(exec, stream));
        neighbour.assign(batch.begin(), batch.end()); /* the graph only reads it */
        neighbour[0] = 0;
        OK(cudaStreamSynchronize(stream));
        MUST(report.result[N - 1] == b * (b + 1) / 2);
    }
    MUST(report.total == N * (1 + 3 + 6));
    /* The source of a copy may go before the graph does, which is not launched again. */
    batch = std::vector<float>();
    OK(cudaGraphExecDestroy(exec));
}

int main() {
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&x, N * sizeof(float)));
    OK(cudaMalloc(&sum, N * sizeof(float)));
    registered();
    pageable();
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(sum));
    OK(cudaFree(x));
    return 0;
}
