/* Of grader/labs/08_prefetch/terms.json, by tools/term_values.py headers. */
/* clang-format off */
#ifndef GRADER_LABS_08_PREFETCH_TERM_H
#define GRADER_LABS_08_PREFETCH_TERM_H

#include "grader/terms.h"

/** The products that are to hide the copy of an input (task 5). */
#define TERM_HIDES_IS 1
#define TERM_HIDES_EACH \
    {1, 2, 3}
#define TERM_HIDES \
    ((Term){.now = 0, .count = 3, .says = { \
        "its segment's forward", \
        "its segment's backward alone", \
        "its segment's second run and backward"}})

#endif
