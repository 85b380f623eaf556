/* The order of blocks shows in sums of floats, in tickets, in a lock, and in printed lines.
   cores_test.sh runs this on one core and on several: all that it prints must be the same. */
#include <stdio.h>
#include <string.h>

enum { BLOCKS = 200, THREADS = 64 };

__device__ static float busy(int rounds) {
    float x = 1;
    for (int i = 0; i < rounds; i++) {
        x = x * 1.0001f + 0.5f / x;
    }
    return x;
}

/* Blocks of unequal work, so that on several cores they do not end in the order of their begin. */
__global__ void sums(float *sum, double *total) {
    float x = busy(blockIdx.x * 37 % 11 * 50 + threadIdx.x);
    atomicAdd(sum, 1 / x);
    atomicAdd(total, 1.0 / (x + threadIdx.x));
}

__global__ void tickets(unsigned *next, unsigned *ticket) {
    busy(blockIdx.x * 37 % 11 * 50);
    if (threadIdx.x == 0) {
        ticket[blockIdx.x] = atomicInc(next, 0xffffffffu);
    }
}

/* The last to get the lock leaves its mark on the sum. */
__global__ void locked(int *lock, float *sum) {
    float x = busy(blockIdx.x * 37 % 11 * 50);
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        volatile float *shared_sum = sum;
        *shared_sum = *shared_sum * 0.75f + x + blockIdx.x;
        __threadfence();
        atomicExch(lock, 0);
    }
}

typedef void Adder(float *sum, float x);
__device__ void add_here(float *sum, float x) {
    atomicAdd(sum, x);
}

__global__ void by_pointer(Adder *add, float *sum) {
    add(sum, 1 / busy(blockIdx.x * 37 % 11 * 50 + threadIdx.x));
}

__global__ void prints() {
    busy(blockIdx.x * 37 % 11 * 50);
    if (threadIdx.x == 0) {
        printf("block %d\n", blockIdx.x);
    }
}

/* The threads of this process, as Linux counts them. */
static int threads_of_process(void) {
    char line[100];
    int threads = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        sscanf(line, "Threads: %d", &threads);
    }
    if (status != NULL) {
        fclose(status);
    }
    return threads;
}

int main(void) {
    unsigned char bytes[64 + 4 * BLOCKS], *memory;
    cudaMalloc(&memory, sizeof bytes);
    cudaMemset(memory, 0, sizeof bytes);
    float *f = (float *)memory;
    sums<<<BLOCKS, THREADS>>>(f, (double *)(memory + 8));
    tickets<<<BLOCKS, THREADS>>>((unsigned *)(memory + 16), (unsigned *)(memory + 64));
    locked<<<BLOCKS, THREADS>>>((int *)(memory + 20), f + 6);
    by_pointer<<<BLOCKS, THREADS>>>(add_here, f + 7);
    prints<<<BLOCKS, THREADS>>>();
    cudaMemcpy(bytes, memory, sizeof bytes, cudaMemcpyDeviceToHost);
    cudaFree(memory);
    for (size_t i = 0; i < sizeof bytes; i++) {
        printf("%02x%s", bytes[i], i % 32 == 31 ? "\n" : "");
    }
    fprintf(stderr, "threads %d\n", threads_of_process());
    return 0;
}
