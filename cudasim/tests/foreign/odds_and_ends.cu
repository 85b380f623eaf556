/* Small names that programs use now and then: functions by their address, kernels with a comma in
   their name, mixed types, memory in slices, copies of variables in a stream. */
#include <cooperative_groups.h>
#include <cstdlib>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <memory>
#include <utility>

#include "check.cuh"

namespace cg = cooperative_groups;

enum { THREADS = 64 };

__device__ int table[4];

template <class A, int B> static __global__ void several(A *x) {
    extern __shared__ int s[];
    int i = (int)threadIdx.x;
    s[i] = B;
    x[i] = (A)s[i];
}

struct __builtin_align__(16) Line {
    float a, b, c;
};

static __device__ __noinline__ int apart(int x) {
    __builtin_assume(x >= 0);
    return x + 1 + (sizeof(Line) != 16);
}

static __global__ void tiles(int *out) {
    __shared__ int s[THREADS];
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(warp);
    cg::thread_block_tile<8> plain = eight;
    auto of_block = cg::tiled_partition<8>(block);
    int i = (int)block.thread_rank();
    s[i] = i;
    auto token = block.barrier_arrive();
    int ranks = (int)(eight.meta_group_rank() * 1000 + plain.meta_group_size() * 100 +
                      of_block.meta_group_rank() * 10 + of_block.meta_group_size());
    block.barrier_wait(std::move(token));
    out[i] = ranks + 100000 * s[THREADS - 1 - i];
}

static __global__ void numbers(float *out) {
    float s, c;
    __sincosf(0.5f, &s, &c);
    out[0] = s * s + c * c;
    out[1] = (float)max(3ul, 5l) + (float)min(7ll, 9ull) + (float)max(1.0f, 2.0);
    out[2] = (float)__reduce_xor_sync(0xffffffffu, 1u << threadIdx.x) == -1.0f + 0x1p32f;
    out[3] = __half2float(CUDART_INF_FP16);
    out[4] = (float)__half2ushort_rn(__float2half(6.6f)) + (float)apart(1) + (float)table[3];
    __prof_trigger(0);
}

static __constant__ int fixed[3];

/* A bit for each address that lies where it should. */
static __global__ void spaces(int *out) {
    __shared__ int s;
    extern __shared__ int more[];
    int local = 0;
    bool known[] = {__isGlobal(out) && __isGlobal(&table[1]) && !__isGlobal(&s),
                    __isShared(&s) && __isShared(more) && !__isShared(out),
                    __isConstant(&fixed[2]) && !__isConstant(table),
                    __isLocal(&local) && !__isLocal(&s)};
    out[threadIdx.x] = known[0] + 2 * known[1] + 4 * known[2] + 8 * known[3];
}

/* An object with virtual functions: what leads to them is stored and read like its members. */
struct Shape {
    int number;
    __device__ Shape(int n) : number(n) {
    }
    virtual __device__ float area() const {
        return 0;
    }
};
struct Square : Shape {
    float side;
    __device__ Square(float s) : Shape(4), side(s) {
    }
    __device__ float area() const override {
        return side * side;
    }
};
union Room {
    char bytes[sizeof(Square)];
    double number;
};

static __global__ void make(Room *rooms) {
    new (&rooms[threadIdx.x]) Square((float)threadIdx.x);
}

static __global__ void measure(Room *rooms, float *out) {
    const Shape *shape = (const Shape *)&rooms[threadIdx.x];
    out[threadIdx.x] = shape->area() + (float)shape->number;
}

static void by_address(void) {
    float *p;
    OK(cudaMalloc(&p, 16));
    std::unique_ptr<float, cudaError_t (*)(void *)> owned(p, cudaFree);
    OK(cudaMallocHost(&p, 16));
    std::unique_ptr<float, decltype(&cudaFreeHost)> pinned(p, &cudaFreeHost);
    cudaError_t (*wait)(void) = cudaDeviceSynchronize;
    OK(wait());
}

static void slices(void) {
    cudaPitchedPtr p;
    cudaExtent extent = make_cudaExtent(20, 3, 2);
    unsigned char host[20];
    OK(cudaMalloc3D(&p, extent));
    OK(cudaMemset3D(p, 9, extent));
    OK(cudaMemcpy(host, (char *)p.ptr + 5 * p.pitch, sizeof host, cudaMemcpyDeviceToHost));
    MUST(host[0] == 9 && host[19] == 9);
    OK(cudaFree(p.ptr));
}

/* Members may have the names of the functions that end a program. */
struct Door {
    int calls = 0;
    void exit(int status) {
        calls += status;
    }
    void abort() {
        calls += 2;
    }
};

int main() {
    int ranks[THREADS], *i, *pinned;
    float sums[THREADS], *f;
    Room *rooms;
    cudaStream_t stream;
    OK(cudaMalloc(&i, sizeof ranks));
    OK(cudaMalloc(&f, sizeof sums));
    OK(cudaMalloc(&rooms, THREADS * sizeof *rooms));
    OK(cudaStreamCreate(&stream));
    OK(cudaMallocHost(&pinned, 16));
    by_address();
    slices();

    OK(cudaFuncSetAttribute(several<int, 3>, cudaFuncAttributePreferredSharedMemoryCarveout,
                            cudaSharedmemCarveoutMaxShared));
    OK(cudaFuncSetCacheConfig(several<int, 3>, cudaFuncCachePreferL1));
    OK(cudaFuncSetAttribute(several<int, 3>, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    int blocks;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, several<int, 3>, THREADS, 0,
                                                              cudaOccupancyDefault));
    MUST(blocks > 0);
    several<int, 3><<<1, THREADS, 60000>>>(i);
    OK(cudaGetLastError());
    OK(cudaMemcpy(ranks, i, sizeof ranks, cudaMemcpyDeviceToHost));
    MUST(ranks[THREADS - 1] == 3);

    tiles<<<1, THREADS>>>(i);
    OK(cudaMemcpy(ranks, i, sizeof ranks, cudaMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; t++) {
        MUST(ranks[t] == t % 32 / 8 * 1000 + 400 + t / 8 * 10 + 8 + 100000 * (THREADS - 1 - t));
    }

    spaces<<<1, THREADS, 16>>>(i);
    OK(cudaMemcpy(ranks, i, sizeof ranks, cudaMemcpyDeviceToHost));
    MUST(ranks[0] == 15 && ranks[THREADS - 1] == 15);

    pinned[0] = 40;
    OK(cudaMemcpyToSymbolAsync(table, pinned, 4, 12, cudaMemcpyHostToDevice, stream));
    OK(cudaMemcpyFromSymbolAsync(pinned + 1, table, 4, 12, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    MUST(pinned[1] == 40);
    numbers<<<1, 32>>>(f);
    OK(cudaMemcpy(sums, f, 5 * sizeof(float), cudaMemcpyDeviceToHost));
    MUST(fabsf(sums[0] - 1) < 1e-5f && sums[1] == 14 && sums[2] == 1 && isinf(sums[3]) &&
         sums[4] == 49);

    make<<<1, THREADS>>>(rooms);
    measure<<<1, THREADS>>>(rooms, f);
    OK(cudaMemcpy(sums, f, sizeof sums, cudaMemcpyDeviceToHost));
    MUST(sums[5] == 29);
    MUST(strcmp(cudaGetErrorName(cudaErrorIllegalInstruction), "cudaErrorIllegalInstruction") == 0);
    OK(cudaFreeHost(pinned));
    Door door;
    door.exit(1);
    door.abort();
    MUST(door.calls == 3);
    puts("good");
    std::exit(0);
}
