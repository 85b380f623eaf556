/**
 * @file probe_seal.h
 * @brief The seal of a probe: a filter of system calls, put on before any code of the submission
 *        runs.
 * @ingroup grader
 */
#ifndef GRADER_PROBE_SEAL_H
#define GRADER_PROBE_SEAL_H

/**
 * From here on the kernel refuses
 *
 * - a call that comes out of the program itself: the kit calls by way of libraries, and code that
 *   does without them would pass the lab's list by;
 * - to close the pipe of events, in whose place another could be put;
 * - to write on, to move or to replace code and constants, of the program and of libraries.
 *
 * There is no seal within a debugger, with a real GPU, whose driver loads libraries later, and in a
 * program that has its libraries in it.
 */
void probe_seal(void);

#endif
