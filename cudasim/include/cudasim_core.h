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
/** Variables, not macros: so a debugger's `print threadIdx` works. Of the program itself, never of
   a shared library: without a table between, with which gcc writes code that ld cannot link. */
#define CUDASIM_OF_THREAD extern __attribute__((tls_model("local-exec"))) __thread
#ifdef __cplusplus
#define CUDASIM_READ_ONLY const
#else
/** A program may only read them. The simulator, which is C, sets them. */
#define CUDASIM_READ_ONLY
#endif
CUDASIM_OF_THREAD CUDASIM_READ_ONLY uint3 threadIdx; /**< the thread's place in its block */
CUDASIM_OF_THREAD CUDASIM_READ_ONLY uint3 blockIdx;  /**< the block's place in the grid */
CUDASIM_OF_THREAD CUDASIM_READ_ONLY dim3 blockDim;   /**< threads of a block */
CUDASIM_OF_THREAD CUDASIM_READ_ONLY dim3 gridDim;    /**< blocks of the grid */
CUDASIM_OF_THREAD int cudasim_lane;                  /**< the thread's place in its warp */
#endif

struct cudasim_launch_site;

/** The parameters of a kernel. */
typedef struct cudasim_kernel_type {
    int count; /**< of its parameters */
    /** Tells where the arguments of a launch lie: count addresses. */
    void (*locate)(void *arguments, void **values);
    /** Launches with arguments that lie at these addresses. */
    cudaError_t (*launch)(const struct cudasim_launch_site *site, void **values);
} cudasim_kernel_type;

/** One launch, as it was written. */
typedef struct cudasim_launch_site {
    const char *file;                /**< where <<< >>> stands */
    int line;                        /**< where <<< >>> stands */
    const char *name;                /**< the kernel as written */
    const void *kernel;              /**< its address; NULL where several have the name */
    dim3 grid;                       /**< blocks */
    dim3 block;                      /**< threads of a block */
    size_t shared;                   /**< bytes of dynamic shared memory */
    cudaStream_t stream;             /**< queue */
    bool cooperative;                /**< all blocks are resident at once */
    const cudasim_kernel_type *type; /**< its parameters; NULL where several have the name */
} cudasim_launch_site;

/** How many threads a kernel's block may have: one static record for each, in `make cu`. */
typedef struct cudasim_bound {
    const char *in;     /**< an address in the kernel, at its beginning */
    unsigned long most; /**< its `__launch_bounds__`; 0: it has none */
} cudasim_bound;

/** A `__shared__` variable: one static record for each. */
typedef struct cudasim_shared_variable {
    const char *name; /**< as declared */
    const char *file; /**< where */
    int line;         /**< where */
    size_t size;      /**< bytes */
    size_t align;     /**< bytes */
    int id;           /**< 1, 2, ... given at first use; 0 before */
} cudasim_shared_variable;

/** A `__device__` or `__constant__` variable: one static record for each, made by cu2cpp. */
typedef struct cudasim_variable {
    void *begin;      /**< where it lies: of the device whose work runs */
    size_t bytes;     /**< length */
    const char *name; /**< as declared */
} cudasim_variable;

/** A variable of the host, outside of functions: likewise. A kernel may not name it. */
typedef struct cudasim_host_variable {
    void *begin;      /**< where it lies */
    size_t bytes;     /**< length */
    const char *name; /**< as declared */
} cudasim_host_variable;

/** An `extern __shared__` array that is declared outside of functions. */
typedef struct cudasim_shared_array {
    const char *name; /**< as declared */
    const char *file; /**< where */
    int line;         /**< where */
} cudasim_shared_array;

/** Where the lanes of a warp that a mask names come together, each with a value. */
typedef struct cudasim_meeting {
    unsigned mask;                /**< lanes that must come; 0: not in use */
    unsigned arrived;             /**< lanes that have */
    int operation;                /**< enum cudasim_warp_operation */
    int inside;                   /**< lanes that have not left; -1 before all have come */
    unsigned long long value[32]; /**< what each lane brought */
    const char *file;             /**< where the first came from */
    int line;                     /**< where the first came from */
} cudasim_meeting;

/** @cond */
enum cudasim_warp_operation {
    CUDASIM_SYNCWARP,
    CUDASIM_SHFL,
    CUDASIM_SHFL_XOR,
    CUDASIM_SHFL_DOWN,
    CUDASIM_SHFL_UP,
    CUDASIM_BALLOT,
    CUDASIM_REDUCE,
    CUDASIM_MATCH,
    CUDASIM_LOAD_MATRIX,
    CUDASIM_STORE_MATRIX,
    CUDASIM_MMA,
    CUDASIM_PTX_MMA,
    CUDASIM_LDMATRIX
};

enum cudasim_ptx_type {
    CUDASIM_PTX_F16,
    CUDASIM_PTX_BF16,
    CUDASIM_PTX_TF32,
    CUDASIM_PTX_S8,
    CUDASIM_PTX_U8,
    CUDASIM_PTX_F32,
    CUDASIM_PTX_S32
};

/* mma.sync of a lane: d = a b + c, of matrices of 16 x k, k x 8 and 16 x 8. */
typedef struct cudasim_ptx_product {
    int k;
    int a_type, b_type, sum_type; /* enum cudasim_ptx_type; c and d have one type */
    int clamp;                    /* .satfinite */
    unsigned *d;                  /* registers */
    const unsigned *a, *b, *c;
} cudasim_ptx_product;

CUDASIM_SIDES_BEGIN
int cudasim_pointer_argument(const cudasim_launch_site *site, int number, const volatile void *p);
cudaError_t cudasim_submit_launch(const cudasim_launch_site *site, void (*thread)(void *),
                                  void *arguments, size_t bytes, void (*release)(void *));
void *cudasim_know_kernel(const char *name, const void *kernel, const cudasim_kernel_type *type);
void *cudasim_static_shared(cudasim_shared_variable *variable);
#ifdef __cplusplus
#define CUDASIM_IN_FUNCTION const char *function = __builtin_FUNCTION()
#else
#define CUDASIM_IN_FUNCTION const char *function
#endif
void *cudasim_dynamic_shared(const char *name, const char *file, int line, CUDASIM_IN_FUNCTION);
void *cudasim_file_shared(cudasim_shared_variable *variable);
void *cudasim_file_dynamic(const cudasim_shared_array *array, CUDASIM_IN_FUNCTION);
void cudasim_syncthreads(const char *file, int line);
int cudasim_syncthreads_reduce(int operation, int predicate, const char *file, int line);
cudasim_meeting *cudasim_meet(int operation, unsigned mask, unsigned long long value,
                              const char *file, int line);
cudasim_meeting *cudasim_meet_warp(int operation, unsigned long long value, const char *file,
                                   int line);
void cudasim_meet_matrix(int operation, const void *p, unsigned ld, size_t size, unsigned least,
                         const char *file, int line);
void cudasim_unset_fragment(int operation, const char *use, const char *file, int line);
void cudasim_ptx_multiply(const cudasim_ptx_product *product, const char *file, int line);
void cudasim_ptx_load_matrices(int count, int transposed, unsigned *to, unsigned long long address,
                               const char *file, int line);
void cudasim_undefined_lane(const cudasim_meeting *meeting, int lane, const char *file, int line);
void cudasim_undefined_width(int operation, int width, const char *file, int line);
void cudasim_undefined_rank(unsigned rank, unsigned threads, const char *file, int line);
size_t cudasim_shared_offset(const void *p, const char *file, int line);
void *cudasim_shared_pointer(size_t offset, const char *file, int line);
enum { CUDASIM_GLOBAL, CUDASIM_SHARED, CUDASIM_CONSTANT, CUDASIM_LOCAL };
int cudasim_space(const void *p, const char *file, int line);
unsigned cudasim_multiprocessors(void);
void cudasim_xorwow_skip(unsigned v[5], unsigned long long n, int log2_unit);
void cudasim_copy_async(void *to, const void *from, size_t bytes, size_t zeros, const char *file,
                        int line);
void cudasim_copy_piece(void *to, const void *from, size_t bytes, size_t zeros, const char *file,
                        int line);
int cudasim_copy_is_async(const void *to, const void *from, const char *file, int line);
void cudasim_copy_commit(const char *file, int line);
void cudasim_copy_wait(unsigned but, const char *file, int line);
void cudasim_before_access(const volatile void *p, size_t bytes, int write, const char *file,
                           int line);
void cudasim_before_load(const volatile void *p, size_t bytes, const char *file, int line);
void cudasim_before_atomic(const volatile void *p, size_t bytes, const char *file, int line);
void cudasim_compares(const volatile void *p);
void cudasim_within_block(const volatile void *p);
void cudasim_changed_nothing(void);
void cudasim_fence(int of_block);
unsigned cudasim_active_lanes(const char *file, int line);
int cudasim_grid_is_cooperative(void);
void cudasim_sync_grid(const char *file, int line);
long long cudasim_clock(void);
void cudasim_trap(const char *file, int line);
void cudasim_beyond_bounds(unsigned most);
void cudasim_called_plainly(const char *kernel, const void *caller);
CUDASIM_SIDES_END
void *cudasim_in_malloc(size_t bytes);
void *cudasim_in_calloc(size_t count, size_t bytes);
void *cudasim_in_realloc(void *p, size_t bytes);
void cudasim_in_free(void *p);
int cudasim_in_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
int cudasim_in_puts(const char *line);
int cudasim_in_putchar(int c);
void cudasim_in___assert_fail(const char *condition, const char *file, unsigned line,
                              const char *function);
long cudasim_in_clock(void);
void cudasim_in_exit(int status) __attribute__((noreturn));
void cudasim_in_abort(void) __attribute__((noreturn));
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
