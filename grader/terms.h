/**
 * @file terms.h
 * @brief A constant that differs between the terms of a course, and who handed in another term's.
 * @ingroup grader
 *
 * term.h of a lab, in its folder, has one for each constant that it draws (docs/terms.md). Only
 * judges and tests of the kit include it: what a hand-in could read, last year's could follow.
 */
#ifndef GRADER_TERMS_H
#define GRADER_TERMS_H

#include <stdbool.h>

#include "grader/suspicion.h"

enum { TERM_MOST = 8, TERM_TEXT = 400 };

/** A constant of a term. */
typedef struct Term {
    int now;                     /**< number of the present value */
    int count;                   /**< values, TERM_MOST at most */
    const char *says[TERM_MOST]; /**< each in words, as the page says it */
} Term;

/**
 * The mistake of having another term's value.
 *
 * @param      term  the constant
 * @param      other number of the value that was handed in, not that of now
 * @param[out] text  (TERM_TEXT)
 * @return text
 */
const char *term_mistake(const Term *term, int other, char text[TERM_TEXT]);

/**
 * Votes on each value of another term in the present comparison.
 *
 * @param suspicion the votes
 * @param term      the constant
 * @param wrong     whether what came back is wrong
 * @param fits      (term->count) whether that value would give what came back
 */
void term_vote(Suspicion *suspicion, const Term *term, bool wrong, const bool *fits);

#endif
