/* Graphs by capture: fork and join, arguments by value, launches again and again, updates. */
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "check.cuh"

enum { N = 1000, BLOCK = 128, LAUNCHES = 20 };

__global__ void add(float *x, float value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] += value;
    }
}

__global__ void multiply(float *out, const float *a, const float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = a[i] * b[i];
    }
}

static const int GRID = (N + BLOCK - 1) / BLOCK;
static float *a, *b, *product, *pinned;
static cudaStream_t stream, other;

static void CUDART_CB count(void *data) {
    ++*(int *)data;
}

/* x = x + 1 in two streams, then their product comes back to the host. */
static cudaGraph_t capture(float value, int *calls) {
    cudaGraph_t graph;
    cudaEvent_t fork, join;
    cudaStreamCaptureStatus status;
    OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaEventRecord(fork, stream));
    OK(cudaStreamWaitEvent(other, fork, 0));
    OK(cudaStreamIsCapturing(other, &status));
    MUST(status == cudaStreamCaptureStatusActive);
    add<<<GRID, BLOCK, 0, stream>>>(a, value, N);
    add<<<GRID, BLOCK, 0, other>>>(b, value, N);
    value = 1000; /* it was copied */
    OK(cudaEventRecord(join, other));
    OK(cudaStreamWaitEvent(stream, join, 0));
    multiply<<<GRID, BLOCK, 0, stream>>>(product, a, b, N);
    OK(cudaMemcpyAsync(pinned, product, N * sizeof *pinned, cudaMemcpyDeviceToHost, stream));
    OK(cudaLaunchHostFunc(stream, count, calls));
    OK(cudaGetLastError());
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaStreamIsCapturing(other, &status));
    MUST(status == cudaStreamCaptureStatusNone);
    OK(cudaEventDestroy(fork));
    OK(cudaEventDestroy(join));
    return graph;
}

static void set_to_zero(void) {
    OK(cudaMemset(a, 0, N * sizeof *a));
    OK(cudaMemset(b, 0, N * sizeof *b));
    OK(cudaDeviceSynchronize());
}

static void launch_often(cudaGraphExec_t exec, int times) {
    for (int i = 0; i < times; i++) {
        OK(cudaGraphLaunch(exec, stream));
    }
    OK(cudaStreamSynchronize(stream));
}

static void launches(void) {
    int calls = 0;
    cudaGraphExec_t exec;
    set_to_zero();
    cudaGraph_t graph = capture(1, &calls);
    MUST(calls == 0);
    size_t nodes = 0, edges = 0, roots = 0;
    OK(cudaGraphGetNodes(graph, NULL, &nodes));
    OK(cudaGraphGetEdges(graph, NULL, NULL,
#if CUDART_VERSION >= 13000
                         NULL,
#endif
                         &edges));
    OK(cudaGraphGetRootNodes(graph, NULL, &roots));
    MUST(nodes == 5 && edges == 4 && roots == 2);
    OK(cudaGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphUpload(exec, stream));
    launch_often(exec, LAUNCHES);
    MUST(calls == LAUNCHES && pinned[0] == LAUNCHES * LAUNCHES && pinned[N - 1] == pinned[0]);

    graph = capture(0.5f, &calls);
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphExecUpdate(exec, graph, &info));
    MUST(info.result == cudaGraphExecUpdateSuccess);
    launch_often(exec, 2);
    MUST(calls == LAUNCHES + 2 && pinned[0] == (LAUNCHES + 1) * (LAUNCHES + 1));
    OK(cudaGraphDestroy(graph));

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    add<<<GRID, BLOCK, 0, stream>>>(a, 1, N);
    OK(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphExecUpdate(exec, graph, &info) == cudaErrorGraphExecUpdateFailure);
    MUST(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    MUST(cudaGetLastError() == cudaErrorGraphExecUpdateFailure);
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphExecDestroy(exec));
}

/* One launch, captured. */
static cudaGraph_t capture_add(float *x, float value) {
    cudaGraph_t graph;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    add<<<GRID, BLOCK, 0, stream>>>(x, value, N);
    OK(cudaStreamEndCapture(stream, &graph));
    return graph;
}

/* Captured graphs become nodes of another, one after the other. */
static void nested(void) {
    int calls = 0;
    set_to_zero();
    cudaGraph_t parts[] = {capture_add(a, 10), capture(2, &calls), capture_add(product, 1)}, outer;
    cudaGraphNode_t node = NULL;
    cudaGraphExec_t exec;
    OK(cudaGraphCreate(&outer, 0));
    for (int i = 0; i < 3; i++) {
        cudaGraphNode_t before = node;
        OK(cudaGraphAddChildGraphNode(&node, outer, &before, i > 0, parts[i]));
    }
    OK(cudaGraphInstantiateWithFlags(&exec, outer, 0));
    for (int i = 0; i < 3; i++) {
        OK(cudaGraphDestroy(parts[i]));
    }
    OK(cudaGraphDestroy(outer));
    launch_often(exec, 2);
    float last;
    OK(cudaMemcpy(&last, product + N - 1, sizeof last, cudaMemcpyDeviceToHost));
    MUST(calls == 2 && pinned[0] == 24 * 4 && last == 24 * 4 + 1);
    OK(cudaGraphExecDestroy(exec));
}

/* Memory of the host is read when the graph gets there. */
static void fresh_input(void) {
    float *input, out[N];
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    OK(cudaMallocHost(&input, N * sizeof *input));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMemcpyAsync(a, input, N * sizeof *input, cudaMemcpyHostToDevice, stream));
    OK(cudaMemsetAsync(b, 0, N * sizeof *b, stream));
    add<<<GRID, BLOCK, 0, stream>>>(a, 1, N);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            input[i] = (float)round;
        }
        launch_often(exec, 1);
        OK(cudaMemcpy(out, a, sizeof out, cudaMemcpyDeviceToHost));
        MUST(out[0] == (float)round + 1 && out[N - 1] == out[0]);
    }
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFreeHost(input));
}

/* A product by cuBLAS, with a factor that the host changes later. */
static void product_by_library(void) {
    cublasHandle_t blas;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    float alpha = 2, beta = 1, host[4] = {1, 2, 3, 4};
    OK(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    OK(cudaMemset(b, 0, sizeof host));
    MUST(cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS);
    MUST(cublasSetStream(blas, stream) == CUBLAS_STATUS_SUCCESS);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    MUST(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &alpha, a, 2, a, 2, &beta, b, 2) ==
         CUBLAS_STATUS_SUCCESS);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    alpha = 100;
    launch_often(exec, 3);
    OK(cudaMemcpy(host, b, sizeof host, cudaMemcpyDeviceToHost));
    MUST(host[0] == 3 * 2 * 7 && host[3] == 3 * 2 * 22);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    MUST(cublasDestroy(blas) == CUBLAS_STATUS_SUCCESS);
}

/* Streams wait for a graph as for anything else, and the default stream too. */
static void order(void) {
    int calls = 0;
    cudaGraphExec_t exec;
    cudaEvent_t done;
    set_to_zero();
    cudaGraph_t graph = capture(3, &calls);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaEventCreate(&done));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaEventRecord(done, stream));
    OK(cudaStreamWaitEvent(other, done, 0));
    OK(cudaStreamSynchronize(other)); /* nothing is in it but the wait */
    MUST(calls == 1 && pinned[7] == 9);
    OK(cudaGraphLaunch(exec, stream));
    add<<<GRID, BLOCK>>>(product, 1, N);
    float first;
    OK(cudaMemcpy(&first, product, sizeof first, cudaMemcpyDeviceToHost));
    MUST(first == 37);
    OK(cudaEventDestroy(done));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

int main() {
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    OK(cudaMalloc(&a, N * sizeof *a));
    OK(cudaMalloc(&b, N * sizeof *b));
    OK(cudaMalloc(&product, N * sizeof *product));
    OK(cudaMallocHost(&pinned, N * sizeof *pinned));
    launches();
    nested();
    fresh_input();
    order();
    product_by_library();
    OK(cudaFreeHost(pinned));
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(product));
    OK(cudaStreamDestroy(stream));
    OK(cudaStreamDestroy(other));
    return 0;
}
