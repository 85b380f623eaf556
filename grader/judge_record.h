/**
 * @file judge_record.h
 * @brief Judges of labs with streams: the record of a probe's run (docs/clock.md).
 * @ingroup grader
 *
 * A probe that has called cudasim_record_begin() tells each entry as it is made (check_events()).
 * So a hand-in could add to its record and take nothing from it; an entry that is there twice, or
 * one that is missing, gives it away.
 */
#ifndef GRADER_JUDGE_RECORD_H
#define GRADER_JUDGE_RECORD_H

#include "cudasim/clock/makespan.h"
#include "grader/check.h"

/**
 * Takes the record of the probe's last run, which had profile_want().
 *
 * @param      check  the check; fails where the record is none
 * @param[out] record its entries; freed with the check
 */
bool record_take(Check *check, CudasimRecord *record);

/** Whether `a`, which is in a stream, comes before `b`, by the clocks. */
bool record_before(const CudasimEntry *a, const CudasimEntry *b);

/** Whether two entries in streams may run at the same time. */
bool record_may_overlap(const CudasimEntry *a, const CudasimEntry *b);

/** Whether a wait of the host, in a record, waits for anything that the host did not know to be
    over. */
bool record_waits(const CudasimRecord *record, const CudasimEntry *e);

/** "the copy at prefetch.c:80". @return text, (CHECK_LABEL) */
const char *record_place(const CudasimEntry *e, char *text);

/**
 * The makespan of a record.
 *
 * @param      check   the check; fails where there is none
 * @param      record  entries
 * @param      machine what it runs on
 * @param[out] result  the whole
 * @return whether there is one
 */
bool record_makespan(Check *check, const CudasimRecord *record, const Machine *machine,
                     Makespan *result);

#endif
