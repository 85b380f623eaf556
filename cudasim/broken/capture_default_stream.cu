/* A kernel goes to the default stream while another stream is captured, for which the default one
   would wait. The launch fails, and the capture with it. */
#include "try.cuh"

/* says: legacy stream depend on a capturing blocking stream */

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
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
#ifdef MENDED
    add<<<1, N, 0, stream>>>(x, 1);
#else
    add<<<1, N>>>(x, 1); /* expect: graph misuse */
#endif
    TRY(cudaStreamEndCapture(stream, &graph));
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
