/**
 * @file compare.h
 * @brief Judge of lab 09: the hand-in's results against the kit's, bit for bit; and with which
 * mistake the kit's would be the hand-in's.
 * @ingroup grader
 */
#ifndef GRADER_LABS_09_FUSION_COMPARE_H
#define GRADER_LABS_09_FUSION_COMPARE_H

#include "grader/judge_profile.h"
#include "grader/judge_training.h"
#include "grader/labs/09_fusion/protocol.h"

enum { NORM_CASES = 24, RUN_SECONDS = 30 };

/** Whether the launches of a case, of `rows` rows of `numbers` numbers each, are possible, and
    asked about. Last in a check. */
void launches_grade(Check *check, const char *probe_case, int rows, int numbers);

/** Calls of the fused op. */
typedef struct NormCalls {
    Check *check;
    bool backward;
    NormCase c[NORM_CASES];
    int count;
} NormCalls;

/** One call more, its inputs drawn. */
void norm_add(NormCalls *calls, NormCase c);

/** Awkward sizes in three precisions, in place and not, with a mask and without. */
NormCalls norm_all(Check *check, bool backward);

/** A few of them. */
NormCalls norm_few(Check *check, bool backward);

/** Gives the calls, runs them, and compares all bits with the kit's. */
bool norm_grade(NormCalls *calls);

/** No report of the simulator; launches of many rows are possible, and asked about. */
void norm_grade_clean(Check *check, bool backward);

/** The same bits of backward in three orders of threads. */
void norm_grade_schedules(Check *check);

/** Sectors that are moved, against the formula. */
void norm_grade_traffic(Check *check, bool backward);

/* ---- the head -------------------------------------------------------------------------------- */

/** Losses and gradients of passes with the hand-in's head, against double. */
void head_grade(Check *check, bool gradients);

/** The same in both halves. */
void head_grade_half(Check *check);

/** The same with a budget that logits of (N, V) break; and in as many chunks as there are. */
void head_grade_memory(Check *check);

/** How rows are rounded up: from `first` on, times `times` plus `more`, until they are enough. */
typedef struct ChunkRule {
    uint64_t first, times, more;
} ChunkRule;

/** At least that many rows, by the rule. */
uint64_t chunk_up(ChunkRule rule, uint64_t least);

/** Rows of a chunk for many shapes. */
void chunks_grade(Check *check);

/* ---- numbers in device memory ---------------------------------------------------------------- */

/** Norm and factor of sums, bit for bit. */
void clip_grade(Check *check);

/** One update whose numbers lie in device memory; `found`: of result->found. */
void control_grade(Check *check, float found);

/* ---- bytes of chains ------------------------------------------------------------------------- */

/** All chains, apart and fused, for several sizes. */
void chains_grade(Check *check);

/* ---- captured steps -------------------------------------------------------------------------- */

/** Windows of a scripted run. */
typedef struct StepsScript {
    Given given;
    StepsWindow window[32];
    int count;
    int32_t option[STEPS_OPTIONS];
} StepsScript;

/** Windows of `micros` micro-batches each, all with as many targets; dropout 0.3, a schedule. */
StepsScript steps_script(Check *check, Precision precision, int count, int micros);

/** Runs it, and compares all numbers with those of eager steps. */
bool steps_grade(StepsScript *script);

/** The sentence for a mistake that a captured step shares with other checks. */
const char *steps_sentence(StepsMistake mistake);

/** Windows of the run whose launches are counted: one with another share, one whose micro-batches
    differ in shape, and one that another Graphed is given first. */
enum { LAUNCHES_SHARE = 3, LAUNCHES_RAGGED = 5, LAUNCHES_ANEW = 7 };

/** One launch of the host for each step but the first, the ragged one and another Graphed's first,
    and 64 bytes beside the ids. */
void steps_grade_launches(StepsScript *script);

#endif
