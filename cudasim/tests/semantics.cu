/* CUDA's promises, tried on the simulator (or on a GPU): prints the number of answers that were
   right. Every kernel writes one int per thread, which the host compares. */
#include <stdio.h>

enum { N = 256 };
static int failures, questions;
static int *device_answer, answer[N];

#define CALL(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_));                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void fetch(void) {
    CALL(cudaGetLastError());
    CALL(cudaMemcpy(answer, device_answer, sizeof answer, cudaMemcpyDeviceToHost));
}

static void expect(const char *what, int i, int wanted) {
    questions++;
    if (answer[i] != wanted) {
        failures++;
        printf("%s: thread %d has %d, not %d\n", what, i, answer[i], wanted);
    }
}

#define ALL 0xffffffffu

static __global__ void shuffles(int *out, int kind) {
    int lane = threadIdx.x % 32, x = 100 + lane;
    out[threadIdx.x] = kind == 0   ? __shfl_sync(ALL, x, 5)
                       : kind == 1 ? __shfl_sync(ALL, x, 3, 8)
                       : kind == 2 ? __shfl_xor_sync(ALL, x, 9)
                       : kind == 3 ? __shfl_down_sync(ALL, x, 4)
                       : kind == 4 ? __shfl_down_sync(ALL, x, 3, 8)
                       : kind == 5 ? __shfl_up_sync(ALL, x, 4)
                                   : __shfl_up_sync(ALL, x, 3, 16);
}

static void ask_shuffles(void) {
    for (int kind = 0; kind < 7; kind++) {
        shuffles<<<1, N>>>(device_answer, kind);
        fetch();
        for (int i = 0; i < N; i++) {
            int lane = i % 32;
            int from = kind == 0   ? 5
                       : kind == 1 ? lane / 8 * 8 + 3
                       : kind == 2 ? (lane ^ 9)
                       : kind == 3 ? (lane + 4 < 32 ? lane + 4 : lane)
                       : kind == 4 ? (lane % 8 + 3 < 8 ? lane + 3 : lane)
                       : kind == 5 ? (lane >= 4 ? lane - 4 : lane)
                                   : (lane % 16 >= 3 ? lane - 3 : lane);
            expect("shuffle", i, 100 + from);
        }
    }
}

/* Two halves of each warp, on different ways, with operations of their own. */
static __global__ void diverged(int *out) {
    int lane = threadIdx.x % 32;
    int x = lane;
    if (lane < 16) {
        for (int distance = 8; distance > 0; distance /= 2) {
            x += __shfl_xor_sync(0x0000ffffu, x, distance);
        }
    } else {
        x = __shfl_sync(0xffff0000u, x, 31) + (int)__popc(__ballot_sync(0xffff0000u, lane % 2));
    }
    __syncwarp();
    out[threadIdx.x] = x;
}

static void ask_diverged(void) {
    diverged<<<1, N>>>(device_answer);
    fetch();
    for (int i = 0; i < N; i++) {
        expect("diverged", i, i % 32 < 16 ? 120 : 31 + 8);
    }
}

static __global__ void votes(int *out) {
    int odd = threadIdx.x % 2;
    int any = __any_sync(ALL, threadIdx.x == 40), all = __all_sync(ALL, threadIdx.x < 64);
    int count = __syncthreads_count(odd), both = __syncthreads_and(threadIdx.x < 300);
    int one = __syncthreads_or(threadIdx.x == 77);
    out[threadIdx.x] = any + 2 * all + 4 * both + 8 * one + 16 * count;
}

static void ask_votes(void) {
    votes<<<1, N>>>(device_answer);
    fetch();
    for (int i = 0; i < N; i++) {
        expect("votes", i, (i / 32 == 1) + 2 * (i < 64) + 4 + 8 + 16 * (N / 2));
    }
}

/* Each thread reads what its neighbour wrote, through static and dynamic shared memory. */
static __global__ void exchange(int *out, int rounds) {
    __shared__ int ring[N];
    extern __shared__ int other[];
    int i = threadIdx.x;
    ring[i] = i;
    for (int round = 0; round < rounds; round++) {
        __syncthreads();
        int x = ring[(i + 1) % N];
        other[i] = x;
        __syncthreads();
        ring[i] = other[(i + 1) % N];
    }
    out[i] = ring[i];
}

static void ask_exchange(void) {
    exchange<<<1, N, N * sizeof(int)>>>(device_answer, 5);
    fetch();
    for (int i = 0; i < N; i++) {
        expect("exchange", i, (i + 10) % N);
    }
}

/* Threads that leave before others use the warp: full masks in a short last warp. */
static __global__ void short_warp(int *out) {
    int x = __shfl_xor_sync(ALL, (int)threadIdx.x, 1);
    out[threadIdx.x] = x;
}

static void ask_short_warp(void) {
    CALL(cudaMemset(device_answer, 0, sizeof answer));
    short_warp<<<1, 40>>>(device_answer);
    fetch();
    for (int i = 0; i < 40; i++) {
        expect("short warp", i, i ^ 1);
    }
}

static __device__ int counter;

static __global__ void atomics(int *out) {
    atomicAdd(&out[0], 1);
    atomicMax(&out[1], (int)(blockIdx.x * blockDim.x + threadIdx.x));
    atomicMin(&out[2], -(int)threadIdx.x);
    atomicOr((unsigned *)&out[3], 1u << threadIdx.x % 32);
    atomicExch(&out[4], 7);
    atomicCAS(&out[5], 0, 5);
    atomicAdd(&counter, 2);
    atomicInc((unsigned *)&out[6], 9);
    atomicSub(&out[7], 1);
}

static void ask_atomics(void) {
    int zero = 0;
    CALL(cudaMemcpyToSymbol(counter, &zero, sizeof zero));
    CALL(cudaMemset(device_answer, 0, sizeof answer));
    atomics<<<4, 64>>>(device_answer);
    fetch();
    expect("atomicAdd", 0, 256);
    expect("atomicMax", 1, 255);
    expect("atomicMin", 2, -63);
    expect("atomicOr", 3, -1);
    expect("atomicExch", 4, 7);
    expect("atomicCAS", 5, 5);
    expect("atomicInc", 6, 256 % 10);
    expect("atomicSub", 7, -256);
    CALL(cudaMemcpyFromSymbol(&answer[0], counter, sizeof(int)));
    expect("__device__ variable", 0, 512);
}

static __global__ void shape(int *out) {
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    out[block * 12 + thread] = (int)(threadIdx.x * 1000 + blockIdx.z * 100 + gridDim.y);
}

static void ask_shape(void) {
    shape<<<dim3(2, 3, 2), dim3(3, 2, 2)>>>(device_answer);
    fetch();
    for (int i = 0; i < 144; i++) {
        expect("shape", i, i % 3 * 1000 + i / 72 * 100 + 3);
    }
}

/* Parameters are converted and copied as in a call. */
static __global__ void arguments(int *out, float x, const int *nothing, short s, dim3 d) {
    out[0] = x == 2 && nothing == NULL && s == -3 && d.y == 1 && d.x == 5;
}

static void ask_arguments(void) {
    arguments<<<1, 1>>>(device_answer, 2, NULL, -3, 5);
    fetch();
    expect("arguments", 0, 1);
}

/* A block that is the last to finish adds up what the others left: fence and atomic order them. */
static __global__ void last_block(int *out, int *partial, unsigned *done) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = (int)blockIdx.x + 1;
        __threadfence();
        last = atomicInc(done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++) {
            sum += partial[b];
        }
        out[0] = sum;
    }
}

static void ask_last_block(void) {
    int *partial;
    unsigned *done;
    CALL(cudaMalloc(&partial, 10 * sizeof *partial));
    CALL(cudaMalloc(&done, sizeof *done));
    CALL(cudaMemset(done, 0, sizeof *done));
    last_block<<<10, 64>>>(device_answer, partial, done);
    fetch();
    expect("last block", 0, 55);
    CALL(cudaFree(partial));
    CALL(cudaFree(done));
}

static __global__ void set(int *out, int value) {
    out[threadIdx.x] = value;
}

/* The default stream waits for blocking streams, and they for it; events order the others. */
static void ask_streams(void) {
    cudaStream_t a, b;
    cudaEvent_t event;
    CALL(cudaStreamCreate(&a));
    CALL(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CALL(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    set<<<1, N, 0, a>>>(device_answer, 1);
    set<<<1, N>>>(device_answer, 2);
    CALL(cudaEventRecord(event, 0));
    fetch();
    expect("default stream last", 9, 2);
    set<<<1, N>>>(device_answer, 3);
    set<<<1, N, 0, a>>>(device_answer, 4);
    CALL(cudaEventRecord(event, a));
    CALL(cudaStreamWaitEvent(b, event, 0));
    set<<<1, N, 0, b>>>(device_answer, 5);
    CALL(cudaStreamSynchronize(b));
    fetch();
    expect("event", 9, 5);
    int *late;
    CALL(cudaMallocAsync(&late, sizeof answer, a));
    CALL(cudaMemsetAsync(late, 1, sizeof answer, a));
    CALL(cudaMemcpyAsync(device_answer, late, sizeof answer, cudaMemcpyDeviceToDevice, a));
    CALL(cudaFreeAsync(late, a));
    CALL(cudaStreamSynchronize(a));
    fetch();
    expect("stream-ordered memory", 255, 0x01010101);
    while (cudaStreamQuery(a) == cudaErrorNotReady) {
    }
    CALL(cudaEventDestroy(event));
    CALL(cudaStreamDestroy(a));
    CALL(cudaStreamDestroy(b));
}

/* An early allocation keeps its content, however much comes and goes after it. */
static void ask_memory(void) {
    enum { ROUNDS = 10000 };
    int *kept, *piece[3];
    CALL(cudaMalloc(&kept, sizeof answer));
    set<<<1, N>>>(kept, 17);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 3; i++) {
            CALL(cudaMallocAsync(&piece[i], 4096 * (size_t)(i + 1), 0));
        }
        for (int i = 0; i < 3; i++) {
            CALL(cudaFreeAsync(piece[i], 0));
        }
    }
    CALL(cudaMemcpy(answer, kept, sizeof answer, cudaMemcpyDeviceToHost));
    expect("memory", 100, 17);
    CALL(cudaFree(kept));
}

/* Errors are returned once, and are gone after cudaGetLastError(). */
static void ask_errors(void) {
    void *p;
    answer[0] = cudaMalloc(&p, (size_t)1 << 50) == cudaErrorMemoryAllocation;
    expect("too much memory", 0, 1);
    answer[0] = cudaMalloc(&p, (size_t)-4) == cudaErrorMemoryAllocation &&
                cudaMallocHost(&p, (size_t)-4) == cudaErrorMemoryAllocation;
    expect("less than no memory", 0, 1);
    answer[0] =
        cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess;
    expect("cudaGetLastError", 0, 1);
}

int main(void) {
    CALL(cudaMalloc(&device_answer, sizeof answer));
    CALL(cudaMemset(device_answer, 0, sizeof answer));
    ask_shuffles();
    ask_diverged();
    ask_votes();
    ask_exchange();
    ask_short_warp();
    ask_atomics();
    ask_shape();
    ask_arguments();
    ask_last_block();
    ask_streams();
    ask_memory();
    ask_errors();
    CALL(cudaFree(device_answer));
    printf("%d of %d answers are right\n", questions - failures, questions);
    return failures != 0;
}
