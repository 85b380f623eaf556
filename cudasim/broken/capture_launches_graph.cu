/* A graph is launched into a stream that is captured, to become a part of the next one. CUDA
   refuses that, and the capture is lost: cudaGraphAddChildGraphNode() puts a graph into another. */
#include "try.cuh"

/* says: operation not permitted when stream is capturing */

enum { N = 32 };

static __global__ void add(float *x, float value) {
    x[threadIdx.x] += value;
}

static void launch(cudaGraph_t graph, cudaStream_t stream) {
    cudaGraphExec_t exec;
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaGraphExecDestroy(exec));
}

static cudaGraph_t capture_add(float *x, float value, cudaStream_t stream) {
    cudaGraph_t graph;
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    add<<<1, N, 0, stream>>>(x, value);
    TRY(cudaStreamEndCapture(stream, &graph));
    return graph;
}

int main(void) {
    float host[N] = {0}, *x;
    cudaStream_t stream;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
    cudaGraph_t inner = capture_add(x, 1, stream), outer;
#ifdef MENDED
    cudaGraphNode_t first, second;
    TRY(cudaGraphCreate(&outer, 0));
    TRY(cudaGraphAddChildGraphNode(&first, outer, NULL, 0, inner));
    TRY(cudaGraphAddChildGraphNode(&second, outer, &first, 1, inner));
#else
    cudaGraphExec_t exec;
    TRY(cudaGraphInstantiate(&exec, inner, 0));
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    add<<<1, N, 0, stream>>>(x, 1);
    cudaGraphLaunch(exec, stream); /* expect: graph misuse */
    TRY(cudaStreamEndCapture(stream, &outer));
#endif
    launch(outer, stream);
    TRY(cudaGraphDestroy(inner));
    TRY(cudaGraphDestroy(outer));
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaStreamDestroy(stream));
    return expect(checksum(host, N), 1056);
}
