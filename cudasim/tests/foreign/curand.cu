/* cuRAND in kernels. The numbers to compare with are those of NVIDIA's generators; the first four
   are also a test vector of Philox in its authors' own library. */
#include <curand.h>
#include <curand_kernel.h>
#include <math.h>
#include <string.h>

#include "check.cuh"

enum { CASES = 4, WORDS = 11, FLOATS = 7, N = 256 };

typedef struct Case {
    unsigned long long seed, subsequence, offset;
    unsigned philox[WORDS]; /* six by one, four at once, one after skips */
    unsigned xorwow[5];     /* four, one after skips */
    float uniform[2];       /* one of each */
    float normal[FLOATS];   /* two and four of Philox, one of XORWOW */
    double uniform_double[4], normal_double[2];
} Case;

static const Case cases[CASES] = {
    {0,
     0,
     0,
     {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u, 0xf8e4cca4u, 0x5cb200dbu, 0xb1a574ebu,
      0x097eff67u, 0x04faa329u, 0x51c732a6u, 0xb86f1fdeu},
     {0xbd7f03b6u, 0x703e556du, 0x845af0c5u, 0x283067fdu, 0x8f9fce68u},
     {0x1.20a89ep-3f, 0x1.245242p-4f},
     {-0x1.0b2438p-1f, 0x1.323652p+0f, -0x1.377d0cp-2f, 0x1.994822p-1f, 0x1.05d4a4p-3f,
      -0x1.95be66p-2f, 0x1.3ac7f8p+0f},
     {0x1.c6a58ccp-6, 0x1.6bff72eeea735p-2, 0x1.9d61130cf4bf8p-1, 0x1.270ba33c359b6p-3},
     {0x1.5ee7b8cde33f8p-1, -0x1.110fea0a30b72p-4}},
    {1234,
     0,
     0,
     {0x2090b348u, 0xda7cf0abu, 0x4401906fu, 0xcbca470eu, 0x9eeede35u, 0x1cbe137cu, 0xfa277093u,
      0x147edd50u, 0x3fc9c8d8u, 0xfc06fa38u, 0x2fce8964u},
     {0x253d5e15u, 0x6f558604u, 0xdee6daf2u, 0x7485b394u, 0xa5a739bdu},
     {0x1.982e16p-1f, 0x1.b6d4d6p-1f},
     {0x1.b47798p-3f, 0x1.88fbe8p-2f, 0x1.e01a76p-4f, 0x1.963314p-2f, -0x1.beb95ep-3f,
      0x1.c7173cp-5f, 0x1.fbbd9ap-1f},
     {0x1.9a17b36p-3, 0x1.2c0a356f2cfa6p-1, 0x1.5435de2cca21ep-1, 0x1.33fd827904a8bp-2},
     {0x1.6c96f685d0e9cp-2, -0x1.628bbb3ee9464p-6}},
    {81985529216486895,
     5,
     7,
     {0xa1bd1919u, 0x644af2c9u, 0x0aab6850u, 0x81064203u, 0x05721106u, 0xc58f49d0u, 0x6282e75eu,
      0x76ba0b28u, 0x57d5c794u, 0xf1dc0b27u, 0x8d684c63u},
     {0x83397cc9u, 0x2bc8c604u, 0x7dc2f6cau, 0x19b36bc4u, 0x959bebd4u},
     {0x1.91ed9p-2f, 0x1.78447p-1f},
     {-0x1.f57b36p-3f, -0x1.0399c8p-2f, 0x1.0ac86p+0f, -0x1.057f84p-2f, -0x1.9b30dap-1f,
      -0x1.767ef2p-1f, -0x1.49e78cp-1f},
     {0x1.236fa5c2p-1, 0x1.8d59e61d4b6c4p-1, 0x1.db8c4ec12d10ap-3, 0x1.b1fa074dd744ap-1},
     {-0x1.411a7fe56c7c8p+0, -0x1.7b66bab6dd157p-2}},
    {42,
     4294967299,
     30064771073,
     {0x392f6e44u, 0x3d89711au, 0x422db2deu, 0x1f107edfu, 0x93cc41e7u, 0xdc1bef0fu, 0x95ea863fu,
      0xeec8c0c7u, 0x509eee28u, 0x4d849d76u, 0xd42a991du},
     {0xb9a56e7fu, 0x6cde590fu, 0xb459b60du, 0x20375197u, 0x3fd9f091u},
     {0x1.9a8e58p-1f, 0x1.0b9682p-1f},
     {0x1.b8021cp-1f, 0x1.198528p+0f, 0x1.9bcd14p-3f, 0x1.f1161ep-2f, -0x1.ee763cp-2f,
      0x1.4ecf14p+0f, 0x1.69ee9cp-2f},
     {0x1.77eedc94p-1, 0x1.687fe9c05ba82p-1, 0x1.6df3b1e7d215p-6, 0x1.c24576931301ep-3},
     {0x1.99d9019cad5d6p+0, -0x1.4f5755db79fb5p-1}},
};

__global__ void draw_philox(Case *c) {
    c += threadIdx.x;
    curandStatePhilox4_32_10_t state;
    curand_init(c->seed, c->subsequence, c->offset, &state);
    for (int i = 0; i < 6; i++) {
        c->philox[i] = curand(&state);
    }
    uint4 four = curand4(&state);
    c->philox[6] = four.x;
    c->philox[7] = four.y;
    c->philox[8] = four.z;
    c->philox[9] = four.w;
    c->uniform[0] = curand_uniform(&state);
    (void)curand_uniform4(&state);
    c->normal[0] = curand_normal(&state);
    c->normal[1] = curand_normal(&state);
    float4 normal = curand_normal4(&state);
    c->normal[2] = normal.x;
    c->normal[3] = normal.y;
    c->normal[4] = normal.z;
    c->normal[5] = normal.w;
    c->uniform_double[0] = curand_uniform_double(&state);
    double2 two = curand_uniform2_double(&state);
    c->uniform_double[1] = two.x;
    c->uniform_double[2] = two.y;
    c->normal_double[0] = curand_normal_double(&state);
    skipahead(1000003ull, &state);
    skipahead_sequence(3ull, &state);
    c->philox[10] = curand(&state);
}

__global__ void draw_xorwow(Case *c) {
    c += threadIdx.x;
    curandState state;
    curand_init(c->seed, c->subsequence, c->offset, &state);
    for (int i = 0; i < 4; i++) {
        c->xorwow[i] = curand(&state);
    }
    c->uniform[1] = curand_uniform(&state);
    c->normal[6] = curand_normal(&state);
    c->uniform_double[3] = curand_uniform_double(&state);
    c->normal_double[1] = curand_normal_double(&state);
    skipahead(1000003ull, &state);
    skipahead_sequence(3ull, &state);
    c->xorwow[4] = curand(&state);
}

/* As most programs have it: states in memory, made by one kernel and used by others. */
__global__ void make_states(curandState_t *states, unsigned long long seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curand_init(seed, i, 0, &states[i]);
}

template <class State> __device__ float area(State *state, int shots) {
    int hits = 0;
    for (int i = 0; i < shots; i++) {
        float x = curand_uniform(state), y = curand_uniform(state);
        hits += x * x + y * y <= 1;
    }
    return 4.0f * hits / shots;
}

__global__ void estimate(float *pi, float *normals, curandState *states) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandState state = states[i];
    pi[i] = area(&state, 50);
    states[i] = state;
    normals[i] = curand_normal(&states[i]);
}

static void try_cases() {
    Case got[CASES], *device;
    memset(got, 0, sizeof got);
    for (int i = 0; i < CASES; i++) {
        got[i].seed = cases[i].seed;
        got[i].subsequence = cases[i].subsequence;
        got[i].offset = cases[i].offset;
    }
    OK(cudaMalloc(&device, sizeof got));
    OK(cudaMemcpy(device, got, sizeof got, cudaMemcpyHostToDevice));
    draw_philox<<<1, CASES>>>(device);
    draw_xorwow<<<1, CASES>>>(device);
    OK(cudaGetLastError());
    OK(cudaMemcpy(got, device, sizeof got, cudaMemcpyDeviceToHost));
    OK(cudaFree(device));
    for (int i = 0; i < CASES; i++) {
        const Case *want = &cases[i];
        MUST(memcmp(got[i].philox, want->philox, sizeof want->philox) == 0);
        MUST(memcmp(got[i].xorwow, want->xorwow, sizeof want->xorwow) == 0);
        MUST(memcmp(got[i].uniform, want->uniform, sizeof want->uniform) == 0);
        MUST(memcmp(got[i].uniform_double, want->uniform_double, sizeof want->uniform_double) == 0);
        for (int k = 0; k < FLOATS; k++) {
            MUST(fabsf(got[i].normal[k] - want->normal[k]) < 1e-5f);
        }
        MUST(fabs(got[i].normal_double[0] - want->normal_double[0]) < 1e-13);
        MUST(fabs(got[i].normal_double[1] - want->normal_double[1]) < 1e-13);
    }
}

static void estimate_pi() {
    static float host[2 * N];
    float *pi;
    curandState *states;
    double sum = 0, square = 0;
    OK(cudaMalloc(&pi, sizeof host));
    OK(cudaMalloc(&states, N * sizeof *states));
    make_states<<<N / 64, 64>>>(states, 99);
    estimate<<<N / 64, 64>>>(pi, pi + N, states);
    OK(cudaGetLastError());
    OK(cudaMemcpy(host, pi, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        sum += host[i] / N;
        square += (double)host[N + i] * host[N + i] / N;
    }
    MUST(fabs(sum - 3.14159) < 0.1 && fabs(square - 1) < 0.3);
    OK(cudaFree(pi));
    OK(cudaFree(states));
}

int main() {
    try_cases();
    estimate_pi();
    return 0;
}
