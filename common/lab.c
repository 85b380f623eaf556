#include "common/lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For each hole: an object that stands in for it defines absent_<file>. */
#define EACH_HOLE(X)                                                                               \
    X(bytes, "00_bytes/bytes.c")                                                                   \
    X(loop, "01_loop/loop.c")                                                                      \
    X(adamw, "02_kernels/adamw.cu")                                                                \
    X(crossentropy, "02_kernels/crossentropy.cu")                                                  \
    X(layernorm, "02_kernels/layernorm.cu")                                                        \
    X(sumsq, "02_kernels/sumsq.cu")                                                                \
    X(accumulate, "03_accumulate/accumulate.c")                                                    \
    X(checkpoint, "04_checkpoint/checkpoint.c")                                                    \
    X(cast, "05_fp16/cast.cu")                                                                     \
    X(unscale, "05_fp16/unscale.cu")                                                               \
    X(scaler, "05_fp16/scaler.c")                                                                  \
    X(mixed, "05_fp16/mixed.c")                                                                    \
    X(plan, "06_fit/plan.c")

#define DECLARE(name, file) extern const char absent_##name __attribute__((weak));
EACH_HOLE(DECLARE)

void todo_reached(const char *file, int line, const char *task) {
    fflush(stdout);
    fprintf(stderr, "%s:%d: TODO: %s\n", file, line, task);
    exit(EXIT_TODO);
}

void lab_missing(const char *lab, const char *file) {
    fflush(stdout);
    fprintf(stderr, "needs lab %s (%s is not here)\n", lab, file);
    exit(EXIT_USAGE);
}

void lab_need(const char *lab, bool gpu) {
#define ROW(name, file) {&absent_##name, file},
    const struct { const char *absent, *file; } holes[] = {EACH_HOLE(ROW)};
    for (size_t i = 0; i < sizeof holes / sizeof *holes; i++) {
        bool cu = strstr(holes[i].file, ".cu") != NULL;
        if (holes[i].absent != NULL && strncmp(holes[i].file, lab, 2) == 0 && (gpu || !cu)) {
            lab_missing(lab, holes[i].file);
        }
    }
}
