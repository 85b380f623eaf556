/* One matrix product by one thread, from oneDNN, OpenBLAS or plain loops, as the build chose. The
   contract is in blas.h; the kit divides larger products among threads by itself (threads.h). */
#include "kernels/blas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base.h"

#if defined BLAS_ONEDNN || defined BLAS_OPENBLAS

/* Whether `variable` is set and keeps a CPU with 512-bit vectors from using them. */
static bool pinned_older(const char *variable, bool wide_kernels) {
#if defined __x86_64__
    return getenv(variable) != NULL && __builtin_cpu_supports("avx512f") && !wide_kernels;
#else
    (void)variable, (void)wide_kernels;
    return false;
#endif
}

#endif

#if defined BLAS_ONEDNN

#include <oneapi/dnnl/dnnl.h>

void blas_sgemm(bool transpose_a, bool transpose_b, int M, int N, int K, const float *A, int lda,
                const float *B, int ldb, float beta, float *C, int ldc) {
    dnnl_status_t status = dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', M, N, K, 1,
                                      A, lda, B, ldb, beta, C, ldc);
    CHECK(status == dnnl_success, "dnnl_sgemm of (%d, %d, %d): status %d", M, N, K, (int)status);
}

void blas_init(void) {
    /* Inside a parallel region oneDNN uses the calling thread alone. */
}

static const char *core_name(void) {
    switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41:
        return "sse41";
    case dnnl_cpu_isa_avx:
        return "avx";
    case dnnl_cpu_isa_avx2:
    case dnnl_cpu_isa_avx2_vnni:
        return "avx2";
    case dnnl_cpu_isa_avx512_core:
    case dnnl_cpu_isa_avx512_core_vnni:
    case dnnl_cpu_isa_avx512_core_bf16:
        return "avx512_core";
    case dnnl_cpu_isa_avx512_core_amx:
        return "avx512_core_amx";
    default:
        return "generic";
    }
}

BlasInfo blas_info(void) {
    static char name[32];
    const dnnl_version_t *version = dnnl_version();
    snprintf(name, sizeof name, "oneDNN %d.%d.%d", version->major, version->minor, version->patch);
    const char *core = core_name(), *variable = "ONEDNN_MAX_CPU_ISA";
    bool wide = strncmp(core, "avx512", 6) == 0;
    return (BlasInfo){name, core, variable, pinned_older(variable, wide)};
}

#elif defined BLAS_OPENBLAS

#include <cblas.h>

void blas_sgemm(bool transpose_a, bool transpose_b, int M, int N, int K, const float *A, int lda,
                const float *B, int ldb, float beta, float *C, int ldc) {
    cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
                transpose_b ? CblasTrans : CblasNoTrans, M, N, K, 1, A, lda, B, ldb, beta, C, ldc);
}

void blas_init(void) {
    openblas_set_num_threads(1);
}

BlasInfo blas_info(void) {
    static char name[32];
    const char *config = openblas_get_config();
    int length = (int)strcspn(config, " ");
    int version = length + 1 + (int)strcspn(config + length + (config[length] != '\0'), " ");
    snprintf(name, sizeof name, "%.*s", version, config);
    const char *core = openblas_get_corename(), *variable = "OPENBLAS_CORETYPE";
    bool wide = strcmp(core, "SkylakeX") == 0 || strcmp(core, "Cooperlake") == 0 ||
                strcmp(core, "SapphireRapids") == 0;
    return (BlasInfo){name, core, variable, pinned_older(variable, wide)};
}

#else /* no library */

void blas_sgemm(bool transpose_a, bool transpose_b, int M, int N, int K, const float *A, int lda,
                const float *B, int ldb, float beta, float *C, int ldc) {
    for (int m = 0; m < M; m++) {
        float *c = C + (size_t)m * ldc;
        /* not 0 * c[n]: C may be undefined, and NaN times 0 is NaN */
        for (int n = 0; n < N; n++) {
            c[n] = beta > 0 ? beta * c[n] : 0;
        }
        /* C[m] += sum_k A[m][k] * B[k] */
        for (int k = 0; k < K; k++) {
            float a = transpose_a ? A[(size_t)k * lda + m] : A[(size_t)m * lda + k];
            if (transpose_b) {
                for (int n = 0; n < N; n++) {
                    c[n] += a * B[(size_t)n * ldb + k];
                }
            } else {
#pragma omp simd
                for (int n = 0; n < N; n++) {
                    c[n] += a * B[(size_t)k * ldb + n];
                }
            }
        }
    }
}

void blas_init(void) {
}

BlasInfo blas_info(void) {
    return (BlasInfo){"plain loops", "compiled", NULL, false};
}

#endif
