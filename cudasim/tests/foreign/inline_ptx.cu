/* Inline PTX as programs have it: lanes and special registers, loads and stores, asynchronous
   copies. */
#include <cuda_runtime.h>

#include "check.cuh"

enum { N = 256 };

__device__ __forceinline__ unsigned lane_id() {
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

static __device__ unsigned lanes_before() {
    unsigned mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}

template <class T> __device__ T other_lanes(T) {
    T le, gt, ge, eq;
    asm("mov.u32 %0, %%lanemask_le;\n\t"
        "mov.u32 %1, %%lanemask_gt;\n\t"
        "mov.u32 %2, %%lanemask_ge;\n\t"
        "mov.u32 %3, %%lanemask_eq;"
        : "=r"(le), "=r"(gt), "=r"(ge), "=r"(eq));
    return (le ^ gt) + (ge & le) - eq;
}

__device__ float load_once(const float *p) {
    float value;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(value) : "l"(p));
    return value;
}

__device__ float4 load_four(const float4 *p) {
    float4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(p));
    return v;
}

__device__ __forceinline__ void copy_16(void *to, const void *from, int bytes) {
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(address), "l"(from),
                 "r"(bytes)
                 : "memory");
}

template <int count> __device__ void wait_for() {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(count));
}

__global__ void registers(int *wrong, unsigned *sm) {
    unsigned tid, ntid, ctaid, nctaid, warp, t = threadIdx.x;
    long long clock, now;
    asm("mov.u32 %0, %%tid.x;" : "=r"(tid));
    asm("mov.u32 %0, %%ntid.x;" : "=r"(ntid));
    asm("mov.u32 %0, %%ctaid.x;" : "=r"(ctaid));
    asm("mov.u32 %0, %%nctaid.y;" : "=r"(nctaid));
    asm("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    if (t == 0)
        asm("mov.u32 %0, %%smid;" : "=r"(sm[blockIdx.x]));
    else
        asm volatile("mov.u32 %0, %%clock;" : "=r"(warp));
    int good = tid == t && ntid == blockDim.x && ctaid == blockIdx.x && nctaid == 1 &&
               lane_id() == t % 32 && lanes_before() == (1u << t % 32) - 1 &&
               other_lanes(t) == 0xffffffffu && now != 0;
    if (!good) {
        atomicAdd(wrong, 1);
    }
}

__global__ void loads(float *out, const float *x, const int *bits, const double *wide,
                      const long long *longs) {
    int i = threadIdx.x;
    float4 v = load_four((const float4 *)x + i);
    int whole;
    float as_float;
    double d;
    long long l;
    unsigned low, high;
    asm("ld.global.nc.s32 %0, [%1+4];" : "=r"(whole) : "l"(bits + i));
    asm("ld.global.cg.b32 %0, [%1];" : "=f"(as_float) : "l"(x + i));
    asm volatile("ld.global.f64 %0, [%1];" : "=d"(d) : "l"(wide + i));
    asm("ld.global.nc.s64 %0, [%1];" : "=l"(l) : "l"(longs + i));
    asm("ld.global.nc.v2.u32 {%0,%1}, [%2];" : "=r"(low), "=r"(high) : "l"(longs + i));
    out[i] = v.x + 2 * v.y + 3 * v.z + 4 * v.w + load_once(x + i) + as_float + (float)whole +
             (float)d + (float)(l + low + high);
}

__global__ void copies(float *out, const float *x, int n) {
    __shared__ __align__(16) float tile[N], small[32];
    int t = threadIdx.x, rest = (n - 4 * t) * (int)sizeof(float);
    int bytes = rest >= 16 ? 16 : rest > 0 ? rest : 0;
    copy_16(&tile[4 * t], bytes > 0 ? x + 4 * t : x, bytes);
    asm volatile("cp.async.commit_group;\n" ::);
    wait_for<0>();
    if (t < 32) {
        unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(small));
        asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;" ::"r"(to + 4 * t),
                     "l"(x + t), "n"(4));
        asm volatile("cp.async.wait_all;");
    }
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        out[4 * t + k] = tile[N - 1 - (4 * t + k)] + small[t % 32];
    }
}

/* Four numbers of each thread go through shared memory, to the thread at the other end. */
__global__ void stores(float *out, const float *x) {
    __shared__ float4 tile[N / 4];
    int t = threadIdx.x;
    float4 v = ((const float4 *)x)[t];
    unsigned base = (unsigned)__cvta_generic_to_shared(tile);
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(base + 16 * t), "f"(v.x),
                 "f"(v.y), "f"(v.z), "f"(v.w)
                 : "memory");
    __syncthreads();
    unsigned there = base + 16 * (N / 4 - 1 - t), low, high;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(low), "=r"(high) : "r"(there));
    asm volatile("ld.shared.f32 %0, [%1+12];" : "=f"(v.w) : "r"(there));
    asm volatile("st.global.cs.v2.b32 [%0], {%1, %2};" ::"l"(out + 4 * t), "r"(low), "r"(high));
    asm volatile("st.global.b32 [%0+8], 0;\n\tst.global.wb.f32 [%0+12], %1;" ::"l"(out + 4 * t),
                 "f"(v.w));
}

template <class T> static T *to_device(const T *host, int n) {
    T *x;
    OK(cudaMalloc(&x, n * sizeof *x));
    OK(cudaMemcpy(x, host, n * sizeof *x, cudaMemcpyHostToDevice));
    return x;
}

int main() {
    static float x[4 * N], out[N];
    static int bits[N + 1];
    static double wide[N];
    static long long longs[N];
    for (int i = 0; i < 4 * N; i++) {
        x[i] = (float)(i % 31);
    }
    for (int i = 0; i <= N; i++) {
        bits[i] = -i;
    }
    for (int i = 0; i < N; i++) {
        wide[i] = i / 2.0;
        longs[i] = i + ((long long)(i % 3) << 32);
    }
    float *dx = to_device(x, 4 * N), *dout = to_device(out, N);
    int zero = 0, *wrong = to_device(&zero, 1);
    unsigned *sm;
    OK(cudaMalloc(&sm, 3 * sizeof *sm));
    registers<<<3, 64>>>(wrong, sm);
    OK(cudaGetLastError());
    OK(cudaMemcpy(&zero, wrong, sizeof zero, cudaMemcpyDeviceToHost));
    MUST(zero == 0);
    int *dbits = to_device(bits, N + 1);
    double *dwide = to_device(wide, N);
    long long *dlongs = to_device(longs, N);
    loads<<<1, N>>>(dout, dx, dbits, dwide, dlongs);
    OK(cudaGetLastError());
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        const float *v = x + 4 * i;
        float l = (float)(longs[i] + (unsigned)longs[i] + (unsigned)(longs[i] >> 32));
        MUST(out[i] == v[0] + 2 * v[1] + 3 * v[2] + 4 * v[3] + x[i] + x[i] + (float)bits[i + 1] +
                           (float)wide[i] + l);
    }
    copies<<<1, N / 4>>>(dout, dx, N - 3);
    OK(cudaGetLastError());
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        MUST(out[i] == (N - 1 - i < N - 3 ? x[N - 1 - i] : 0) + x[i / 4 % 32]);
    }
    stores<<<1, N / 4>>>(dout, dx);
    OK(cudaGetLastError());
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        MUST(out[i] == (i % 4 == 2 ? 0 : x[N - 4 - i / 4 * 4 + i % 4]));
    }
    OK(cudaFree(dx));
    OK(cudaFree(dout));
    OK(cudaFree(wrong));
    OK(cudaFree(sm));
    OK(cudaFree(dbits));
    OK(cudaFree(dwide));
    OK(cudaFree(dlongs));
    return 0;
}
