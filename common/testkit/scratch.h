/**
 * @file scratch.h
 * @brief A temporary folder for tests, and files in it.
 * @ingroup grader
 */
#ifndef COMMON_TESTKIT_SCRATCH_H
#define COMMON_TESTKIT_SCRATCH_H

#include <stddef.h>

/** Creates the folder of this test process; its path, valid until scratch_remove(). */
const char *scratch_folder(void);

/** `folder/name`; the string stays valid for the life of the process. */
const char *scratch_path(const char *name);

/** Writes a file. @return its path, as scratch_path() */
const char *scratch_file(const char *name, const void *bytes, size_t count);

/** Removes the folder with all that is in it. */
void scratch_remove(void);

#endif
