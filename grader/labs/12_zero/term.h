/* Of grader/labs/12_zero/terms.json, by tools/term_values.py headers. */
/* clang-format off */
#ifndef GRADER_LABS_12_ZERO_TERM_H
#define GRADER_LABS_12_ZERO_TERM_H

#include "grader/terms.h"

/** The multiple to which the numbers of a part are rounded up (task 1). */
#define TERM_PART_IS 1
#define TERM_PART_EACH \
    {1, 2, 3, 4}
#define TERM_PART \
    ((Term){.now = 0, .count = 4, .says = { \
        "parts of whole blocks", \
        "parts of 2 blocks, or a multiple", \
        "parts of 3 blocks, or a multiple", \
        "parts of 4 blocks, or a multiple"}})

#endif
