/**
 * @file parts.h
 * @brief The judge of lab 12: which numbers of a unit are a rank's.
 * @ingroup grader
 */
#ifndef GRADER_LABS_12_ZERO_PARTS_H
#define GRADER_LABS_12_ZERO_PARTS_H

#include "grader/check.h"

/** Asks for the numbers of a part, of units and ranks that are drawn. */
void parts_judge(Check *check);

/** Asks for pieces of tensors that lie in every way to the part. */
void pieces_judge(Check *check);

#endif
