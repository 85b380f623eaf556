/**
 * @file cuda_pipeline.h
 * @brief Stands in for NVIDIA's header, to say that it is not simulated.
 * @ingroup cudasim
 */
#error "cudasim: unsupported: asynchronous copies to shared memory; load, store and __syncthreads()"
