/* Float tensors times a number, on the GPU. */
#include "kernels/scale.h"

#include "kernels/real.cuh"

/* How threads map to data. A thread takes PACK neighbours of the list's flat index, 16 bytes in one
   access: TENSOR_BLOCK is a multiple of PACK, so they are neighbours in one tensor. Compiled once,
   without a precision: Real holds a float. */

enum { THREADS = 256 };

static __global__ void scale_kernel(TensorList list, float factor) {
    size_t index = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * PACK;
    TensorPlace at = tensor_find(list, index);
    if (at.left == 0) {
        return;
    }
    Real *x = (Real *)tensor_at(list, at);
    float y[PACK];
    load_pack(y, x, at.left);
    for (int i = 0; i < PACK; i++) {
        y[i] *= factor;
    }
    store_pack(x, y, at.left);
}

extern "C" void scale_gpu(TensorList list, float factor) {
    if (list.length > 0) {
        scale_kernel<<<blocks_for(list.length, THREADS * PACK), THREADS>>>(list, factor);
        LAUNCHED("scale");
    }
}
