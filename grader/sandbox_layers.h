/**
 * @file sandbox_layers.h
 * @brief Inside of the sandbox: what happens to a process between fork() and exec().
 * @ingroup grader
 */
#ifndef GRADER_SANDBOX_LAYERS_H
#define GRADER_SANDBOX_LAYERS_H

#include <seccomp.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "grader/sandbox.h"

/** The layers of this machine, as they were found by trying. */
typedef struct Layers {
    bool other_user; /**< root, and may become another user */
    bool filter;     /**< system calls can be filtered */
    int landlock;    /**< version of Landlock; 0: none */
} Layers;

/** 2 if system calls are filtered and Landlock keeps files apart; else 1. */
int layers_level(const Layers *layers);

/** Two numbers that execve() must be given in arguments that it does not have. */
typedef struct Password {
    unsigned long first;  /**< in the fourth */
    unsigned long second; /**< in the fifth */
} Password;

/**
 * The filter that filter_system_calls() puts on, as libseccomp has it.
 *
 * @param machine     for which, as SCMP_ARCH_AARCH64
 * @param may_execute as of filter_system_calls(), and so are the others
 * @param may_write   files may be opened for writing
 * @param password    what opens execve()
 * @return            to be released; NULL if libseccomp refuses a rule
 */
scmp_filter_ctx filter_make(uint32_t machine, bool may_execute, bool may_write, Password password);

/**
 * Filters the system calls of this process and of all that it starts, for good: a list of what is
 * allowed, and EPERM for all else.
 *
 * @param may_execute may start other programs
 * @param may_write   may open files for writing
 * @param password    opens execve() to a process that may not start others
 * @return NULL, or what failed
 */
const char *filter_system_calls(bool may_execute, bool may_write, Password password);

/** Version of Landlock; 0 where the kernel has none. */
int landlock_version(void);

/**
 * Leaves this process only the listed part of the file system, and no TCP, for good.
 *
 * @param sandbox for its lists
 * @return NULL, or what failed
 */
const char *landlock_restrict(const Sandbox *sandbox);

/**
 * Runs in the forked process: puts on all layers and becomes the program.
 *
 * @param sandbox what is run, and how
 * @param layers  which ones to put on
 * @param user    uid and gid to become, where layers->other_user
 * @param output  pipe for stdout and stderr
 * @param failure pipe for one line of text, if something of this fails; closed by execve()
 */
__attribute__((noreturn)) void child_become(const Sandbox *sandbox, const Layers *layers,
                                            uid_t user, int output, int failure);

/** Threads of all processes of this user. */
rlim_t tasks_of_user(void);

/**
 * Kills everything that descends from this process, and waits until it is gone. False: it is not.
 */
bool kill_descendants(void);

#endif
