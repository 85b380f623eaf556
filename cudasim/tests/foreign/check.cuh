/**
 * @file check.cuh
 * @brief What programs of cudasim/tests share: each ends with status 0, or says why not.
 * @ingroup cudasim
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>

/** Ends the program unless the condition holds. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/** Ends the program unless a call of the runtime, or of NCCL, succeeds. */
#define OK(call) MUST((call) == 0)
