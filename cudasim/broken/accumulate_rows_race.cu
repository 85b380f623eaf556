/* Embedding backward: two tokens of the batch are the same word, and both threads add to its row.
   On a GPU one of the two gradients is lost. */
#include "try.cuh"

enum { TOKENS = 4, C = 8, V = 10 };

static __global__ void backward(float *dweight, const float *dout, const int *token) {
    int t = blockIdx.x, c = threadIdx.x;
#ifdef MENDED
    atomicAdd(&dweight[token[t] * C + c], dout[t * C + c]);
#else
    dweight[token[t] * C + c] += dout[t * C + c]; /* expect: race */
#endif
}

int main(void) {
    const int host_token[TOKENS] = {3, 7, 3, 1};
    float host[V * C], *dweight, *dout;
    int *token;
    for (int i = 0; i < V * C; i++) {
        host[i] = 1;
    }
    TRY(cudaMalloc(&dweight, sizeof host));
    TRY(cudaMalloc(&dout, TOKENS * C * sizeof(float)));
    TRY(cudaMalloc(&token, sizeof host_token));
    TRY(cudaMemset(dweight, 0, sizeof host));
    TRY(cudaMemcpy(dout, host, TOKENS * C * sizeof(float), cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(token, host_token, sizeof host_token, cudaMemcpyHostToDevice));
    backward<<<TOKENS, C>>>(dweight, dout, token);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, dweight, sizeof host, cudaMemcpyDeviceToHost));
    return expect(host[3 * C] + host[7 * C] + host[1 * C], 4);
}
