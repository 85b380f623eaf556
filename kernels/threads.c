/* How the threads of CPU ops wait, share out work, and get scratch memory. The contract is in
   threads.h. */
#define _GNU_SOURCE
#include "kernels/threads.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int thread_count(void) {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

/* ---- threads that wait soon sleep (threads.h) ------------------------------------------------ */

#if defined _OPENMP && defined __GLIBC__ && defined __ELF__

/* libgomp reads the environment in its constructor, which runs before every constructor of the
   program. Only .preinit_array is earlier, and there the C library is not ready: what setenv() sets
   is lost. But the list of variables that the kernel left on the stack is the one that the library
   will take. It has no room for one more, so PATH gives up its place until libgomp has read. */
static char spin[] = "GOMP_SPINCOUNT=1000";
static char *path;

/* A sanitizer is not ready either. */
__attribute__((no_sanitize("address", "undefined", "thread"))) static bool
sets(const char *variable, const char *name) {
    while (*name != '\0' && *variable == *name) {
        variable++;
        name++;
    }
    return *name == '\0' && *variable == '=';
}

__attribute__((no_sanitize("address", "undefined", "thread"))) static void
wait_passively(int argc, char **argv, char **variables) {
    (void)argc;
    (void)argv;
    char **place = NULL;
    for (; *variables != NULL; variables++) {
        if (sets(*variables, "OMP_WAIT_POLICY") || sets(*variables, "GOMP_SPINCOUNT")) {
            return;
        }
        if (sets(*variables, "PATH")) {
            place = variables;
        }
    }
    if (place != NULL) {
        path = *place;
        *place = spin;
    }
}

typedef void Entry(int argc, char **argv, char **variables);
__attribute__((section(".preinit_array"), used)) static Entry *const entry = wait_passively;

/* PATH is back before main(). clang's libomp reads only now, and it knows the policy alone. What
   this program starts inherits both. */
__attribute__((constructor)) static void return_place(void) {
    for (char **variable = environ; path != NULL && *variable != NULL; variable++) {
        if (*variable == spin) {
            *variable = path;
            setenv("GOMP_SPINCOUNT", strchr(spin, '=') + 1, 1);
            setenv("OMP_WAIT_POLICY", "passive", 1);
            return;
        }
    }
}

#endif
