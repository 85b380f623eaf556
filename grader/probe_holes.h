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
 * And what stands after one, in a CUDA source, where what the hole should have left is given:
 *
 *     graded_task = 3;
 *     earlier_hole = give_partial_sums; // of task 2
 *
 * To be included by one file of a probe, before common/lab.h: it defines what is linked instead of
 * the kit's own.
 */
#ifndef GRADER_PROBE_HOLES_H
#define GRADER_PROBE_HOLES_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define HOLES_MAY_RETURN
#include "common/lab.h"

static jmp_buf at_hole; /**< where a call ends */
static int later_task;  /**< the first task that ends one; 0 for none */
static int graded_task; /**< holes of the tasks before it are passed over; 0 for none */
static void (*earlier_hole)(int task); /**< does what one of these should have; NULL for nothing */

void todo_reached(const char *file, int line, const char *task) {
    int number;
    if (later_task > 0 && sscanf(task, "task %d", &number) == 1 && number >= later_task) {
        longjmp(at_hole, 1);
    }
    if (graded_task > 0 && sscanf(task, "task %d", &number) == 1 && number < graded_task) {
        if (earlier_hole != NULL) {
            earlier_hole(number);
        }
        return;
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
