/**
 * @file cuda_pipeline_primitives.h
 * @brief Copies to shared memory that go on beside the kernel.
 * @ingroup cudasim
 *
 * A thread begins copies of 4, 8 or 16 bytes, binds those begun so far into a batch, and waits for
 * all batches but the last few. Only then are its bytes there, here as in the worst case on a GPU;
 * for the other threads' a barrier comes after the wait.
 */
#ifndef CUDASIM_CUDA_PIPELINE_PRIMITIVES_H
#define CUDASIM_CUDA_PIPELINE_PRIMITIVES_H

#ifdef CUDASIM_SEALED_H
#error "cudasim: unsupported: asynchronous copies in a graded file; load, store and __syncthreads()"
#endif

#include "cuda_runtime.h"

CUDASIM_SIDES_BEGIN
/** Begins a copy of `bytes`, 4, 8 or 16, of which the last `zeros` become 0 and are not read. */
CUDASIM_DEVICE void __pipeline_memcpy_async(void *to, const void *from, size_t bytes,
                                            size_t zeros = 0, CUDASIM_CALLER) {
    cudasim_copy_async(to, from, bytes, zeros, file, line);
}

/** The copies that the thread has begun since the last commit are a batch. */
CUDASIM_DEVICE void __pipeline_commit(CUDASIM_CALLER) {
    cudasim_copy_commit(file, line);
}

/** Waits for the thread's batches but the last `but`, of at most 8. */
CUDASIM_DEVICE void __pipeline_wait_prior(size_t but, CUDASIM_CALLER) {
    cudasim_copy_wait(but < 8 ? (unsigned)but : 8, file, line);
}

/** @cond */
template <class Type>
CUDASIM_NO("copies that arrive at a barrier; use __pipeline_wait_prior()")
void __pipeline_arrive_on(Type *barrier);
/** @endcond */
CUDASIM_SIDES_END

#endif
