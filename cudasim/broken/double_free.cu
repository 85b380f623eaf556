/* Two owners of one buffer both free it. On a GPU the second cudaFree fails, or frees somebody
   else's new buffer that got the same address. */
#include "try.cuh"

typedef struct Tensor {
    float *data;
} Tensor;

int main(void) {
    Tensor a;
    TRY(cudaMalloc(&a.data, 1024));
    Tensor view = a;
    TRY(cudaMemset(view.data, 0, 1024));
    TRY(cudaFree(a.data));
#ifdef MENDED
    view.data = NULL;
#endif
    TRY(cudaFree(view.data)); /* expect: double free */
    return expect(0, 0);
}
