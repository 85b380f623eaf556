/**
 * @file flags.cu
 * @brief Right programs in which threads wait for each other: nothing of them is an error.
 * @ingroup cudasim
 *
 * A flag that is volatile and stands after a fence is noted in check mode, as what CUDA does not
 * promise; with CUDASIM_STRICT=1 it is a race. Only check mode sees that a thread looks at a
 * volatile again and again, and lets the others go on: so that kernel runs only when the program is
 * started with `flag`, by flags_test.sh. With `exit` threads leave before a barrier, which is
 * right with CUDASIM_EXITED=1. With `size` more memory is asked for than any size_t should say.
 */
#include <string.h>

#include "../broken/try.cuh"

enum { N = 64 };

/* The second warp hands a value to the first, which waits for it. */
static __global__ void hand_over(int *out) {
    __shared__ volatile int flag, value;
    if (threadIdx.x == 0) {
        flag = 0;
    }
    __syncthreads();
    if (threadIdx.x == 32) {
        value = 7;
        __threadfence_block();
        flag = 1;
    } else if (threadIdx.x == 0) {
        while (flag == 0) {
        }
        __threadfence_block();
        *out = value;
    }
}

/* The second warp has left when the first comes to its barrier. */
static __global__ void leave_early(int *out) {
    __shared__ int value;
    if (threadIdx.x >= N / 2) {
        return;
    }
    if (threadIdx.x == 0) {
        value = 5;
    }
    __syncthreads();
    if (threadIdx.x == 1) {
        *out = value;
    }
}

/* All threads of a block take one lock, each in its turn. */
static __global__ void add_locked(int *sum, int *lock) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *sum += (int)threadIdx.x;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

/* The first thread waits for the count of the others. */
static __global__ void wait_for_all(int *out, int *count) {
    if (threadIdx.x > 0) {
        atomicAdd(count, 1);
    } else {
        while (atomicAdd(count, 0) < N - 1) {
        }
        *out = 1;
    }
}

static int result(int *device, int want) {
    int host;
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaMemset(device, 0, 2 * sizeof host));
    return expect(host, want);
}

int main(int argc, char **argv) {
    int *device, wrong = 0;
    TRY(cudaMalloc(&device, 2 * sizeof *device));
    TRY(cudaMemset(device, 0, 2 * sizeof *device));
    add_locked<<<1, N>>>(device, device + 1);
    wrong += result(device, 2016);
    wait_for_all<<<1, N>>>(device, device + 1);
    wrong += result(device, 1);
    if (argc == 2 && strcmp(argv[1], "flag") == 0) {
        hand_over<<<1, N>>>(device);
        wrong += result(device, 7);
    }
    if (argc == 2 && strcmp(argv[1], "exit") == 0) {
        leave_early<<<1, N>>>(device);
        wrong += result(device, 5);
    }
    if (argc == 2 && strcmp(argv[1], "size") == 0) {
        void *none = device;
        wrong += cudaMalloc(&none, (size_t)-8) != cudaErrorMemoryAllocation || none != NULL;
    }
    TRY(cudaFree(device));
    return wrong;
}
