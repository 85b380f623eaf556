/**
 * @file files.h
 * @brief The judge's part of adapter_config.json: entries that are written, contents that are read.
 * @ingroup grader
 */
#ifndef GRADER_LABS_10_LORA_FILES_H
#define GRADER_LABS_10_LORA_FILES_H

#include <jansson.h>

#include "grader/check.h"

/* Each fails the check where something is wrong. @return whether nothing is. */

/** The entry is there and is `want`, which is given up. */
bool files_expect_entry(Check *check, const json_t *json, const char *key, json_t *want);

/** target_modules has one name for each target, and no other. */
bool files_expect_targets(Check *check, const json_t *json, unsigned targets);

/** Asks what becomes of many contents, and judges that. */
void files_judge_read(Check *check);

#endif
