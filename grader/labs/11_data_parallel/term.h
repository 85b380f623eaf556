/* Of grader/labs/11_data_parallel/terms.json, by tools/term_values.py headers. */
/* clang-format off */
#ifndef GRADER_LABS_11_DATA_PARALLEL_TERM_H
#define GRADER_LABS_11_DATA_PARALLEL_TERM_H

#include "grader/terms.h"

/** Which ranks a sum of the ring begins with, and which way it goes (task 1). */
#define TERM_RING_IS {0, 1}
#define TERM_RING_EACH \
    {{0, 1}, {1, 1}, {2, 1}, {0, -1}, {1, -1}, {2, -1}}
#define TERM_RING \
    ((Term){.now = 0, .count = 6, .says = { \
        "the sum of chunk c begins with rank c and goes up", \
        "the sum of chunk c begins with rank c + 1 and goes up", \
        "the sum of chunk c begins with rank c + 2 and goes up", \
        "the sum of chunk c begins with rank c and goes down", \
        "the sum of chunk c begins with rank c + 1 and goes down", \
        "the sum of chunk c begins with rank c + 2 and goes down"}})

#endif
