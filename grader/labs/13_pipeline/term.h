/* Of grader/labs/13_pipeline/terms.json, by tools/term_values.py headers. */
/* clang-format off */
#ifndef GRADER_LABS_13_PIPELINE_TERM_H
#define GRADER_LABS_13_PIPELINE_TERM_H

#include "grader/terms.h"

/** How s L / p, the first block of a stage, is rounded (task 1). */
#define TERM_CUT_IS plan_cut_down
#define TERM_CUT_EACH \
    {plan_cut_down, plan_cut_up, plan_cut_near}
#define TERM_CUT \
    ((Term){.now = 0, .count = 3, .says = { \
        "s L / p rounded down", \
        "s L / p rounded up", \
        "s L / p rounded to the nearest, halves up"}})

#endif
