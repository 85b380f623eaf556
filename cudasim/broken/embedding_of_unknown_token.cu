/* A text has a token beyond the vocabulary, and the table of vectors is read at its row. */
#include "try.cuh"

enum { VOCABULARY = 50, N = 4 };

static __global__ void embed(float *out, const float *table, const int *token) {
    int id = token[threadIdx.x];
#ifdef MENDED
    id = id < VOCABULARY ? id : 0;
#endif
    out[threadIdx.x] = table[id]; /* expect: out-of-bounds access */
}

int main(void) {
    const int text[N] = {3, 7, 50, 49};
    float host[VOCABULARY], *table, *out;
    int *token;
    for (int i = 0; i < VOCABULARY; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&table, sizeof host));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMalloc(&token, sizeof text));
    TRY(cudaMemcpy(table, host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(token, text, sizeof text, cudaMemcpyHostToDevice));
    embed<<<1, N>>>(out, table, token);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(token));
    TRY(cudaFree(out));
    TRY(cudaFree(table));
    return expect(host[2], 0);
}
