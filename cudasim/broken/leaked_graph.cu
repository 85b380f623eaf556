/* A step is captured anew for each length of its rows. The graph is destroyed, what was made of it
   to be launched is not. */
#include "try.cuh"
/* says: what it made was never destroyed, of 3 calls */

enum { LENGTHS = 3 };

static __global__ void add(float *x, float value) {
    x[threadIdx.x] += value;
}

static void step(cudaStream_t stream, float *x, int length) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, length, 0, stream>>>(x, 1);
    TRY(cudaStreamEndCapture(stream, &graph));
    TRY(cudaGraphInstantiate(&exec, graph, 0)); /* expect: leak */
    TRY(cudaGraphDestroy(graph));
    TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaStreamSynchronize(stream));
#ifdef MENDED
    TRY(cudaGraphExecDestroy(exec));
#endif
}

int main(void) {
    const int length[LENGTHS] = {64, 32, 16};
    float host[64] = {0}, *x;
    cudaStream_t stream;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
    for (int k = 0; k < LENGTHS; k++) {
        step(stream, x, length[k]);
    }
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaStreamDestroy(stream));
    return expect(host[0] + host[20] + host[63], 6);
}
