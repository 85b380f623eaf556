/* Of grader/labs/10_lora/terms.json, by tools/term_values.py headers. */
/* clang-format off */
#ifndef GRADER_LABS_10_LORA_TERM_H
#define GRADER_LABS_10_LORA_TERM_H

#include "grader/terms.h"

/** How wide the start of A is (task 1). */
#define TERM_BOUND_IS 1.0
#define TERM_BOUND_EACH \
    {1.0, 2.0, 3.0, 4.0, 5.0}
#define TERM_BOUND \
    ((Term){.now = 0, .count = 5, .says = { \
        "b = 1 / sqrt(IC)", \
        "b = 2 / sqrt(IC)", \
        "b = 3 / sqrt(IC)", \
        "b = 4 / sqrt(IC)", \
        "b = 5 / sqrt(IC)"}})

#endif
