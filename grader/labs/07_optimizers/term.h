/* Of grader/labs/07_optimizers/terms.json, by tools/term_values.py headers. */
/* clang-format off */
#ifndef GRADER_LABS_07_OPTIMIZERS_TERM_H
#define GRADER_LABS_07_OPTIMIZERS_TERM_H

#include "grader/terms.h"

/** The point of a part that is a value of the codebook (task 1). */
#define TERM_POINT_IS 0.5
#define TERM_POINT_EACH \
    {0.5, 0.25, 0.75, 0.375, 0.625}
#define TERM_POINT \
    ((Term){.now = 0, .count = 5, .says = { \
        "the middle of part j", \
        "the point at 1/4 of part j", \
        "the point at 3/4 of part j", \
        "the point at 3/8 of part j", \
        "the point at 5/8 of part j"}})

#endif
