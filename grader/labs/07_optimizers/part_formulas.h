/**
 * @file part_formulas.h
 * @brief Lab 07 in the probe: the formulas of codebook.c and choose.c, which need no device.
 * @ingroup grader
 */
#ifndef GRADER_LABS_07_OPTIMIZERS_PART_FORMULAS_H
#define GRADER_LABS_07_OPTIMIZERS_PART_FORMULAS_H

#include "grader/wire.h"

/** Cases, one formula each; protocol.h says what choose() gets and gives. */
void formula_codebook_signed(const Wire *in, Wire *out);   /* "values" (ADAM8_CODES) of m */
void formula_codebook_unsigned(const Wire *in, Wire *out); /* the same of v */
void formula_bytes(const Wire *in, Wire *out);             /* "bytes" of each of "models" */
void formula_choose(const Wire *in, Wire *out);            /* "answers" to "asks" */

#endif
