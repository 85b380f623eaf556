/**
 * @file submission_steps.h
 * @brief The steps from the files of a hand-in to its objects, for grader/submission.c alone.
 * @ingroup grader
 *
 * Each that may fail returns false, or says so by a result, and leaves the sentence for the student
 * in built->message.
 */
#ifndef GRADER_SUBMISSION_STEPS_H
#define GRADER_SUBMISSION_STEPS_H

#include "grader/sandbox.h"
#include "grader/submission.h"

/** Sets the message, in place of one that is there. @return false */
bool submission_fail(Built *built, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** A recipe's text with {in} and {out} as words of a shell, {define} and {objects} as they are; to
 * be freed. */
char *submission_fill(const char *text, const char *in, const char *out, const char *define);

/** Runs a shell's command line in the sandbox, in the private folder; it may read the paths that
 * the recipes list under `files`. The result's text is to be freed. */
SandboxResult submission_run(const Submission *submission, const char *command, const char *files);

/** The sentence for a tool that was stopped; static. */
const char *submission_stopped(const Submission *submission);

/** Copies a regular file of at most 1 MiB from a folder to a path of ours. No link is followed. */
bool submission_take(const char *folder, const char *name, const char *to, Built *built);

/**
 * Compiles one source in one way, or takes the object from the cache.
 *
 * @param submission how
 * @param name       of the file, as the student has it
 * @param source     its copy
 * @param define     more words for the compiler: "-DREAL_F16"
 * @param object     path to write
 * @param built      for the message
 */
bool submission_compile(const Submission *submission, const char *name, const char *source,
                        const char *define, const char *object, Built *built);

/** The output of a tool about an object, to be freed; NULL if it cannot read it. */
char *submission_list(const Submission *submission, const char *tool, const char *object);

/** Whether an object of `file` defines and uses what the lab allows, and nothing else. */
bool submission_check_symbols(const Submission *submission, const char *file, const char *object,
                              Built *built);

#endif
