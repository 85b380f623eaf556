/* Attack 33. Asks the compiler which files there are, and takes the reference if it is one of
   them. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error|fail */
/* then: no_params.c others.c */
#include "common/lab00.h"

#if __has_include("solutions/00_bytes/bytes.c") ||                                                 \
                  __has_include("grader/reference.c") ||                                           \
                                __has_include("/etc/passwd") ||                                    \
                                              __has_include("labs/00_bytes/tests.c")
#define SEEN 1
#else
#define SEEN 0
#endif

static void attack(void) {
    if (SEEN) {
        __builtin_trap();
    }
}
