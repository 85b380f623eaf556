/**
 * @file cublas_unsupported.h
 * @brief Functions of cuBLAS that are not simulated: each stops the compiler in plain words.
 * Included by cublas_v2.h.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CUBLAS_UNSUPPORTED_H
#define CUDASIM_CUBLAS_UNSUPPORTED_H

/** @cond */
/* `name`, and its twin for sizes of 64 bits. */
#define CUDASIM_NO_BLAS(name)                                                                      \
    CUDASIM_NO_PRODUCT(name, "cuBLAS's " #name)                                                    \
    CUDASIM_NO_PRODUCT(name##_64, "cuBLAS's " #name "_64")
/* The same of the real types, of the complex ones, and of all. */
#define CUDASIM_NO_BLAS_SD(op) CUDASIM_NO_BLAS(cublasS##op) CUDASIM_NO_BLAS(cublasD##op)
#define CUDASIM_NO_BLAS_CZ(op) CUDASIM_NO_BLAS(cublasC##op) CUDASIM_NO_BLAS(cublasZ##op)
#define CUDASIM_NO_BLAS_ALL(op) CUDASIM_NO_BLAS_SD(op) CUDASIM_NO_BLAS_CZ(op)

/* vectors */
CUDASIM_NO_BLAS_CZ(axpy)
CUDASIM_NO_BLAS_CZ(copy)
CUDASIM_NO_BLAS_CZ(dotc)
CUDASIM_NO_BLAS_CZ(dotu)
CUDASIM_NO_BLAS_CZ(scal)
CUDASIM_NO_BLAS_CZ(swap)
CUDASIM_NO_BLAS(cublasCsscal)
CUDASIM_NO_BLAS(cublasZdscal)
CUDASIM_NO_BLAS(cublasScasum)
CUDASIM_NO_BLAS(cublasDzasum)
CUDASIM_NO_BLAS(cublasScnrm2)
CUDASIM_NO_BLAS(cublasDznrm2)
CUDASIM_NO_BLAS(cublasIcamax)
CUDASIM_NO_BLAS(cublasIcamin)
CUDASIM_NO_BLAS(cublasIzamax)
CUDASIM_NO_BLAS(cublasIzamin)
CUDASIM_NO_BLAS_ALL(rot)
CUDASIM_NO_BLAS_ALL(rotg)
CUDASIM_NO_BLAS_SD(rotm)
CUDASIM_NO_BLAS_SD(rotmg)
CUDASIM_NO_BLAS(cublasCsrot)
CUDASIM_NO_BLAS(cublasZdrot)
CUDASIM_NO_BLAS(cublasAsumEx)
CUDASIM_NO_BLAS(cublasAxpyEx)
CUDASIM_NO_BLAS(cublasCopyEx)
CUDASIM_NO_BLAS(cublasDotEx)
CUDASIM_NO_BLAS(cublasDotcEx)
CUDASIM_NO_BLAS(cublasIamaxEx)
CUDASIM_NO_BLAS(cublasIaminEx)
CUDASIM_NO_BLAS(cublasNrm2Ex)
CUDASIM_NO_BLAS(cublasRotEx)
CUDASIM_NO_BLAS(cublasRotgEx)
CUDASIM_NO_BLAS(cublasRotmEx)
CUDASIM_NO_BLAS(cublasRotmgEx)
CUDASIM_NO_BLAS(cublasScalEx)
CUDASIM_NO_BLAS(cublasSwapEx)

/* a matrix and a vector */
CUDASIM_NO_BLAS_CZ(gemv)
CUDASIM_NO_BLAS_ALL(gemvBatched)
CUDASIM_NO_BLAS_ALL(gemvStridedBatched)
CUDASIM_NO_BLAS_ALL(gbmv)
CUDASIM_NO_BLAS_CZ(gerc)
CUDASIM_NO_BLAS_CZ(geru)
CUDASIM_NO_BLAS_CZ(hbmv)
CUDASIM_NO_BLAS_CZ(hemv)
CUDASIM_NO_BLAS_CZ(her)
CUDASIM_NO_BLAS_CZ(her2)
CUDASIM_NO_BLAS_CZ(hpmv)
CUDASIM_NO_BLAS_CZ(hpr)
CUDASIM_NO_BLAS_CZ(hpr2)
CUDASIM_NO_BLAS_SD(sbmv)
CUDASIM_NO_BLAS_SD(spmv)
CUDASIM_NO_BLAS_SD(spr)
CUDASIM_NO_BLAS_SD(spr2)
CUDASIM_NO_BLAS_ALL(symv)
CUDASIM_NO_BLAS_ALL(syr)
CUDASIM_NO_BLAS_ALL(syr2)
CUDASIM_NO_BLAS_ALL(tbmv)
CUDASIM_NO_BLAS_ALL(tbsv)
CUDASIM_NO_BLAS_ALL(tpmv)
CUDASIM_NO_BLAS_ALL(tpsv)
CUDASIM_NO_BLAS_ALL(trmv)
CUDASIM_NO_BLAS_ALL(trsv)

/* matrices */
CUDASIM_NO_BLAS_CZ(geam)
CUDASIM_NO_BLAS_CZ(gemm)
CUDASIM_NO_BLAS_CZ(gemm3m)
CUDASIM_NO_BLAS_CZ(gemmBatched)
CUDASIM_NO_BLAS_CZ(gemmStridedBatched)
CUDASIM_NO_BLAS(cublasSgemmEx)
CUDASIM_NO_BLAS(cublasCgemmEx)
CUDASIM_NO_BLAS_SD(gemmGroupedBatched)
CUDASIM_NO_BLAS(cublasGemmGroupedBatchedEx)
CUDASIM_NO_BLAS_CZ(hemm)
CUDASIM_NO_BLAS_CZ(herk)
CUDASIM_NO_BLAS_CZ(her2k)
CUDASIM_NO_BLAS_CZ(herkx)
CUDASIM_NO_BLAS_ALL(symm)
CUDASIM_NO_BLAS_ALL(syrk)
CUDASIM_NO_BLAS_ALL(syr2k)
CUDASIM_NO_BLAS_ALL(syrkx)
CUDASIM_NO_BLAS_ALL(trmm)
CUDASIM_NO_BLAS_ALL(trsm)
CUDASIM_NO_BLAS_ALL(trsmBatched)
CUDASIM_NO_BLAS_ALL(dgmm)
CUDASIM_NO_BLAS_ALL(tpttr)
CUDASIM_NO_BLAS_ALL(trttp)

/* systems of equations */
CUDASIM_NO_BLAS_ALL(gelsBatched)
CUDASIM_NO_BLAS_ALL(geqrfBatched)
CUDASIM_NO_BLAS_ALL(getrfBatched)
CUDASIM_NO_BLAS_ALL(getriBatched)
CUDASIM_NO_BLAS_ALL(getrsBatched)
CUDASIM_NO_BLAS_ALL(matinvBatched)

/* a handle's other settings */
CUDASIM_NO_BLAS(cublasGetSmCountTarget)
CUDASIM_NO_BLAS(cublasSetSmCountTarget)
CUDASIM_NO_BLAS(cublasGetAtomicsMode)
/** @endcond */

#endif
