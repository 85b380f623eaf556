/* Of grader/labs/04_checkpoint/terms.json, by tools/term_values.py headers. */
/* clang-format off */
#ifndef GRADER_LABS_04_CHECKPOINT_TERM_H
#define GRADER_LABS_04_CHECKPOINT_TERM_H

#include "grader/terms.h"

/** Of segments that run as many blocks again, the one to choose (task 5). */
#define TERM_TIE_IS TIE_FEWER_BYTES
#define TERM_TIE_EACH \
    {TIE_FEWER_BYTES, TIE_SMALLER, TIE_LARGER}
#define TERM_TIE \
    ((Term){.now = 0, .count = 3, .says = { \
        "of equals the one with fewer bytes", \
        "of equals the smaller one", \
        "of equals the larger one"}})

#endif
