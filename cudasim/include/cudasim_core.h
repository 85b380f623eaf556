/**
 * @file cudasim_core.h
 * @brief What cudasim_kernel.h, in C++, and the simulator, in C, say to each other.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CORE_H
#define CUDASIM_CORE_H

#include <stdbool.h>

#include "cuda_runtime.h"
#include "cudasim.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef CUDASIM_LINT
/* Variables, not macros: so a debugger's `print threadIdx` works. */
extern __thread uint3 threadIdx;  /**< the thread's place in its block */
extern __thread uint3 blockIdx;   /**< the block's place in the grid */
extern __thread dim3 blockDim;    /**< threads of a block */
extern __thread dim3 gridDim;     /**< blocks of the grid */
extern __thread int cudasim_lane; /**< the thread's place in its warp */
#endif

/** One launch, as it was written. */
typedef struct cudasim_launch_site {
    const char *file;    /**< where <<< >>> stands */
    int line;            /**< where <<< >>> stands */
    const char *name;    /**< the kernel as written */
    const void *kernel;  /**< its address; NULL where several have the name */
    dim3 grid;           /**< blocks */
    dim3 block;          /**< threads of a block */
    size_t shared;       /**< bytes of dynamic shared memory */
    cudaStream_t stream; /**< queue */
    bool cooperative;    /**< all blocks are resident at once */
} cudasim_launch_site;

/** A `__shared__` variable: one static record for each. */
typedef struct cudasim_shared_variable {
    const char *name; /**< as declared */
    const char *file; /**< where */
    int line;         /**< where */
    size_t size;      /**< bytes */
    size_t align;     /**< bytes */
    int id;           /**< 1, 2, ... given at first use; 0 before */
} cudasim_shared_variable;

/** The values that the lanes of a warp exchange in one operation. */
typedef struct cudasim_meeting cudasim_meeting;

/** @cond */
int cudasim_pointer_argument(const cudasim_launch_site *site, int number, const volatile void *p);
void cudasim_submit_launch(const cudasim_launch_site *site, void (*thread)(void *), void *arguments,
                           void (*release)(void *));
void *cudasim_static_shared(cudasim_shared_variable *variable);
#ifdef __cplusplus
#define CUDASIM_IN_FUNCTION const char *function = __builtin_FUNCTION()
#else
#define CUDASIM_IN_FUNCTION const char *function
#endif
void *cudasim_dynamic_shared(const char *name, const char *file, int line, CUDASIM_IN_FUNCTION);
void cudasim_syncthreads(const char *file, int line);
int cudasim_syncthreads_reduce(int operation, int predicate, const char *file, int line);
cudasim_meeting *cudasim_meet(int operation, unsigned mask, unsigned long long value,
                              const char *file, int line);
unsigned cudasim_arrived(const cudasim_meeting *meeting);
unsigned long long cudasim_value(const cudasim_meeting *meeting, int lane);
void cudasim_part(cudasim_meeting *meeting);
void cudasim_undefined_lane(const cudasim_meeting *meeting, int lane, const char *file, int line);
void cudasim_undefined_width(int operation, int width, const char *file, int line);
void cudasim_before_atomic(const volatile void *p, size_t bytes, const char *file, int line);
void cudasim_compares(const volatile void *p);
void cudasim_changed_nothing(void);
void cudasim_fence(void);
unsigned cudasim_active_lanes(const char *file, int line);
int cudasim_grid_is_cooperative(void);
void cudasim_sync_grid(const char *file, int line);
long long cudasim_clock(void);
void cudasim_trap(const char *file, int line);
void *cudasim_in_malloc(size_t bytes);
void cudasim_in_free(void *p);
void cudasim_in___assert_fail(const char *condition, const char *file, unsigned line,
                              const char *function);
void *cudasim_in__Znwm(size_t bytes);
void *cudasim_in__Znam(size_t bytes);
void cudasim_in__ZdlPv(void *p);
void cudasim_in__ZdaPv(void *p);
void cudasim_in__ZdlPvm(void *p, size_t bytes);
void cudasim_in__ZdaPvm(void *p, size_t bytes);
/** @endcond */

#ifdef __cplusplus
}
#endif

#endif
