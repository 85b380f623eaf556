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

/** Asks what becomes of many contents, and judges that. */
void files_judge_read(Check *check);

#endif
