/**
 * @file draws.h
 * @brief Draws the inputs of checks many times, without a probe: does any of them hide a mistake?
 * @ingroup grader
 *
 *     build/judge/03_accumulate --draws 1000 [CHECK]
 *
 * In a drawn check every comparison finds what is right, and what each known mistake would give is
 * compared with that and with what others would give. What is said of a hand-in must not depend
 * on its seed: a mistake is seen in all draws of a check or in none, and two mistakes give the same
 * numbers in all draws or in none. Over all checks of the lab each is seen once, and each is told
 * apart once from each that it is taken for elsewhere. Prints a line for each that is not so.
 */
#ifndef GRADER_DRAWS_H
#define GRADER_DRAWS_H

#include <stdint.h>

#include "grader/check.h"

/** What the comparisons of one drawn check have told. */
typedef struct Draw Draw;

/** The draw that is being made, borrowed; NULL where checks run with their probes. */
Draw *draw_now(void);

/** The seed of that draw. */
uint64_t draw_seed(const Draw *draw);

/** A comparison of n floats with their mistakes. */
void draw_floats(Draw *draw, const double *want, size_t n, Tolerance tolerance,
                 const Suspect *suspects, int count);

/** A comparison of n whole numbers with their mistakes. */
void draw_numbers(Draw *draw, const uint64_t *want, size_t n, const ExactSuspect *suspects,
                  int count);

/**
 * Notes whether a size that a check promises was drawn: one promised must be in every draw.
 *
 * @param check   the check
 * @param clause  what is promised: "beyond 2^32 bytes"
 * @param reached whether this input is one
 */
void check_size(Check *check, const char *clause, bool reached);

/** Draws the checks of the judge. @return the number of problems */
int draws_make(const CheckPlan *const *plans, int count, int draws, const char *only);

#endif
