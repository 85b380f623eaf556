/**
 * @file curand_kernel.h
 * @brief Stands in for NVIDIA's header, to say that it is not simulated.
 * @ingroup cudasim
 */
#error "cudasim: unsupported: cuRAND; use a counter-based generator such as kernels/philox.h"
