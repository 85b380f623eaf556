/* A graph copies an array of the host to the device. It reads the array when it gets to the copy,
   pageable memory too: the host must not change it before it has waited. */
#include "try.cuh"

enum { N = 64, BATCHES = 3 };

static __global__ void add(float *sum, const float *batch) {
    sum[threadIdx.x] += batch[threadIdx.x];
}

int main(void) {
    float host[N], *sum, *x;
    float *batch = (float *)malloc(sizeof host);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&sum, sizeof host));
    TRY(cudaMemset(sum, 0, sizeof host));
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    TRY(cudaMemcpyAsync(x, batch, sizeof host, cudaMemcpyHostToDevice, stream));
    add<<<1, N, 0, stream>>>(sum, x);
    TRY(cudaStreamEndCapture(stream, &graph));
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    for (int b = 1; b <= BATCHES; b++) {
        for (int i = 0; i < N; i++) {
            batch[i] = b; /* expect: pending copy */
        }
        TRY(cudaGraphLaunch(exec, stream));
#ifdef MENDED
        TRY(cudaStreamSynchronize(stream));
#endif
    }
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaMemcpy(host, sum, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    TRY(cudaStreamDestroy(stream));
    TRY(cudaFree(sum));
    TRY(cudaFree(x));
    free(batch);
    return expect(checksum(host, N), 6 * 2080);
}
