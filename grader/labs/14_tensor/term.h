/* Of grader/labs/14_tensor/terms.json, by tools/term_values.py headers. */
/* clang-format off */
#ifndef GRADER_LABS_14_TENSOR_TERM_H
#define GRADER_LABS_14_TENSOR_TERM_H

#include "grader/terms.h"

/** The ranks that have a row of the embedding more than others (task 1). */
#define TERM_ROWS_IS ROWS_FIRST
#define TERM_ROWS_EACH \
    {ROWS_FIRST, ROWS_LAST, ROWS_SPREAD}
#define TERM_ROWS \
    ((Term){.now = 0, .count = 3, .says = { \
        "the larger ranges first", \
        "the larger ranges last", \
        "that of rank r begins at r V / R, rounded down"}})

#endif
