/* A cellular automaton of single bytes is stepped in place: a thread reads neighbours that may have
   stepped already. A barrier does not help, since the neighbour may be of another block; nor does
   an atomic: two arrays do. */
/* says: use another array or another kernel */
#include "try.cuh"

enum { W = 32, H = 32 };

static __global__ void step(unsigned char *to, const unsigned char *from) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int count = 0;
    for (int k = 0; k < 9; k++) {
        int v = (y + k / 3 + H - 1) % H, u = (x + k % 3 + W - 1) % W;
        count += k == 4 ? 0 : from[v * W + u]; /* expect: race */
    }
    to[y * W + x] = count == 3 || (count == 2 && from[y * W + x]);
}

int main(void) {
    unsigned char cells[W * H] = {0}, *now, *next;
    for (int i = 0; i < 5; i++) {
        cells[(10 + i) * W + 10 + (i & 1)] = 1;
    }
    TRY(cudaMalloc(&now, sizeof cells));
    TRY(cudaMalloc(&next, sizeof cells));
    TRY(cudaMemcpy(now, cells, sizeof cells, cudaMemcpyHostToDevice));
    dim3 block(16, 16), grid(W / 16, H / 16);
#ifdef MENDED
    step<<<grid, block>>>(next, now);
#else
    step<<<grid, block>>>(now, now);
#endif
    TRY(cudaGetLastError());
#ifdef MENDED
    TRY(cudaMemcpy(cells, next, sizeof cells, cudaMemcpyDeviceToHost));
#else
    TRY(cudaMemcpy(cells, now, sizeof cells, cudaMemcpyDeviceToHost));
#endif
    TRY(cudaFree(now));
    TRY(cudaFree(next));
    int alive = 0;
    for (int i = 0; i < W * H; i++) {
        alive += cells[i];
    }
    return expect(alive, 6);
}
