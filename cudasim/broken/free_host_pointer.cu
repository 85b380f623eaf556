/* Memory from malloc() is given to cudaFree. On a GPU the call fails with "invalid argument". */
#include "try.cuh"

int main(void) {
    float *host = (float *)calloc(32, sizeof(float));
    float *x;
    TRY(cudaMalloc(&x, 32 * sizeof(float)));
    TRY(cudaMemcpy(x, host, 32 * sizeof(float), cudaMemcpyHostToDevice));
    TRY(cudaFree(x));
#ifdef MENDED
    free(host);
#else
    TRY(cudaFree(host)); /* expect: invalid free */
#endif
    return expect(0, 0);
}
