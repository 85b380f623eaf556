/**
 * @file probe_holes.h
 * @brief In a probe: a hole of a later task ends the call, and not the program.
 * @ingroup grader
 *
 * An op may have several holes, one after the other. What stands before one of them can be graded
 * without it:
 *
 *     later_task = 4;
 *     if (setjmp(at_hole) == 0) {
 *         ... the op ...
 *     }
 *
 * To be included by one file of a probe: it defines what is linked instead of the kit's own.
 */
#ifndef GRADER_PROBE_HOLES_H
#define GRADER_PROBE_HOLES_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/lab.h"

static jmp_buf at_hole; /**< where a call ends */
static int later_task;  /**< the first task that ends one; 0 for none */

void todo_reached(const char *file, int line, const char *task) {
    int number;
    if (later_task > 0 && sscanf(task, "task %d", &number) == 1 && number >= later_task) {
        longjmp(at_hole, 1);
    }
    fflush(stdout);
    fprintf(stderr, "%s:%d: TODO: %s\n", file, line, task);
    exit(EXIT_TODO);
}

/* Lives in the same object of the kit. */
void lab_missing(const char *lab, const char *file) {
    fprintf(stderr, "needs lab %s (%s is not here)\n", lab, file);
    exit(EXIT_USAGE);
}

#endif
