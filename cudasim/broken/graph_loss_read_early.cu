/* The host reads a variable of its own that a graph copies to, and has not waited for the graph.
   Outside of graphs the copy to pageable memory would be over when cudaMemcpyAsync() returns. */
#include "try.cuh"

static __global__ void compute(float *loss) {
    *loss = 7;
}

int main(void) {
    float loss = -1, *x;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMalloc(&x, sizeof *x));
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    compute<<<1, 1, 0, stream>>>(x);
    TRY(cudaMemcpyAsync(&loss, x, sizeof loss, cudaMemcpyDeviceToHost, stream));
    TRY(cudaStreamEndCapture(stream, &graph));
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphLaunch(exec, stream));
#ifdef MENDED
    TRY(cudaStreamSynchronize(stream));
#endif
    double seen = loss; /* expect: pending copy */
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    TRY(cudaStreamDestroy(stream));
    TRY(cudaFree(x));
    return expect(seen, 7);
}
