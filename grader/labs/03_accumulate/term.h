/* Of grader/labs/03_accumulate/terms.json, by tools/term_values.py headers. */
/* clang-format off */
#ifndef GRADER_LABS_03_ACCUMULATE_TERM_H
#define GRADER_LABS_03_ACCUMULATE_TERM_H

#include "grader/terms.h"

/** The meaning of accumulator->micro (task 2). */
#define TERM_MICRO_IS MICRO_DONE
#define TERM_MICRO_EACH \
    {MICRO_DONE, MICRO_TO_COME, MICRO_NEXT}
#define TERM_MICRO \
    ((Term){.now = 0, .count = 3, .says = { \
        "micro: those that are done", \
        "micro: those still to come", \
        "micro: the number of the next one, from 1 on"}})

#endif
