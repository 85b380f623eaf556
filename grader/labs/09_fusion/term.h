/* Of grader/labs/09_fusion/terms.json, by tools/term_values.py headers. */
/* clang-format off */
#ifndef GRADER_LABS_09_FUSION_TERM_H
#define GRADER_LABS_09_FUSION_TERM_H

#include "grader/terms.h"

/** Up to what the rows of a chunk of logits are rounded (task 3). */
#define TERM_CHUNK_IS {1, 2, 0}
#define TERM_CHUNK_EACH \
    {{1, 2, 0}, {8, 1, 8}, {16, 1, 16}, {4, 1, 4}}
#define TERM_CHUNK \
    ((Term){.now = 0, .count = 4, .says = { \
        "the next power of two", \
        "the next multiple of 8", \
        "the next multiple of 16", \
        "the next multiple of 4"}})

#endif
