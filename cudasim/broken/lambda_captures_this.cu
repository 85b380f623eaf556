/* A lambda that runs in a kernel names members of the object that has launched it: it has captured
   `this`, a pointer to the host's memory. A GPU stops the kernel with an illegal address. */
/* says: holds `this` */
#include "try.cuh"

template <class Function> __global__ void for_each(int n, Function function) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        function(i);
    }
}

struct Model {
    int n;
    float scale;
    float *x;

    void fill() {
#ifdef MENDED
        float factor = scale, *to = x;
        auto set = [=] __device__(int i) { to[i] = factor * i; };
#else
        auto set = [=] __device__(int i) {
            x[i] = scale * i; /* expect: host memory in a kernel */
        };
#endif
        for_each<<<1, 64>>>(n, set);
    }
};

int main() {
    enum { N = 64 };
    float result[N];
    Model model = {N, 2, NULL};
    TRY(cudaMalloc(&model.x, sizeof result));
    model.fill();
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(result, model.x, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(model.x));
    return expect(checksum(result, N), 174720);
}
