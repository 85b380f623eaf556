/**
 * @file cublasLt.h
 * @brief Stands in for NVIDIA's header, to say that it is not simulated.
 * @ingroup cudasim
 */
#error "cudasim: unsupported: cuBLASLt; use cublasGemmEx of cublas_v2.h"
