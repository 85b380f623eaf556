/**
 * @file mistakes.h
 * @brief The judge's part of lab 06: what known mistakes would predict, and what they would choose.
 * @ingroup grader
 */
#ifndef GRADER_LABS_06_FIT_MISTAKES_H
#define GRADER_LABS_06_FIT_MISTAKES_H

#include "grader/labs/06_fit/space.h"

/* ---- bytes ----------------------------------------------------------------------------------- */

/**
 * The known mistakes of one prediction.
 *
 * @param      space     all plans
 * @param      plan      whose bytes are predicted
 * @param      right     its bytes
 * @param[out] sentences what is said of each mistake
 * @param[out] uses      what each would predict
 * @return how many: at most 16
 */
int space_bytes_mistakes(const Space *space, const Plan *plan, MemoryUse right,
                         const char *sentences[], MemoryUse uses[]);

/* ---- choosing, rightly and by mistake -------------------------------------------------------- */

/** How one can choose. */
typedef struct Rule {
    const char *sentence;
    size_t (*bytes)(const Space *space, const Measured *m);  /**< NULL: as counted */
    bool (*considers)(const Space *space, const Plan *plan); /**< NULL: all plans */
    bool (*better)(const Measured *a, const Measured *b);    /**< NULL: cost, then bytes */
    size_t (*budget)(size_t budget);                         /**< NULL: as given */
} Rule;

/** The choice of a rule, NULL where it finds nothing. */
const Measured *rule_choose(const Space *space, size_t budget, const Rule *rule);

enum { PLAN_RULES = 21 };

/** Known mistakes, most likely first. */
extern const Rule plan_rules[PLAN_RULES];

/** The budget in which this mistake is worst: it finds nothing, what does not fit, or what costs
   most of all. 0 where it does no harm in any. */
size_t rule_worst_budget(const Space *space, const Rule *rule);

/** The mistake that explains every choice (NULL: nothing was found), or "". */
const char *rules_likely(const Space *space, const uint64_t *budgets, const Measured *const *chosen,
                         int count);

#endif
