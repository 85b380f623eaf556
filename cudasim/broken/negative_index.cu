/* Padded places of a sequence have the target -1, and the kernel uses it as an index. On a GPU it
   reads the last logit of the row before, and the loss is wrong without a word. */
#include "try.cuh"

static __global__ void pick(float *out, const float *logits, const int *target, int n, int V) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
#ifdef MENDED
        out[row] = target[row] >= 0 ? logits[row * V + target[row]] : 0;
#else
        out[row] = logits[row * V + target[row]]; /* expect: out-of-bounds access */
#endif
    }
}

int main(void) {
    enum { N = 4, V = 8 };
    const int target[N] = {-1, 2, 3, 1};
    float host[N * V], result[N];
    for (int i = 0; i < N * V; i++) {
        host[i] = i;
    }
    float *logits, *out;
    int *targets;
    TRY(cudaMalloc(&logits, sizeof host));
    TRY(cudaMalloc(&targets, sizeof target));
    TRY(cudaMalloc(&out, sizeof result));
    TRY(cudaMemcpy(logits, host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(targets, target, sizeof target, cudaMemcpyHostToDevice));
    pick<<<1, 32>>>(out, logits, targets, N, V);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    return expect(checksum(result, N), 0 + 2 * 10 + 3 * 19 + 4 * 25);
}
