/**
 * @file calls.h
 * @brief Judge of lab 02: many calls of one op in one run of the probe, and how they are graded.
 * @ingroup grader
 *
 *     Calls *calls = calls_new(check, "sumsq");
 *     sumsq_add(calls, 257, 1, false); // update.h: inputs, and the right answer
 *     calls_grade_numbers(calls);      // or _clean, _schedules, _traffic
 */
#ifndef GRADER_LABS_02_KERNELS_CALLS_H
#define GRADER_LABS_02_KERNELS_CALLS_H

#include "grader/judge_profile.h"
#include "grader/labs/02_kernels/protocol.h"

enum { CALLS = 32, EXPECTED = 120, SUSPECTS = 20, SECONDS = 20 };

/** A tensor that should come back. */
typedef struct Expected {
    char name[WIRE_NAME];
    Precision precision; /**< of the call */
    const double *want;  /**< (n); where one is inf or NaN, what comes back must be one, too */
    size_t n;
    size_t parts;   /**< partial sums of it that come back, (n / 2) of dweight and as many of dbias;
                         0: the tensor itself */
    size_t element; /**< bytes of a number on the device; a float's */
    Tolerance tolerance;
    const char *doubles; /**< where it comes back as doubles too: their name; NULL elsewhere */
    bool rounded_away; /* right values are the difference of equal numbers: nothing but rounding */
    Suspect suspect[SUSPECTS];
    int suspects;
} Expected;

/** A case of the probe whose work must grow with its size. */
typedef struct CallsGrowth {
    const char *probe_case; /**< one call, of "many" numbers or rows */
    uint64_t few, many;     /**< both are tried, and two blocks of each launch run */
    const char *pieces;     /**< "numbers", "rows" */
} CallsGrowth;

/** All calls of a check. */
typedef struct Calls {
    Check *check;
    const char *op; /**< case of the probe */
    KernelCase c[CALLS];
    int count;
    KernelCase launches;   /**< of which no kernel runs: calls_grade_clean() */
    CallsGrowth growth[2]; /**< up to NULL */
    Expected expected[EXPECTED];
    int expecteds;
    bool padded;         /**< what lies between two rows of dlogits comes back too */
    double bytes;        /**< the fewest that all calls can read and write */
    bool large;          /**< numbers so large that nearly right says nothing */
    const char *numbers; /**< checks that name what is wrong with a number; NULL: this one */
    const char *nearly;  /**< what is said where everything is nearly right */
} Calls;

/** No calls of an op yet, a case of the probe; one at a time: it is static. */
Calls *calls_new(Check *check, const char *op);

/** One call more, of (N, C) elements in that precision. @return its number, for what follows */
int calls_add(Calls *calls, Precision precision, int N, int C);

/** Promises that one of the calls has C columns: check_size(). */
void calls_promise(const Calls *calls, const char *clause, int C);

/* ---- inputs and what should come back -------------------------------------------------------- */

/** (n) The same numbers as doubles; freed with the check. */
double *calls_doubles(Calls *calls, const float *from, size_t n);

/** Gives call i (n) numbers, under the name of a tensor of the op. */
void calls_give(Calls *calls, int i, const char *tensor, const float *values, size_t n);

/** Gives random numbers, and returns them as doubles. */
double *calls_give_normal(Calls *calls, int i, const char *tensor, size_t n, double scale,
                          Precision precision);

/** The same, rounded to float. */
void calls_give_doubles(Calls *calls, int i, const char *tensor, const double *from, size_t n);

/** Counts the fewest bytes of an op that goes over the (N, C) numbers of call i that many times. */
void calls_move(Calls *calls, int i, int times);

/** Gives what an earlier task should have left in the workspace of call i. */
void calls_give_left(Calls *calls, int i, const void *left, size_t bytes);

/** The same for (parts, n) partial sums of dweight and dbias, (n / 2) numbers each: they lie as
    this term asks. */
void calls_give_parts(Calls *calls, int i, const double *part, size_t n, size_t parts);

/** Wants a tensor of call i back, which should be (n) `want`, or add up to it from `parts` parts,
   which lie as this term asks. To it known mistakes are added by expected_suspect(); valid as long
   as the calls are. */
Expected *calls_expect(Calls *calls, int i, const char *tensor, const double *want, size_t n,
                       size_t parts, Tolerance tolerance);

/** A copy of `from` that a mistake will be made of. */
double *expected_suspect(Calls *calls, Expected *expected, const char *sentence,
                         const double *from);

/* ---- the judge ------------------------------------------------------------------------------- */

/** Whether the probe has made all calls. */
bool calls_run(Calls *calls);

/** Gives the calls, once all of them are there; then calls_run(). */
void calls_planned(Calls *calls);

/** Compares all that came back, up to the first tensor that is wrong. */
bool calls_judge(Calls *calls);

/** The whole of a check: gives, runs, judges the numbers. */
void calls_grade_numbers(Calls *calls);

/** Without points: nobody loses any for having no GPU. */
void calls_grade_on_gpu(Calls *calls);

/** Before calls_grade_clean(): the work of that case, too, must grow with its size. */
void calls_grow(Calls *calls, CallsGrowth growth);

/** A report comes before the numbers: it says why they are wrong. Then a few blocks of much work,
    and the op's launches alone, for (N, C) numbers: case "OP_launches" of the probe. */
void calls_grade_clean(Calls *calls, int N, int C);

/** The same bits in three orders of threads, warps and blocks. */
void calls_grade_schedules(Calls *calls);

/** Right numbers, and lanes that take neighbours. One size tells little of a number that is wrong:
    `numbers` are the checks that say what is likely, blanks between. */
void calls_grade_traffic(Calls *calls, const char *numbers);

#endif
