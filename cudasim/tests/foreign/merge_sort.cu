/* A merge sort by merge paths, of any length: shared memory that the program cuts up itself. Here
   gcc keeps the address of blockDim in a register, which ld must link. */
#include <algorithm>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#include "check.cuh"

static __host__ __device__ size_t align_up(size_t n, size_t to) {
    return (n + to - 1) & ~(to - 1);
}

/* How many of the first `diagonal` elements of both come from a. */
__device__ int merge_path(const int *a, int na, const int *b, int nb, int diagonal) {
    int low = max(0, diagonal - nb), high = min(diagonal, na);
    while (low < high) {
        int middle = (low + high) >> 1;
        if (a[middle] <= b[diagonal - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__global__ void sort_parts(int *x, int n, int room, double *total) {
    extern __shared__ char raw[];
    int *now = (int *)raw;
    int *next = (int *)(raw + align_up(room * sizeof(int), 16));
    double *sum = (double *)(raw + 2 * align_up(room * sizeof(int), 16));
    int base = blockIdx.x * room, count = min(room, n - base);
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        now[i] = x[base + i];
    if (threadIdx.x == 0)
        *sum = 0;
    __syncthreads();
    for (int width = 1; width < room; width *= 2) {
        for (int i = threadIdx.x; i < count; i += blockDim.x) {
            int first = i / (2 * width) * 2 * width, na = min(width, count - first);
            int nb = max(0, min(width, count - first - width)), d = i - first;
            const int *a = now + first, *b = now + first + na;
            int p = merge_path(a, na, b, nb, d), q = d - p;
            next[i] = q >= nb || (p < na && a[p] <= b[q]) ? a[p] : b[q];
        }
        __syncthreads();
        int *swap = now;
        now = next;
        next = swap;
    }
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        x[base + i] = now[i];
        atomicAdd(sum, (double)now[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(total, *sum);
}

__global__ void merge(const int *x, int *y, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int first = i / (2 * width) * 2 * width, na = min(width, n - first);
    int nb = max(0, min(width, n - first - width)), d = i - first;
    const int *a = x + first, *b = a + na;
    int p = merge_path(a, na, b, nb, d), q = d - p;
    y[i] = q >= nb || (p < na && a[p] <= b[q]) ? a[p] : b[q];
}

int main() {
    const int n = 3333, room = 257;
    std::vector<int> host(n), result(n);
    double sum = 0, total, *d_total;
    for (int &v : host)
        sum += v = rand() % 1000;
    int *x, *y;
    OK(cudaMalloc(&x, n * sizeof(int)));
    OK(cudaMalloc(&y, n * sizeof(int)));
    OK(cudaMalloc(&d_total, sizeof(double)));
    OK(cudaMemset(d_total, 0, sizeof(double)));
    OK(cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    size_t shared = 2 * align_up(room * sizeof(int), 16) + sizeof(double);
    sort_parts<<<(n + room - 1) / room, 96, shared>>>(x, n, room, d_total);
    for (int width = room; width < n; width *= 2) {
        merge<<<(n + 255) / 256, 256>>>(x, y, n, width);
        std::swap(x, y);
    }
    OK(cudaMemcpy(result.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(&total, d_total, sizeof(double), cudaMemcpyDeviceToHost));
    std::sort(host.begin(), host.end());
    MUST(result == host);
    MUST(total == sum);
    OK(cudaFree(x));
    OK(cudaFree(y));
    OK(cudaFree(d_total));
    return 0;
}
