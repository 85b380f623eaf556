/* Attack 33. Asks the compiler for sources of the kit, the judge and the plan, by their names. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: fail */
/* then: no_params.c others.c */
#include "labs/00_bytes/contract.h"

#if __has_include("common/params.c")
#define SEEN
#endif
#if __has_include("kernels/adamw.c")
#define SEEN
#endif
#if __has_include("kernels/adamw.cu")
#define SEEN
#endif
#if __has_include("common/testkit/reference.h")
#define SEEN
#endif
#if __has_include("cudasim/sim.h")
#define SEEN
#endif
#if __has_include("grader/check.h")
#define SEEN
#endif
#if __has_include("grader/labs/00_bytes/answers.h")
#define SEEN
#endif
#if __has_include("grader/labs/00_bytes/answers.c")
#define SEEN
#endif
#if __has_include("labs/00_bytes/tests.c")
#define SEEN
#endif
#if __has_include("labs/00_bytes/lab.json")
#define SEEN
#endif
#if __has_include("labs/00_bytes/README.md")
#define SEEN
#endif
#if __has_include("solutions/00_bytes/bytes.c")
#define SEEN
#endif
#if __has_include("solutions/06_fit/plan.c")
#define SEEN
#endif
#if __has_include("build/judge/00_bytes")
#define SEEN
#endif
#if __has_include("build/headers/.sum")
#define SEEN
#endif
#if __has_include("Makefile")
#define SEEN
#endif
#if __has_include("../probe")
#define SEEN
#endif

static void attack(void) {
#ifdef SEEN
    __builtin_trap();
#endif
}
