/**
 * @file files.h
 * @brief The judge's part of adapter_config.json: entries that are written, contents that are read.
 * @ingroup grader
 */
#ifndef GRADER_LABS_10_LORA_FILES_H
#define GRADER_LABS_10_LORA_FILES_H

#include <jansson.h>

#include "grader/check.h"

/* Fails the check where something is wrong. @return whether nothing is. */

/** The content that came back under a name is that of an adapter; `base` as for
    adapter_config_new(). */
bool files_expect_content(Check *check, const char *name, const Adapter *adapter, const char *base);

/** Asks what becomes of many contents, and of a file with one, and judges that. */
void files_judge_read(Check *check);

/** Wants the case "save"; "config" and "base" are given. */
void files_want_save(Check *check);

/** Both files are written, and only they; where they cannot be, the result says so. */
bool files_expect_save(Check *check);

/** Gives a file of matrices, (count, NAME_ROOM) names and `numbers` numbers, and wants the case
    "load". @return the numbers */
const float *files_want_load(Check *check, const char *names, size_t bytes, size_t numbers);

/** The adapters have these numbers; where they cannot be read, the result says so. */
bool files_expect_load(Check *check, const float *values, size_t numbers);

#endif
