/**
 * @file suspicion.h
 * @brief Which known mistakes explain everything that a check has compared.
 * @ingroup grader
 *
 * Each comparison asks every mistake of its list what it would give, be the tensor right or
 * wrong. A mistake is known only if it gives what came back each time. One that explains all of
 * some tensors, while the others are right, is known of these tensors.
 *
 *     suspicion_vote(suspicion, sentence, 0, "", !right, fits); // of each mistake, each time
 *     Verdict verdict = suspicion_settle(suspicion);            // when all is compared
 */
#ifndef GRADER_SUSPICION_H
#define GRADER_SUSPICION_H

#include <stdbool.h>

enum { VERDICT_MOST = 4, VERDICT_TEXT = 800 };

/** The votes of one check. */
typedef struct Suspicion Suspicion;

/** The mistakes that are known when all votes are in. */
typedef struct Verdict {
    int count; /**< mistakes that explain everything; above VERDICT_MOST: too
                                               many to be told */
    const char *sentence[VERDICT_MOST]; /**< of each; valid as long as the votes are */
    char text[VERDICT_TEXT];            /**< "likely: ..."; empty where nothing is known */
    int since; /**< number of the first comparison that the first of them explains */
} Verdict;

/** No votes. To be given to suspicion_free(). */
Suspicion *suspicion_new(void);

/** Frees the votes. NULL is fine. */
void suspicion_free(Suspicion *suspicion);

/** The next comparison begins. @return its number, from 1 on */
int suspicion_next(Suspicion *suspicion);

/** How many there were. */
int suspicion_count(const Suspicion *suspicion);

/**
 * One mistake in the present comparison.
 *
 * @param suspicion the votes
 * @param sentence  about the mistake; copied. The same sentence is the same mistake
 * @param variant   of mistakes with one sentence, which: each must explain everything by itself
 * @param scope     tensor of which it may be true alone; "" where it is true of all or of none
 * @param wrong     whether what came back is wrong
 * @param fits      whether the mistake would give what came back
 */
void suspicion_vote(Suspicion *suspicion, const char *sentence, int variant, const char *scope,
                    bool wrong, bool fits);

/** The mistakes that are known now. */
Verdict suspicion_settle(const Suspicion *suspicion);

#endif
