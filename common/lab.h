/**
 * @file lab.h
 * @brief What a lab file starts with: TODO(), and the exit statuses of every program of the kit.
 * @ingroup common
 */
#ifndef COMMON_LAB_H
#define COMMON_LAB_H

#ifdef __cplusplus
extern "C" {
#endif

/** How a program of the kit ends, where it does not end with 0. */
enum {
    EXIT_RUN = 1,   /**< something went wrong while it ran: a full disk, a budget too small */
    EXIT_USAGE = 2, /**< it was asked for what cannot be done: a wrong option, a corrupt file */
    EXIT_TODO = 77, /**< it reached a hole of a lab that is not filled yet */
};

/**
 * Marks a hole: prints file, line and task on stderr and ends the program with EXIT_TODO.
 *
 *     TODO("task 2: add the gradients of the window (about 3 lines)");
 */
#define TODO(task) todo_reached(__FILE__, __LINE__, task)

/** Of a helper that a lab's file is given: its stub does not call it yet. */
#if defined __GNUC__
#define GIVEN __attribute__((unused))
#else
#define GIVEN
#endif

/**
 * Prints `name.c:17: TODO: task` and exits with EXIT_TODO. In a CUDA source it may return: a grader
 * that looks at a later task of the same function goes on there (grader/probe_holes.h).
 *
 * @param file source file of the hole
 * @param line its line
 * @param task what is to be written there
 */
#if defined __GNUC__ && !defined __CUDACC__ && !defined HOLES_MAY_RETURN
__attribute__((noreturn, cold))
#endif
void todo_reached(const char *file, int line, const char *task);

/**
 * Prints `needs lab NN (NN_topic/file is not here)` and exits with EXIT_USAGE. Called by the object
 * that stands in for a lab file that is missing.
 *
 * @param lab  two digits
 * @param file the missing file, as "03_accumulate/accumulate.c"
 */
#if defined __GNUC__
__attribute__((noreturn, cold))
#endif
void lab_missing(const char *lab, const char *file);

#ifdef __cplusplus
}
#endif

#endif
