/**
 * @file sandbox.h
 * @brief Runs an untrusted program, under limits that it cannot change.
 * @ingroup grader
 *
 * In layers, as many as the machine offers:
 *
 *     1  limits of time, memory, output, files; no new privileges; no inherited descriptors; a
 *        session of its own; all descendants killed before the call returns
 *     2  a filter of system calls (libseccomp); a view of the file system that holds only what is
 *        listed (Landlock)
 *
 * Started as root it is another user as well, at both levels.
 *
 * Nothing that the program says about itself is believed: how it ended, how long it took and how
 * much memory it had is seen from outside.
 */
#ifndef GRADER_SANDBOX_H
#define GRADER_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

/** The program to run, and its limits. */
typedef struct Sandbox {
    const char *const *argv;     /**< program and arguments, ended by NULL; argv[0] is a path */
    const char *const *readable; /**< files and folders that it may read and execute, ended by NULL;
                                      system libraries are always among them */
    const char *folder; /**< where it may write, and its working folder; NULL: nowhere, "/" */
    const char *const
        *environment;   /**< "NAME=value" beside the fixed ones, ended by NULL; or NULL */
    int in;             /**< becomes descriptor 3, or -1 */
    int out;            /**< becomes descriptor 4, or -1 */
    int events;         /**< becomes descriptor 5; 0 for none */
    int beside;         /**< becomes descriptor 6; 0 for none */
    double seconds;     /**< wall time */
    double cpu_seconds; /**< processor time of all its threads */
    size_t memory;      /**< bytes of address space; 0: no limit */
    size_t resident;    /**< bytes of memory that it has touched; more kills it; 0: no limit */
    size_t output;      /**< bytes of stdout and stderr together that are kept; more kills it */
    bool may_execute;   /**< may start other programs: a compiler, not a probe */
    bool uses_gpu;      /**< talks to a GPU's driver, in ways that no list of system calls and files
                             can hold: level 1 */
} Sandbox;

/** How it ended. */
typedef enum SandboxEnd {
    SANDBOX_EXIT,    /**< by itself: see status */
    SANDBOX_SIGNAL,  /**< by a signal: see status */
    SANDBOX_TIMEOUT, /**< the wall or processor time was over */
    SANDBOX_FLOOD,   /**< it wrote too much */
    SANDBOX_MEMORY,  /**< it had too much memory */
    SANDBOX_ERROR,   /**< the sandbox itself failed: says nothing about the program */
} SandboxEnd;

/** The outcome, as seen from outside. */
typedef struct SandboxResult {
    SandboxEnd end;     /**< how */
    int status;         /**< exit status or signal */
    int level;          /**< layers that were reached: 1 or 2 */
    double seconds;     /**< wall time */
    double cpu_seconds; /**< processor time */
    size_t peak_bytes;  /**< largest resident size that was seen */
    char *text; /**< what it wrote, cut at `output`, control characters replaced; to be freed */
    char error[200]; /**< with SANDBOX_ERROR: what failed */
} SandboxResult;

/** Runs a program to its end, and kills all that it started. */
SandboxResult sandbox_run(const Sandbox *sandbox);

/** The layers that this machine offers, found out by trying: 1 or 2. */
int sandbox_level(void);

/** One line that names the layers: "2: limits, system call filter (libseccomp), Landlock 7, another
 *  user". */
const char *sandbox_describe(void);

#endif
