/* The array was made one element longer on the device, and not on the host: the copy reads past the
   end of the host's, and the last element is whatever lies there. */
#include "try.cuh"

enum { N = 64 };

#ifdef MENDED
enum { ON_HOST = N + 1 };
#else
enum { ON_HOST = N };
#endif

static __global__ void lengths(int *length, const int *begin) {
    length[threadIdx.x] = begin[threadIdx.x + 1] - begin[threadIdx.x];
}

int main(void) {
    static int begin[ON_HOST];
    int length[N], *device_begin, *device_length;
    for (int i = 0; i < ON_HOST; i++) {
        begin[i] = 3 * i;
    }
    TRY(cudaMalloc(&device_begin, (N + 1) * sizeof(int)));
    TRY(cudaMalloc(&device_length, sizeof length));
    TRY(cudaMemset(device_begin, 0, (N + 1) * sizeof(int)));
    /* expect: out-of-bounds access */
    (void)cudaMemcpy(device_begin, begin, (N + 1) * sizeof(int), cudaMemcpyHostToDevice);
    lengths<<<1, N>>>(device_length, device_begin);
    TRY(cudaMemcpy(length, device_length, sizeof length, cudaMemcpyDeviceToHost));
    TRY(cudaFree(device_length));
    TRY(cudaFree(device_begin));
    return expect(length[N - 1], 3);
}
