/* Of grader/labs/05_fp16/terms.json, by tools/term_values.py headers. */
/* clang-format off */
#ifndef GRADER_LABS_05_FP16_TERM_H
#define GRADER_LABS_05_FP16_TERM_H

#include "grader/terms.h"

/** Good steps until the loss scale grows (task 3). */
#define TERM_INTERVAL_IS 2000
#define TERM_INTERVAL_EACH \
    {2000, 1000, 1500, 2500, 3000, 1200}
#define TERM_INTERVAL \
    ((Term){.now = 0, .count = 6, .says = { \
        "interval 2000", \
        "interval 1000", \
        "interval 1500", \
        "interval 2500", \
        "interval 3000", \
        "interval 1200"}})

#endif
