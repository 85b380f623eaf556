/**
 * @file cooperative_groups.h
 * @brief Stands in for NVIDIA's header, to say that it is not simulated.
 * @ingroup cudasim
 */
#error "cudasim: unsupported: cooperative groups; use __syncthreads() and __shfl_sync()"
