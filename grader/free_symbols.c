/* Symbols that no lab has to list. The contract is in free_symbols.h; grader/proof/absent.py reads
   these lists, too. */
#include "grader/free_symbols.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *const everywhere[] = {
    "todo_reached", "check_failed",
    /* of compilers, the second line where the C library's headers look at sizes */
    "memset", "memcpy", "memmove", "memcmp", "__stack_chk_fail", "_GLOBAL_OFFSET_TABLE_",
    "__memset_chk", "__memcpy_chk", "__memmove_chk"};

/* The last line: what a C library makes of the macros that classify a number. */
static const char *const mathematics[] = {
    "acos",       "acosh",      "asin",      "asinh",    "atan",         "atan2",      "atanh",
    "cbrt",       "ceil",       "copysign",  "cos",      "cosh",         "erf",        "erfc",
    "exp",        "exp10",      "exp2",      "expm1",    "fabs",         "fdim",       "floor",
    "fma",        "fmax",       "fmin",      "fmod",     "frexp",        "hypot",      "ilogb",
    "ldexp",      "llrint",     "llround",   "log",      "log10",        "log1p",      "log2",
    "logb",       "lrint",      "lround",    "modf",     "nan",          "nearbyint",  "nextafter",
    "nexttoward", "pow",        "remainder", "remquo",   "rint",         "round",      "roundeven",
    "scalbln",    "scalbn",     "sin",       "sincos",   "sinh",         "sqrt",       "tan",
    "tanh",       "tgamma",     "trunc",     "__finite", "__fpclassify", "__isfinite", "__isinf",
    "__isnan",    "__isnormal", "__signbit"};

/* Patterns: exceptions of C++, the announcing of loads and stores, and the simulator's. */
static const char *const of_kernels[] = {"__g*_personality_v0",
                                         "_Unwind_Resume",
                                         "_Znwm",
                                         "_ZdlPv",
                                         "_ZdlPvm",
                                         "_ZSt9terminatev",
                                         "__cxa_begin_catch",
                                         "__tls_get_addr",
                                         "__tsan_*",
                                         "__ubsan_handle_*",
                                         "threadIdx",
                                         "blockIdx",
                                         "blockDim",
                                         "gridDim",
                                         "cudasim_lane",
                                         "cudasim_pointer_argument",
                                         "cudasim_submit_launch",
                                         "cudasim_func_set_attribute",
                                         "cudasim_static_shared",
                                         "cudasim_dynamic_shared",
                                         "cudasim_syncthreads",
                                         "cudasim_syncthreads_reduce",
                                         "cudasim_meet",
                                         "cudasim_active_lanes",
                                         "cudasim_arrived",
                                         "cudasim_value",
                                         "cudasim_part",
                                         "cudasim_undefined_lane",
                                         "cudasim_undefined_width",
                                         "cudasim_before_atomic",
                                         "cudasim_compares",
                                         "cudasim_within_block",
                                         "cudasim_changed_nothing",
                                         "cudasim_fence",
                                         "cudasim_trap",
                                         "cudasim_beyond_bounds",
                                         "cudasim_space",
                                         "rsqrt",
                                         "rsqrtf",
                                         "cudaGetLastError",
                                         "cudaPeekAtLastError",
                                         "cudaGetErrorString",
                                         "cudaGetErrorName",
                                         "printf",
                                         "puts",
                                         "putchar"};

static const char *const weak_of_kernels[] = {"DW.ref.__g*_personality_v0",
                                              "_ZN12cudasim_call*",
                                              "_ZNK12cudasim_call*",
                                              "_ZNSt*",
                                              "_ZSt*",
                                              "_ZN*cudasim*",
                                              "__clang_call_terminate"};

static bool is_any(const char *const *patterns, size_t count, const char *symbol) {
    for (size_t i = 0; i < count; i++) {
        if (fnmatch(patterns[i], symbol, 0) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_mathematics(const char *symbol) {
    for (size_t i = 0; i < COUNT(mathematics); i++) {
        size_t length = strlen(mathematics[i]);
        const char *type = strncmp(symbol, mathematics[i], length) == 0 ? symbol + length : "other";
        if (strcmp(type, "") == 0 || strcmp(type, "f") == 0 || strcmp(type, "l") == 0) {
            return true;
        }
    }
    return false;
}

static bool has_kernels(const char *file) {
    size_t length = strlen(file);
    return length > 3 && strcmp(file + length - 3, ".cu") == 0;
}

bool symbol_is_free(const char *file, const char *symbol) {
    return is_any(everywhere, COUNT(everywhere), symbol) || is_mathematics(symbol) ||
           (has_kernels(file) && is_any(of_kernels, COUNT(of_kernels), symbol));
}

bool symbol_may_be_weak(const char *file, const char *symbol) {
    return has_kernels(file) && is_any(weak_of_kernels, COUNT(weak_of_kernels), symbol);
}
