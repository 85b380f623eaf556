/**
 * @file mma.h
 * @brief Stands in for NVIDIA's header, to say that it is not simulated.
 * @ingroup cudasim
 */
#error "cudasim: unsupported: tensor cores (mma.h, wmma); use cuBLAS, or sum products in float"
