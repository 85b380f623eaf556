/* A copy of a box begins one slice further on, and is as deep as the whole array. */
#include "try.cuh"

enum { W = 8, H = 4, D = 3 };

int main(void) {
    float host[D][H][W], back[D][H][W];
    cudaPitchedPtr p;
    cudaExtent extent = make_cudaExtent(W * sizeof(float), H, D);
    for (int i = 0; i < W * H * D; i++) {
        ((float *)host)[i] = i;
    }
    TRY(cudaMalloc3D(&p, extent));
    cudaMemcpy3DParms to = {};
    to.srcPtr = make_cudaPitchedPtr(host, W * sizeof(float), W, H);
    to.dstPtr = p;
#ifndef MENDED
    to.dstPos = make_cudaPos(0, 0, 1);
#endif
    to.extent = extent;
    to.kind = cudaMemcpyHostToDevice;
    TRY(cudaMemcpy3D(&to)); /* expect: out-of-bounds access */
    cudaMemcpy3DParms from = {};
    from.srcPtr = p;
    from.dstPtr = make_cudaPitchedPtr(back, W * sizeof(float), W, H);
    from.extent = extent;
    from.kind = cudaMemcpyDeviceToHost;
    TRY(cudaMemcpy3D(&from));
    TRY(cudaFree(p.ptr));
    return expect(back[D - 1][H - 1][W - 1], W * H * D - 1);
}
