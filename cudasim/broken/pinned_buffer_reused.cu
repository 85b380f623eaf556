/* The host fills the pinned buffer with the next batch while the copy of this one is still queued.
   With a GPU the device gets a mixture of both. */
#include "try.cuh"

int main(void) {
    enum { N = 64 };
    float back[N], *pinned, *batch[2];
    cudaStream_t stream;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMallocHost(&pinned, N * sizeof(float)));
    for (int b = 0; b < 2; b++) {
        TRY(cudaMalloc(&batch[b], N * sizeof(float)));
        for (int i = 0; i < N; i++) {
            pinned[i] = b + 1; /* expect: pending copy */
        }
        TRY(cudaMemcpyAsync(batch[b], pinned, N * sizeof(float), cudaMemcpyHostToDevice, stream));
#ifdef MENDED
        TRY(cudaStreamSynchronize(stream));
#endif
    }
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaMemcpy(back, batch[0], sizeof back, cudaMemcpyDeviceToHost));
    return expect(checksum(back, N), 2080);
}
