/**
 * @file texts.h
 * @brief The judge of lab 12: text that several ranks draw.
 * @ingroup grader
 */
#ifndef GRADER_LABS_12_ZERO_TEXTS_H
#define GRADER_LABS_12_ZERO_TEXTS_H

#include "grader/check.h"

/** Texts that end at different lengths, one of which has ended before it begins. */
void texts_judge(Check *check, int stage);

#endif
