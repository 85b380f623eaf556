/**
 * @file rank_order.h
 * @brief Which entries of a record come before which, over several ranks.
 * @ingroup grader
 *
 * The clock of an entry knows its own rank alone; here calls that meet join what is before them.
 */
#ifndef GRADER_RANK_ORDER_H
#define GRADER_RANK_ORDER_H

#include "cudasim/clock/machine.h"

/**
 * Whether `a` comes before `b` in a record, over all ranks: calls that meet begin and end together,
 * and those of one group go on side by side.
 *
 * @param record all entries of a run (record_take())
 * @param a      one of them
 * @param b      another
 */
bool ranks_before(const CudasimRecord *record, const CudasimEntry *a, const CudasimEntry *b);

/** Whether neither comes before the other. */
bool ranks_may_overlap(const CudasimRecord *record, const CudasimEntry *a, const CudasimEntry *b);

#endif
