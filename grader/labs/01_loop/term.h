/* Of grader/labs/01_loop/terms.json, by tools/term_values.py headers. */
/* clang-format off */
#ifndef GRADER_LABS_01_LOOP_TERM_H
#define GRADER_LABS_01_LOOP_TERM_H

#include "grader/terms.h"

/** The loss that is reported of a batch without valid targets (task 1). */
#define TERM_LOSS_IS 0
#define TERM_LOSS_EACH \
    {0, -1, -2, -100}
#define TERM_LOSS \
    ((Term){.now = 0, .count = 4, .says = { \
        "loss 0 where there are no targets", \
        "loss -1 where there are no targets", \
        "loss -2 where there are no targets", \
        "loss -100 where there are no targets"}})

#endif
