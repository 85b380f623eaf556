/* Of grader/labs/02_kernels/terms.json, by tools/term_values.py headers. */
/* clang-format off */
#ifndef GRADER_LABS_02_KERNELS_TERM_H
#define GRADER_LABS_02_KERNELS_TERM_H

#include "grader/terms.h"

/** How the partial sums of dweight and dbias lie (task 7). */
#define TERM_LAYOUT_IS {0, 0}
#define TERM_LAYOUT_EACH \
    {{0, 0}, {0, 1}, {1, 0}, {1, 1}}
#define TERM_LAYOUT \
    ((Term){.now = 0, .count = 4, .says = { \
        "(LAYERNORM_BLOCKS, 2, C), dweight first", \
        "(LAYERNORM_BLOCKS, 2, C), dbias first", \
        "(2, LAYERNORM_BLOCKS, C), dweight first", \
        "(2, LAYERNORM_BLOCKS, C), dbias first"}})

#endif
