/**
 * @file codebooks.h
 * @brief Judge of lab 07: the values of a codebook.
 * @ingroup grader
 */
#ifndef GRADER_LABS_07_OPTIMIZERS_CODEBOOKS_H
#define GRADER_LABS_07_OPTIMIZERS_CODEBOOKS_H

#include "grader/check.h"

/** Asks for a codebook, and compares it bit by bit. */
void codebook_expect(Check *check, bool is_signed);

#endif
