/* Rounding by name, integers in words, special functions, types of long, complex numbers, atomics
   of other widths and scopes. */
#include <cuComplex.h>
#include <cuda_runtime.h>
#include <math.h>

#include "check.cuh"

#define HERE(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            *bad = __LINE__;                                                                       \
        }                                                                                          \
    } while (0)

__device__ bool near(double x, double y, double share) {
    return fabs(x - y) <= share * fabs(y);
}

__global__ void rounded(float third, double thirds, int *bad) {
    HERE(__fadd_ru(1, 1e-10f) > 1 && __fadd_rd(1, 1e-10f) == 1 && __fadd_rz(-1, 1e-10f) > -1);
    HERE(__fsub_rd(1, 1e-10f) < 1 && __fsub_ru(1, 1e-10f) == 1);
    HERE(__fdiv_rd(1, 3) < __fdiv_ru(1, 3) && __frcp_rd(3) == __fdiv_rd(1, 3) &&
         __fdiv_rn(1, 3) == third);
    HERE(__fmul_rd(third, third) < __fmul_ru(third, third) && __fsqrt_rd(2) < __fsqrt_ru(2));
    HERE(__fmaf_rz(third, 3, -1) == __fmaf_rn(third, 3, -1) && __fmaf_rn(third, 3, -1) != 0);
    HERE(__fadd_rz(3e38f, 3e38f) < INFINITY && __fadd_rn(3e38f, 3e38f) == INFINITY);
    HERE(__dadd_ru(1, 1e-20) > 1 && __dadd_rd(1, 1e-20) == 1 && __dmul_rn(thirds, 3) == 1);
    HERE(__ddiv_rd(1, 3) < __ddiv_ru(1, 3) && __dsqrt_rd(2) < __dsqrt_ru(2) &&
         __drcp_rn(4) == 0.25);
    HERE(__fma_rn(thirds, 3, -1) != 0 && __dsub_rz(0, 1) == -1);
    HERE(__double2float_rd(thirds) <= thirds && __double2float_ru(thirds) >= thirds);
    HERE(__ll2float_rd((1ll << 40) + 1) == 1.0995116e12f &&
         __ll2float_ru((1ll << 40) + 1) > 1.0995116e12f);
    HERE(__uint2float_rz(0xFFFFFFFFu) < 4294967296.0f &&
         __ull2double_rn(1ull << 63) == 9223372036854775808.0);
    HERE(__float2int_rn(2.5f) == 2 && __float2int_ru(2.1f) == 3 && __float2int_rd(-2.1f) == -3 &&
         __float2int_rz(-2.9f) == -2);
    HERE(__float2int_rz(1e20f) == 2147483647 && __float2int_rz(-1e20f) == -2147483647 - 1 &&
         __float2int_rn(nanf("")) == 0);
    HERE(__float2uint_rz(-1) == 0 && __float2uint_rn(4e9f) == 4000000000u &&
         __double2ll_rd(-0.5) == -1);
    HERE(__double2uint_rn(1e15) == 0xFFFFFFFFu && __float2ull_rz(1e19f) == 9999999980506447872ull);
}

__global__ void integers(unsigned one, int *bad) {
    HERE(__brevll(one) == 1ull << 63 && __ffsll(1ll << 40) == 41 && __umul24(0x1000002, 3) == 6);
    HERE(__mul64hi(-1, 5) == -1 && __sad(-3, 4, one) == 8 && __usad(4, 9, one) == 6);
    HERE(__hadd(-3, -4) == -4 && __rhadd(-3, -4) == -3 &&
         __uhadd(0xFFFFFFFFu, one) == 0x80000000u && __urhadd(2, 3) == 3);
    HERE(__funnelshift_lc(1, 2, 40) == 1 && __funnelshift_rc(1, 2, 40) == 2);
    HERE(__dp2a_lo(0x00020003, 0x0405, 1) == 1 + 3 * 5 + 2 * 4 &&
         __dp2a_hi(0x00020003, 0x04050000, 1) == 24);
    HERE(__dp4a(make_char4(1, -2, 3, 4), make_char4(5, 6, 7, 8), (int)one) == 47);
    HERE(__hiloint2double(__double2hiint(1.75), __double2loint(1.75)) == 1.75);
    HERE(__vadd4(0xFF010203, 0x01010101) == 0x00020304 &&
         __vsub2(0x00010000, 0x00000001) == 0x0001FFFF);
    HERE(__vmaxs4(0xFF000000, 0x00010000) == 0x00010000 &&
         __vmaxu4(0xFF000000, 0x00010000) == 0xFF010000);
    HERE(__vminu2(0xFFFF0001, 0x00010002) == 0x00010001 &&
         __vabsdiffu4(0x05000000, 0x07000000) == 0x02000000);
    HERE(__vavgu4(0x01020304, 0x03020102) == 0x02020203 &&
         __vcmpeq4(0x01020304, 0x01FF03FF) == 0xFF00FF00);
    HERE(__vcmpgts2(0x0000FFFF, 0xFFFF0000) == 0xFFFF0000 &&
         __vsetltu4(0x01020304, 0x02020404) == 0x01000100);
    HERE(__vsadu4(0x01020304, 0x04030201) == 8 && __vabs2(0xFFFF0002) == 0x00010002 &&
         __vneg4(0x01000000) == 0xFF000000);
    HERE(umin(one, 2) == 1 && llmax(-1, 3) == 3);
    long2 pair = make_long2(-1, 2);
    HERE(pair.x + pair.y == 1);
}

__global__ void special(double half, int *bad) {
    for (double x = -3; x <= 3; x += 0.25) {
        HERE(near(erfinv(erf(x)), x, 1e-9) || x == 0);
        HERE(near(normcdfinv(normcdf(x)), x, 1e-10) || x == 0);
    }
    HERE(near(erfcinv(1e-30), 8.1486162231699, 1e-12) && near(erfinvf(0.5f), 0.47693628, 1e-6) &&
         near(erfcx(30.0), 0.018795888861416, 1e-9));
    HERE(sinpi(2 * half) == 0 + sinpi(1.0) && near(sinpi(100.5), 1, 1e-15) &&
         fabs(cospi(half)) < 1e-15 && near(sinpif(-1.5f), 1, 1e-6));
    HERE(near(rcbrt(8.0), half, 1e-15) && near(rhypot(3.0, 4.0), 0.2, 1e-15) &&
         near(norm3d(2.0, 3.0, 6.0), 7, 1e-15) && near(rnorm4df(1, 1, 1, 1), half, 1e-6));
    HERE(near(cyl_bessel_i0(1.0), 1.2660658777520, 1e-12) &&
         near(cyl_bessel_i1(-1.0), -0.5651591039924, 1e-12));
}

__global__ void complex_numbers(float one, int *bad) {
    cuFloatComplex x = make_cuFloatComplex(3, 4), i = make_cuFloatComplex(0, one);
    cuFloatComplex turned = cuCmulf(x, i), back = cuCdivf(turned, i);
    HERE(turned.x == -4 && turned.y == 3 && back.x == 3 && back.y == 4 && cuCabsf(x) == 5 &&
         cuCimagf(cuConjf(x)) == -4);
    cuDoubleComplex huge = make_cuDoubleComplex(1e200, -1e200), ratio = cuCdiv(huge, huge);
    HERE(near(cuCreal(ratio), 1, 1e-14) && fabs(cuCimag(ratio)) < 1e-14);
    cuDoubleComplex sum = cuCfma(cuComplexFloatToDouble(x), make_cuDoubleComplex(2, 0),
                                 cuCsub(cuCadd(ratio, ratio), ratio));
    HERE(near(sum.x, 7, 1e-14) && near(sum.y, 8, 1e-14));
}

__global__ void atomics(long long *x, unsigned short *small, int *flag) {
    atomicMax(x, (long long)threadIdx.x - 5);
    atomicMin(x + 1, -(long long)threadIdx.x);
    unsigned short old = *small;
    for (unsigned short seen = old + 1; seen != old;) {
        seen = old;
        old = atomicCAS(small, seen, (unsigned short)(seen + 1));
    }
    atomicCAS_system(flag, 0, 9);
    atomicCAS_block(flag + 1, 0, 9);
}

int main() {
    int *bad, line = 0, flags[2];
    OK(cudaMalloc(&bad, 2 * sizeof(int)));
    OK(cudaMemset(bad, 0, 2 * sizeof(int)));
    rounded<<<1, 1>>>(1.0f / 3, 1.0 / 3, bad);
    integers<<<1, 1>>>(1, bad);
    special<<<1, 1>>>(0.5, bad);
    complex_numbers<<<1, 1>>>(1, bad);
    OK(cudaMemcpy(&line, bad, sizeof line, cudaMemcpyDeviceToHost));
    if (line != 0) {
        fprintf(stderr, "line %d is not so\n", line);
        return 1;
    }
    long long *x, results[2];
    unsigned short *small, count[2];
    OK(cudaMalloc(&x, sizeof results));
    OK(cudaMemset(x, 0, sizeof results));
    OK(cudaMalloc(&small, sizeof count));
    OK(cudaMemset(small, 0, sizeof count));
    atomics<<<1, 64>>>(x, small, bad);
    OK(cudaMemcpy(results, x, sizeof results, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(count, small, sizeof count, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(flags, bad, sizeof flags, cudaMemcpyDeviceToHost));
    MUST(results[0] == 58 && results[1] == -63 && count[0] == 64 && flags[0] == 9 && flags[1] == 9);
    OK(cudaFree(x));
    OK(cudaFree(small));
    OK(cudaFree(bad));
}
