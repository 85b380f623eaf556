/* How a program ends at a hole that is not filled in, or without a lab that it needs. The contract
   is in lab.h. */
#include "common/lab.h"

#include <stdio.h>
#include <stdlib.h>

void todo_reached(const char *file, int line, const char *task) {
    fflush(stdout);
    fprintf(stderr, "%s:%d: TODO: %s\n", file, line, task);
    exit(EXIT_TODO);
}

void lab_missing(const char *lab, const char *file) {
    fflush(stdout);
    fprintf(stderr, "needs lab %s (%s is not here)\n", lab, file);
    exit(EXIT_USAGE);
}
