/**
 * @file attempt.h
 * @brief Runs what may end the program, a hole above all, in a process of its own.
 * @ingroup train
 *
 * A lab's pictures are worth seeing before the lab is done. TODO() ends a process, so a part that
 * calls a hole is tried in a child; what it computes comes back as bytes.
 */
#ifndef TRAIN_ATTEMPT_H
#define TRAIN_ATTEMPT_H

#include <stdbool.h>
#include <stddef.h>

/** How an attempt ended. */
typedef struct Attempt {
    bool done;  /**< it finished, and the result is there */
    bool todo;  /**< it reached a hole, or a lab's file that is not there */
    int status; /**< what the whole program is to end with, where something failed: not a hole */
    char said[400]; /**< the first line that it left on stderr, without the line's end: the hole's
                         file, line and task */
} Attempt;

/**
 * Calls `run(context, result)` in a child process.
 *
 * The threads of OpenMP do not exist in a child: call this before anything in the program uses
 * OpenMP, or with a `run` that does not. On failure that is not a hole all that the child wrote on
 * stderr follows on this program's.
 *
 * @param      run     fills in `bytes` bytes at `result`
 * @param      context given to it; what it changes there is lost
 * @param[out] result  as `run` left it; zeros where it did not finish
 * @param      bytes   of the result
 */
Attempt attempt(void (*run)(void *context, void *result), void *context, void *result,
                size_t bytes);

#endif
