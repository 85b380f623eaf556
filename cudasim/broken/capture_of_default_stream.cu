/* The default stream cannot be captured. */
#include "try.cuh"

/* says: operation not permitted when stream is capturing */

enum { N = 32 };

static __global__ void add(float *x, float value) {
    x[threadIdx.x] += value;
}

int main(void) {
    float host[N] = {0}, *x;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
#ifdef MENDED
    cudaStream_t captured = stream;
#else
    cudaStream_t captured = 0;
#endif
    TRY(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal)); /* expect: graph misuse */
    add<<<1, N, 0, captured>>>(x, 1);
    TRY(cudaStreamEndCapture(captured, &graph));
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaStreamDestroy(stream));
    return expect(checksum(host, N), 528);
}
