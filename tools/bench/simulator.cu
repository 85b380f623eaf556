/* `make bench-simulator`: kernels, and plain C that computes the same. Prints a line for each:
   nanoseconds for a unit of work, cpu (processor time), wall (the clock), and of plain C the
   processor time (0: there is none); narrow is plain C with vectors of 128 bits, as compilers make
   them for any x86-64. tools/bench/simulator.py makes the table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 256, TILE = 16, LENGTH = 1 << 20, ROW = 1024, BLOCKS = 32, THREADS = 256, ROUNDS = 20 };
static const size_t BYTES = LENGTH * sizeof(float);

/* ---- kernels --------------------------------------------------------------------------------- */

__global__ void empty(const float *, const float *, float *) {
}

__global__ void add(const float *a, const float *b, float *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

__host__ __device__ static float gelu_of(float x) {
    return 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

__global__ void gelu(const float *a, const float *, float *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = gelu_of(a[i]);
}

__global__ void barriers(const float *, const float *, float *c) {
    for (int i = 0; i < ROUNDS; i++) {
        __syncthreads();
    }
    c[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void shuffles(const float *, const float *, float *c) {
    float x = threadIdx.x;
    for (int i = 0; i < ROUNDS; i++) {
        x += __shfl_xor_sync(0xffffffffu, x, 16);
    }
    c[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__global__ void matmul(const float *a, const float *b, float *c) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < N; k++) {
        sum += a[row * N + k] * b[k * N + column];
    }
    c[row * N + column] = sum;
}

__global__ void matmul_tiled(const float *a, const float *b, float *c) {
    __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int first = 0; first < N; first += TILE) {
        of_a[threadIdx.y][threadIdx.x] = a[row * N + first + threadIdx.x];
        of_b[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * N + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            sum += of_a[threadIdx.y][k] * of_b[k][threadIdx.x];
        }
        __syncthreads();
    }
    c[row * N + column] = sum;
}

/* One block a row. */
__global__ void row_sums(const float *a, const float *, float *c) {
    __shared__ float part[THREADS / 32];
    float sum = 0;
    for (int i = threadIdx.x; i < ROW; i += THREADS) {
        sum += a[blockIdx.x * ROW + i];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < THREADS / 32; i++) {
            sum += part[i];
        }
        c[blockIdx.x] = sum;
    }
}

/* ---- the same in plain C --------------------------------------------------------------------- */

#ifndef __clang__
#pragma GCC push_options
#pragma GCC optimize("tree-loop-vectorize") /* which `make cu` forbids, for the sake of kernels */
#endif
static void plain_add(const float *a, const float *b, float *c) {
    for (int i = 0; i < LENGTH; i++) {
        c[i] = a[i] + b[i];
    }
}

static void plain_gelu(const float *a, const float *, float *c) {
    for (int i = 0; i < LENGTH; i++) {
        c[i] = gelu_of(a[i]);
    }
}

#ifdef __x86_64__
#define NARROW __attribute__((target("no-avx")))
#else
#define NARROW
#endif
/* Neighbours in memory are neighbours in time, so that the compiler uses vectors. */
#define PLAIN_MATMUL(name)                                                                         \
    static void name(const float *a, const float *b, float *c) {                                   \
        for (int i = 0; i < N; i++) {                                                              \
            memset(&c[i * N], 0, N * sizeof *c);                                                   \
            for (int k = 0; k < N; k++) {                                                          \
                for (int j = 0; j < N; j++) {                                                      \
                    c[i * N + j] += a[i * N + k] * b[k * N + j];                                   \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
PLAIN_MATMUL(plain_matmul)
NARROW PLAIN_MATMUL(narrow_matmul)

    static void plain_row_sums(const float *a, const float *, float *c) {
    for (int row = 0; row < LENGTH / ROW; row++) {
        float sum = 0;
        for (int i = 0; i < ROW; i++) {
            sum += a[row * ROW + i];
        }
        c[row] = sum;
    }
}
#ifndef __clang__
#pragma GCC pop_options
#endif

/* ---- time ------------------------------------------------------------------------------------ */

typedef void Kernel(const float *a, const float *b, float *c);
static const struct {
    const char *name;
    Kernel *kernel, *plain, *narrow;
    dim3 grid, block;
    double units;
    int compared; /* elements of c that must agree */
} cases[] = {
    {"empty", empty, NULL, NULL, LENGTH / THREADS, THREADS, LENGTH, 0},
    {"add", add, plain_add, NULL, LENGTH / THREADS, THREADS, LENGTH, LENGTH},
    {"gelu", gelu, plain_gelu, NULL, LENGTH / THREADS, THREADS, LENGTH, LENGTH},
    {"barriers", barriers, NULL, NULL, BLOCKS, THREADS, BLOCKS *THREADS *ROUNDS, 0},
    {"shuffles", shuffles, NULL, NULL, BLOCKS, THREADS, BLOCKS *THREADS *ROUNDS, 0},
    {"matmul", matmul, plain_matmul, narrow_matmul, dim3(N / TILE, N / TILE), dim3(TILE, TILE),
     N *N *N, N *N},
    {"matmul_tiled", matmul_tiled, plain_matmul, narrow_matmul, dim3(N / TILE, N / TILE),
     dim3(TILE, TILE), N *N *N, N *N},
    {"row_sums", row_sums, plain_row_sums, NULL, LENGTH / ROW, THREADS, LENGTH, LENGTH / ROW},
};

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double seconds_of(Kernel *plain, int times, const float *a, const float *b, float *c) {
    if (plain == NULL) {
        return 0;
    }
    plain(a, b, c);
    double begin = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < times; i++) {
        plain(a, b, c);
    }
    return seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

static void compare(const char *name, const float *c, const float *expected, int n) {
    for (int i = 0; i < n; i++) {
        if (!(fabsf(c[i] - expected[i]) <= 1e-4f * fabsf(expected[i]))) {
            fprintf(stderr, "%s: element %d is %g, not %g\n", name, i, c[i], expected[i]);
            exit(1);
        }
    }
}

static float *on_device(const float *values) {
    float *p;
    cudaMalloc(&p, BYTES);
    cudaMemcpy(p, values, BYTES, cudaMemcpyHostToDevice);
    return p;
}

/* Arguments: how often each kernel runs; which one, if not all. */
int main(int argc, char **argv) {
    static float a[LENGTH], b[LENGTH], c[LENGTH], expected[LENGTH];
    int times = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < LENGTH; i++) {
        a[i] = (float)(i * 7 % 13) / 13;
        b[i] = (float)(i * 5 % 11) / 11;
    }
    float *of_a = on_device(a), *of_b = on_device(b), *of_c = on_device(c);
    for (const auto &one : cases) {
        if (argc > 2 && strcmp(argv[2], one.name) != 0) {
            continue;
        }
        one.kernel<<<one.grid, one.block>>>(of_a, of_b, of_c);
        cudaDeviceSynchronize();
        double cpu = -seconds(CLOCK_PROCESS_CPUTIME_ID), wall = -seconds(CLOCK_MONOTONIC);
        for (int i = 0; i < times; i++) {
            one.kernel<<<one.grid, one.block>>>(of_a, of_b, of_c);
        }
        cudaDeviceSynchronize();
        cpu += seconds(CLOCK_PROCESS_CPUTIME_ID);
        wall += seconds(CLOCK_MONOTONIC);
        double plain = seconds_of(one.plain, times, a, b, expected);
        double narrow = seconds_of(one.narrow, times, a, b, expected);
        cudaMemcpy(c, of_c, BYTES, cudaMemcpyDeviceToHost);
        compare(one.name, c, expected, one.compared);
        double scale = 1e9 / (times * one.units);
        printf("name=%s cpu=%.4f wall=%.4f plain=%.4f narrow=%.4f\n", one.name, cpu * scale,
               wall * scale, plain * scale, narrow * scale);
        fflush(stdout);
    }
    cudaFree(of_a), cudaFree(of_b), cudaFree(of_c);
    return 0;
}
