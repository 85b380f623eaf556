/* A classifier writes its gradients over the logits. One thread reads the target's logit for the
   loss while others have begun to overwrite the row. */
#include "try.cuh"

enum { N = 128 };

static __global__ void classify(float *loss, float *logits, int target) {
    int i = threadIdx.x;
    float largest = N - 1;
    float probability = expf(logits[i] - largest);
    if (i == 0) {
        loss[0] = largest - logits[target]; /* expect: race */
    }
#ifdef MENDED
    __syncthreads();
#endif
    logits[i] = probability;
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, 1 * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    classify<<<1, N>>>(out, x, 100);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, 1 * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[0], 27);
}
