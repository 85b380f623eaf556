/* Tensor cores by inline PTX: matrices from shared memory into the registers of a warp, and
   products of them. Numbers are small and whole, so every order of a sum gives the same. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <stdint.h>

#include "check.cuh"

enum { M = 16, N = 8, MOST_K = 32, ROW = 24 /* halves, with padding */ };

static int a_at(int i, int l) {
    return (i * 7 + l * 3) % 11 - 5;
}
static int b_at(int l, int j) {
    return (l * 5 + j * 2) % 9 - 4;
}
static int c_at(int i, int j) {
    return i - 2 * j;
}

static int product(int i, int j, int k) {
    int sum = c_at(i, j);
    for (int l = 0; l < k; l++) {
        sum += a_at(i, l) * b_at(l, j);
    }
    return sum;
}

__device__ unsigned shared_address(const void *p) {
    unsigned long long address;
    asm volatile("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(p));
    return (unsigned)address;
}

/* ---- ldmatrix: which lane has which element -------------------------------------------------- */

#define LDMATRIX_X4(r, address)                                                                    \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"              \
                 : "=r"((r)[0]), "=r"((r)[1]), "=r"((r)[2]), "=r"((r)[3])                          \
                 : "r"(address))

__global__ void layout(unsigned *straight, unsigned *across, unsigned *one) {
    __shared__ __align__(16) uint16_t matrix[4][8][8];
    int lane = threadIdx.x;
    for (int i = lane; i < 4 * 64; i += 32) {
        matrix[i / 64][i / 8 % 8][i % 8] = (uint16_t)i;
    }
    __syncwarp();
    unsigned r[4], t[2], x;
    LDMATRIX_X4(r, shared_address(matrix[lane / 8][lane % 8]));
    /* Of two matrices the first sixteen lanes give the rows; the offset is that of the second. */
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%0, %1}, [%2 + 128];"
                 : "=r"(t[0]), "=r"(t[1])
                 : "r"(shared_address(matrix[lane / 8 % 2][lane % 8])));
    asm volatile("ldmatrix.sync.aligned.x1.m8n8.shared.b16 {%0}, [%1];"
                 : "=r"(x)
                 : "r"(shared_address(matrix[3][lane % 8])));
    for (int i = 0; i < 4; i++) {
        straight[4 * lane + i] = r[i];
    }
    across[2 * lane] = t[0];
    across[2 * lane + 1] = t[1];
    one[lane] = x;
}

/* ---- halves, all of it from shared memory ---------------------------------------------------- */

__global__ void from_shared(float *out, __half *out_half, const __half *a, const __half *b,
                            const float *c) {
    __shared__ __align__(16) __half sa[M][ROW], sb[16][N];
    int lane = threadIdx.x, row = lane / 4, col = 2 * (lane % 4);
    for (int i = lane; i < M * 16; i += 32) {
        sa[i / 16][i % 16] = a[i];
    }
    for (int i = lane; i < 16 * N; i += 32) {
        sb[i / N][i % N] = b[i];
    }
    __syncwarp();
    uint32_t ra[4], rb[2], half_sum[2];
    float sum[4];
    LDMATRIX_X4(ra, shared_address(&sa[lane % 16][lane / 16 * 8]));
    asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2];\n"
                 : "=r"(rb[0]), "=r"(rb[1])
                 : "r"(shared_address(sb[lane % 16])));
    for (int i = 0; i < 4; i++) {
        sum[i] = c[(row + i / 2 * 8) * N + col + i % 2];
    }
    for (int i = 0; i < 2; i++) {
        __half2 pair = __floats2half2_rn(sum[2 * i], sum[2 * i + 1]);
        half_sum[i] = *reinterpret_cast<uint32_t *>(&pair);
    }
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, "
                 "{%6, %7}, {%8, %9};\n"
                 : "=r"(half_sum[0]), "=r"(half_sum[1])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]),
                   "r"(half_sum[0]), "r"(half_sum[1]));
    for (int i = 0; i < 4; i++) {
        int at = (row + i / 2 * 8) * N + col + i % 2;
        __half2 pair = *reinterpret_cast<__half2 *>(&half_sum[i / 2]);
        out[at] = sum[i];
        out_half[at] = i % 2 == 0 ? __low2half(pair) : __high2half(pair);
    }
}

/* ---- the other types, by the formula of the PTX manual --------------------------------------- */

/* A register holds `per` elements of a row of a, one after the other, or of a column of b. */
template <class T> struct Lane {
    static constexpr int per = 4 / (int)sizeof(T);
    const T *a, *b;
    int k, lane;
    __device__ uint32_t first(int r) const {
        int row = lane / 4 + r % 2 * 8, col = (lane % 4 + r / 2 * 4) * per;
        uint32_t bits;
        memcpy(&bits, a + row * k + col, sizeof bits);
        return bits;
    }
    __device__ uint32_t second(int r) const {
        T pack[per];
        for (int e = 0; e < per; e++) {
            pack[e] = b[((lane % 4 + r * 4) * per + e) * N + lane / 4];
        }
        uint32_t bits;
        memcpy(&bits, pack, sizeof bits);
        return bits;
    }
    __device__ int out(int i) const {
        return (lane / 4 + i / 2 * 8) * N + lane % 4 * 2 + i % 2;
    }
};

#define SMALL(name, T, S, instruction, s)                                                          \
    __global__ void name(S *out, const T *a, const T *b, const S *c, int k) {                      \
        Lane<T> at = {a, b, k, (int)threadIdx.x};                                                  \
        S x[4] = {c[at.out(0)], c[at.out(1)], c[at.out(2)], c[at.out(3)]};                         \
        asm volatile(instruction " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"            \
                     : s(x[0]), s(x[1]), s(x[2]), s(x[3])                                          \
                     : "r"(at.first(0)), "r"(at.first(1)), "r"(at.second(0)));                     \
        for (int i = 0; i < 4; i++) {                                                              \
            out[at.out(i)] = x[i];                                                                 \
        }                                                                                          \
    }
#define LARGE(name, T, S, instruction, s)                                                          \
    __global__ void name(S *out, const T *a, const T *b, const S *c, int k) {                      \
        Lane<T> at = {a, b, k, (int)threadIdx.x};                                                  \
        S x[4] = {c[at.out(0)], c[at.out(1)], c[at.out(2)], c[at.out(3)]};                         \
        asm volatile(instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "    \
                                 "%3};"                                                            \
                     : s(x[0]), s(x[1]), s(x[2]), s(x[3])                                          \
                     : "r"(at.first(0)), "r"(at.first(1)), "r"(at.first(2)), "r"(at.first(3)),     \
                       "r"(at.second(0)), "r"(at.second(1)));                                      \
        for (int i = 0; i < 4; i++) {                                                              \
            out[at.out(i)] = x[i];                                                                 \
        }                                                                                          \
    }

SMALL(half8, __half, float, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "+f")
SMALL(bf16_8, __nv_bfloat16, float, "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", "+f")
LARGE(bf16_16, __nv_bfloat16, float, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "+f")
SMALL(tf32_4, float, float, "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", "+f")
LARGE(tf32_8, float, float, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "+f")
SMALL(bytes16, signed char, int, "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", "+r")
LARGE(bytes32, signed char, int, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "+r")
LARGE(mixed32, signed char, int, "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", "+r")
SMALL(clamped, signed char, int, "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32", "+r")

template <class T> static T *on_device(const T *host, int n) {
    T *x;
    OK(cudaMalloc(&x, n * sizeof *x));
    OK(cudaMemcpy(x, host, n * sizeof *x, cudaMemcpyHostToDevice));
    return x;
}

template <class S> using Wanted = S (*)(int i, int j, int k);

static float number(int i, int j, int k) {
    return (float)product(i, j, k);
}
static int whole(int i, int j, int k) {
    return product(i, j, k);
}
/* a's bytes without a sign */
static int unsigned_first(int i, int j, int k) {
    int sum = c_at(i, j);
    for (int l = 0; l < k; l++) {
        sum += (unsigned char)a_at(i, l) * b_at(l, j);
    }
    return sum;
}

template <class T, class S>
static void check(void (*kernel)(S *, const T *, const T *, const S *, int), int k,
                  Wanted<S> wanted) {
    static T a[M * MOST_K], b[MOST_K * N];
    static S c[M * N], out[M * N];
    for (int i = 0; i < M * k; i++) {
        a[i] = (T)(float)a_at(i / k, i % k);
    }
    for (int i = 0; i < k * N; i++) {
        b[i] = (T)(float)b_at(i / N, i % N);
    }
    for (int i = 0; i < M * N; i++) {
        c[i] = (S)c_at(i / N, i % N);
    }
    T *da = on_device(a, M * k), *db = on_device(b, k * N);
    S *dc = on_device(c, M * N), *dout = on_device(out, M * N);
    kernel<<<1, 32>>>(dout, da, db, dc, k);
    OK(cudaGetLastError());
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < M * N; i++) {
        MUST(out[i] == wanted(i / N, i % N, k));
    }
    OK(cudaFree(da));
    OK(cudaFree(db));
    OK(cudaFree(dc));
    OK(cudaFree(dout));
}

static void check_layout(void) {
    static unsigned zeros[32 * 4], straight[32 * 4], across[32 * 2], one[32];
    unsigned *ds = on_device(zeros, 32 * 4), *da = on_device(zeros, 32 * 2);
    unsigned *d1 = on_device(zeros, 32);
    layout<<<1, 32>>>(ds, da, d1);
    OK(cudaGetLastError());
    OK(cudaMemcpy(straight, ds, sizeof straight, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(across, da, sizeof across, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(one, d1, sizeof one, cudaMemcpyDeviceToHost));
    for (unsigned lane = 0; lane < 32; lane++) {
        unsigned row = lane / 4, col = 2 * (lane % 4), at = row * 8 + col;
        for (unsigned i = 0; i < 4; i++) {
            MUST(straight[4 * lane + i] == ((64 * i + at + 1) << 16 | (64 * i + at)));
        }
        for (unsigned i = 0; i < 2; i++) {
            unsigned low = 64 * (i + 1) + col * 8 + row;
            MUST(across[2 * lane + i] == ((low + 8) << 16 | low));
        }
        MUST(one[lane] == ((192 + at + 1) << 16 | (192 + at)));
    }
    OK(cudaFree(ds));
    OK(cudaFree(da));
    OK(cudaFree(d1));
}

static void check_shared(void) {
    static __half a[M * 16], b[16 * N], half_out[M * N];
    static float c[M * N], out[M * N];
    for (int i = 0; i < M * 16; i++) {
        a[i] = __float2half((float)a_at(i / 16, i % 16));
    }
    for (int i = 0; i < 16 * N; i++) {
        b[i] = __float2half((float)b_at(i / N, i % N));
    }
    for (int i = 0; i < M * N; i++) {
        c[i] = (float)c_at(i / N, i % N);
    }
    __half *da = on_device(a, M * 16), *db = on_device(b, 16 * N);
    __half *dhalf = on_device(half_out, M * N);
    float *dc = on_device(c, M * N), *dout = on_device(out, M * N);
    from_shared<<<1, 32>>>(dout, dhalf, da, db, dc);
    OK(cudaGetLastError());
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(half_out, dhalf, sizeof half_out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < M * N; i++) {
        MUST(out[i] == number(i / N, i % N, 16));
        MUST(__half2float(half_out[i]) == out[i]);
    }
    OK(cudaFree(da));
    OK(cudaFree(db));
    OK(cudaFree(dhalf));
    OK(cudaFree(dc));
    OK(cudaFree(dout));
}

/* Sums beyond the range of whole numbers wrap around, or stay at its ends. */
static void check_ends(void (*kernel)(int *, const signed char *, const signed char *, const int *,
                                      int),
                       int high, int low) {
    static signed char a[M * 16], b[16 * N];
    static int c[M * N], out[M * N];
    for (int i = 0; i < M * 16; i++) {
        a[i] = i / 16 % 2 == 0 ? 100 : -100;
    }
    for (int i = 0; i < 16 * N; i++) {
        b[i] = 100;
    }
    for (int i = 0; i < M * N; i++) {
        c[i] = i / N % 2 == 0 ? 0x7fffffff - 5 : -0x7fffffff;
    }
    signed char *da = on_device(a, M * 16), *db = on_device(b, 16 * N);
    int *dc = on_device(c, M * N), *dout = on_device(out, M * N);
    kernel<<<1, 32>>>(dout, da, db, dc, 16);
    OK(cudaGetLastError());
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < M * N; i++) {
        MUST(out[i] == (i / N % 2 == 0 ? high : low));
    }
    OK(cudaFree(da));
    OK(cudaFree(db));
    OK(cudaFree(dc));
    OK(cudaFree(dout));
}

/* Of a float tensor cores read 10 bits after the point. */
static void check_tf32(void) {
    static float a[M * 4], b[4 * N], c[M * N], out[M * N];
    for (int i = 0; i < M * 4; i++) {
        a[i] = 1 + (float)(i % 4) / 8192;
    }
    for (int i = 0; i < 4 * N; i++) {
        b[i] = 1;
    }
    float *da = on_device(a, M * 4), *db = on_device(b, 4 * N);
    float *dc = on_device(c, M * N), *dout = on_device(out, M * N);
    tf32_4<<<1, 32>>>(dout, da, db, dc, 4);
    OK(cudaGetLastError());
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < M * N; i++) {
        MUST(out[i] == 4);
    }
    OK(cudaFree(da));
    OK(cudaFree(db));
    OK(cudaFree(dc));
    OK(cudaFree(dout));
}

int main() {
    check_layout();
    check_shared();
    check(half8, 8, number);
    check(bf16_8, 8, number);
    check(bf16_16, 16, number);
    check(tf32_4, 4, number);
    check(tf32_8, 8, number);
    check(bytes16, 16, whole);
    check(bytes32, 32, whole);
    check(mixed32, 32, unsigned_first);
    check_ends(bytes16, -0x7fffffff - 1 + 160000 - 6, 0x7fffffff - 160000 + 2);
    check_ends(clamped, 0x7fffffff, -0x7fffffff - 1);
    check_tf32();
    return 0;
}
