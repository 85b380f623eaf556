/* Symbols that no lab has to list: whole names, and in a .cu more than in a .c. */
#include "grader/free_symbols.h"

#include <criterion/criterion.h>

static void is_free(const char *file, const char *const symbols[], bool wanted) {
    for (int i = 0; symbols[i] != NULL; i++) {
        cr_expect_eq(symbol_is_free(file, symbols[i]), wanted, "%s in %s", symbols[i], file);
    }
}

Test(free_symbols, mathematics_of_each_type) {
    static const char *const right[] = {"exp",      "expf",  "expl",    "log2f",
                                        "lroundf",  "round", "sincosf", "atan2l",
                                        "__isnanf", "nan",   "fmaf",    NULL};
    static const char *const wrong[] = {
        "login",  "expfl", "explicit_bzero", "powers",     "fminx", "lgamma", "lgammaf", "signgam",
        "random", "f",     "nanosleep",      "fesetround", "",      NULL};
    is_free("a.c", right, true);
    is_free("a.cu", right, true);
    is_free("a.c", wrong, false);
    is_free("a.cu", wrong, false);
}

Test(free_symbols, what_compilers_call) {
    static const char *const right[] = {"memset",       "memcpy",           "memmove",
                                        "memcmp",       "__stack_chk_fail", "__memcpy_chk",
                                        "todo_reached", "check_failed",     NULL};
    static const char *const wrong[] = {"memchr", "memcpyx", "memory_alloc", "malloc", NULL};
    is_free("a.c", right, true);
    is_free("a.c", wrong, false);
}

Test(free_symbols, kernels_stand_in_a_cu) {
    static const char *const kernels[] = {"threadIdx",
                                          "cudasim_submit_launch",
                                          "printf",
                                          "__tsan_read4",
                                          "__gxx_personality_v0",
                                          "cudaGetErrorName",
                                          NULL};
    static const char *const neither[] = {"cudasim_malloc", "cudasim_lane_of", "fopen", NULL};
    is_free("a.cu", kernels, true);
    is_free("code.c", kernels, false);
    is_free(".cu", kernels, false);
    is_free("a.cu.c", kernels, false);
    is_free("a.cu", neither, false);
}

Test(free_symbols, templates_are_weak_in_a_cu) {
    cr_expect(symbol_may_be_weak("a.cu", "_ZNSt3oneE"));
    cr_expect_not(symbol_may_be_weak("code.c", "_ZNSt3oneE"));
    cr_expect_not(symbol_may_be_weak("a.cu", "model_forward"));
}
