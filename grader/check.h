/**
 * @file check.h
 * @brief The language of a lab's tests.c: graded checks, each of which runs the probe and compares.
 * @ingroup grader
 *
 * A check is a Criterion test with points. It makes inputs from a secret seed, starts the probe
 * under limits from outside, and compares what comes back with what the judge computes by itself:
 *
 *     GRADED(00_bytes, params, "elements of all parameters") {
 *         ModelConfig config = check_config(check);
 *         check_give_config(check, &config);
 *         check_want(check, "bytes", WIRE_U64, 1);
 *         if (check_run(check, "params", 2)) {
 *             check_equal(check, "bytes", want, 1, suspects, count);
 *         }
 *     }
 *
 * All checks of a lab stand in one file, in the order in which they are shown. A check passes if
 * nothing in it failed and at least one comparison was made.
 */
#ifndef GRADER_CHECK_H
#define GRADER_CHECK_H

#include <criterion/criterion.h>

#include "common/config.h"
#include "common/rng.h"
#include "common/testkit/compare.h"
#include "grader/terms.h"
#include "grader/wire.h"
#include "kernels/half.h"

/** One check while it runs. */
typedef struct Check Check;

/** When a student may see the row of a check. The instructor's record has them all. */
typedef enum CheckVisibility {
    VISIBLE_ALWAYS,         /**< at once: "always" */
    VISIBLE_AFTER_DUE_DATE, /**< once the due date has passed: "after_due_date" */
    VISIBLE_NEVER,          /**< only the instructor: "never" */
} CheckVisibility;

/** A check as it is known before it runs: the plan that decides the total. */
typedef struct CheckPlan {
    const char *lab;            /**< "00_bytes" */
    const char *name;           /**< "params" */
    double points;              /**< if it passes; 0 for a row that is only shown; negative: they
                                     stand in the lab's lab.json */
    const char *title;          /**< in a few words, for the table */
    int order;                  /**< line in tests.c; after all of them for a hidden check */
    CheckVisibility visibility; /**< whether students see its row */
    void (*body)(Check *check); /**< what it does */
} CheckPlan;

/** Registers a plan before main(); GRADED() calls it. */
void check_register(const CheckPlan *plan);

/** Begins a check; GRADED() calls it. */
Check *check_begin(const CheckPlan *plan);

/** Writes the check's row and frees it; GRADED() calls it. */
void check_end(Check *check);

/**
 * Defines a check: the lab's folder, a name, a title; then the body, with `check`. Its points stand
 * in the lab's lab.json, under its name; or, as in former releases, between name and title.
 */
#define GRADED(lab, name, ...)                                                                     \
    CHECK_CHOSEN(__VA_ARGS__, CHECK_WITH_POINTS, CHECK_WITHOUT)(lab, name, __VA_ARGS__)
/** @cond */
#define CHECK_CHOSEN(first, second, chosen, ...) chosen
#define CHECK_WITHOUT(lab, name, title) CHECK_WITH_POINTS(lab, name, -1, title)
#define CHECK_WITH_POINTS(lab, name, points, title)                                                \
    CHECK_PLANNED(lab, name, points, title, __LINE__, VISIBLE_ALWAYS)
/** @endcond */

/**
 * The same in grader/hidden/NN_topic.c, which is compiled into the judge where it is present: such
 * checks are not part of a handout. Shown after the others; `visibility` says to whom.
 */
#define HIDDEN(lab, name, points, title, visibility)                                               \
    CHECK_PLANNED(lab, name, points, title, CHECK_HIDDEN + __LINE__, visibility)

/** Lines of a tests.c are fewer. */
enum { CHECK_HIDDEN = 1 << 20 };

/** The common part of GRADED() and HIDDEN(). */
#define CHECK_PLANNED(lab, name, points, title, order, visibility)                                 \
    static void name##_body(Check *check);                                                         \
    static const CheckPlan name##_plan = {#lab,  #name,      points,     title,                    \
                                          order, visibility, name##_body};                         \
    __attribute__((constructor)) static void name##_register(void) {                               \
        check_register(&name##_plan);                                                              \
    }                                                                                              \
    Test(graded, name) {                                                                           \
        Check *check = check_begin(&name##_plan);                                                  \
        name##_body(check);                                                                        \
        check_end(check);                                                                          \
    }                                                                                              \
    static void name##_body(Check *check)

/* ---- inputs ---------------------------------------------------------------------------------- */

/** A random whole number in [low, high], from the run's seed and the check's name. */
int check_int(Check *check, int low, int high);

/** A number that is given, rounded to the storage type. Never -0: an op that adds 0 makes it 0, and
    the bits of both are compared. */
static inline float check_round(float x, Precision precision) {
    return precision_round(precision, x) + 0.0f;
}

/** n normal numbers times `scale`, each of them check_round()ed; freed with the check. */
float *check_normal(Check *check, size_t n, double scale, Precision precision);

/** n doubles, zero; freed with the check. */
double *check_doubles(Check *check, size_t n);

/** Gives the probe a tensor. */
void check_give(Check *check, const char *name, WireType type, const void *values, size_t count);

/** Other values of a tensor that was given, as many, for the runs from now on. */
void check_give_again(Check *check, const char *name, WireType type, const void *values,
                      size_t count);

/** Gives the probe the shape of a model, as "config". */
void check_give_config(Check *check, const ModelConfig *config);

/** Wants a tensor back. */
void check_want(Check *check, const char *name, WireType type, size_t count);

/** Sets a variable of the probe's environment: "CUDASIM_SCHED=reverse". */
void check_environment(Check *check, const char *setting);

/* ---- the probe ------------------------------------------------------------------------------- */

/**
 * Runs a case of the probe. May be called again with the same tables, for another case or a second
 * run of the same.
 *
 * @param check     the check
 * @param probe_case its name in grader/labs/NN_topic/probe.c; "formulas/bytes" is that of
 *                   probe_formulas.c there, a program of its own
 * @param seconds   wall time that it may take
 * @return whether it finished; if not, the check's state says why: not started, crashed,
 *         timeout, over budget, sandbox error
 */
bool check_run(Check *check, const char *probe_case, double seconds);

/**
 * The same for a case of grader/labs/NN_topic/probe_kit.c, to compare with: that program is linked
 * without the submission. A debugger passes it by.
 */
bool check_run_kit(Check *check, const char *probe_case, double seconds);

/**
 * Runs a case of another probe, made of the holes that have `"probe": name` in lab.json, and beside
 * it a program of the kit, without the submission: grader/labs/NN_topic/NAME/NAME.c. The two are
 * connected by a socket, descriptor WIRE_BESIDE of both.
 *
 * @param check      the check, with what the probe is given and wanted
 * @param name       of probe and program
 * @param probe_case of the probe
 * @param in         what the program beside it is given
 * @param out        what it hands back; fetched
 * @param seconds    wall time of both
 * @return as check_run()
 */
bool check_run_beside(Check *check, const char *name, const char *probe_case, const Wire *in,
                      Wire *out, double seconds);

/**
 * Whether the checks are to run on the simulated GPU: `make gradeNN DEVICE=gpu`. It has no arena,
 * so budgets are the kit's own there, and each run may take twenty times as long.
 */
bool check_on_gpu(void);

/**
 * The threads of a probe whose room is closed: 1. The proof takes more, by GRADE_THREADS: the
 * library of the products then has room for each, which a submission could use as well.
 */
int check_threads(void);

/**
 * The same on a real GPU, for checks without points. Where there is none, the check's state is "not
 * run", and the result false. The driver is beyond what a sandbox can filter: level 1.
 */
bool check_run_on_gpu(Check *check, const char *probe_case, double seconds);

/** A tensor that came back. */
const void *check_got(const Check *check, const char *name, WireType type);

/**
 * Bounds the probe's address space: 2 GiB unless something else is said.
 *
 * @param check the check
 * @param bytes limit; 0 for none, which the simulated GPU needs, since it reserves ranges of
 * addresses
 */
void check_memory(Check *check, size_t bytes);

/** Asks the probe for memory over a step: picture_give() into the tensor "memory". */
void check_want_picture(Check *check);

/** Puts the picture that came back into the row. Shown to the student, never judged. */
void check_picture(Check *check, const char *title, size_t budget);

/** The text that the probe wrote in its last run: feedback, never a verdict. */
const char *check_text(const Check *check);

/**
 * The events of the probe's last run, as they happened: lines of the simulator, or letters by
 * event_tell() (grader/probe_events.h). The submission can have added some, and taken none back. So
 * count the bad ones and take the worst: good ones may be invented.
 */
const char *check_events(const Check *check);

/* ---- comparing ------------------------------------------------------------------------------- */

/* A known mistake is reported only if it explains every comparison of the check in which it is a
   suspect (grader/suspicion.h). So tensors that are right have suspects too. */

/** The result of a known mistake. The same sentence is the same mistake, in whichever tensor. */
typedef struct Suspect {
    const char *sentence; /**< the mistake: "the loss is divided by B * T: ..." */
    const double *values; /**< as many as the tensor has */
} Suspect;

/**
 * Floats against doubles, by the two rules of compare.h. Where no suspect fits, shape_text() says
 * what all the differences of a check look like.
 *
 * @param check     the check; fails if the tensor is wrong
 * @param name      of a wanted WIRE_F32 tensor
 * @param want      (n) right values; where one is inf or NaN, either is right: compare_data()
 * @param n         elements
 * @param tolerance how far apart is equal
 * @param suspects  (suspect_count) known mistakes, most likely first; may be NULL
 * @param suspect_count how many
 * @return whether it is right
 */
bool check_close(Check *check, const char *name, const double *want, size_t n, Tolerance tolerance,
                 const Suspect *suspects, int suspect_count);

/** The same for one of several tensors of a kind, of which a mistake may be made in some alone.
    `scope` names it: "wte.weight". */
bool check_close_in(Check *check, const char *scope, const char *name, const double *want, size_t n,
                    Tolerance tolerance, const Suspect *suspects, int suspect_count);

/** A known mistake in whole numbers. */
typedef struct ExactSuspect {
    const char *sentence;   /**< the mistake */
    const uint64_t *values; /**< as many as the tensor has */
} ExactSuspect;

/** Whole numbers (WIRE_U64) against the right ones, to the last. */
bool check_equal(Check *check, const char *name, const uint64_t *want, size_t n,
                 const ExactSuspect *suspects, int suspect_count);

enum { CHECK_LABEL = 80 };

/** The meaning of number i of a tensor, in words: "window 15: t". @return text, (CHECK_LABEL) */
typedef const char *CheckLabel(size_t i, char *text);

/** The same where the numbers have names of their own. */
bool check_equal_of(Check *check, const char *name, CheckLabel *label, const uint64_t *want,
                    size_t n, const ExactSuspect *suspects, int suspect_count);

/**
 * A comparison that the check makes by itself; each of its known mistakes follows by
 * check_suspect().
 *
 * @param check the check
 * @param right the result
 * @param seen  what is shown where it is wrong; printf format
 * @return right
 */
bool check_compared(Check *check, bool right, const char *seen, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * Notes how near to its limit something came that is right. The largest stands in the record, as
 * "nearest": the same hand-in with other inputs may come nearer.
 *
 * @param check the check
 * @param share the error over its limit; one above 1 is not noted
 */
void check_near(Check *check, double share);

/** Whether a known mistake would give what was compared last. */
void check_suspect(Check *check, const char *sentence, bool fits);

/** The same for each value of another term: `fits` says which would give it (term->count). */
void check_suspect_term(Check *check, const Term *term, const bool *fits);

/** Names checks, with blanks between, on which this one stands: where they are lost, and nothing is
    known here, or only mistakes that are not theirs, the report says "see ...". */
void check_after(Check *check, const char *names);

/**
 * Fails the check, with a sentence for the student.
 *
 * @param check    the check
 * @param sentence likely mistake or what was seen; printf format
 */
void check_fail(Check *check, const char *sentence, ...) __attribute__((format(printf, 2, 3)));

/** Adds to what is shown under the check's row, whatever becomes of it; printf format. */
void check_tell(Check *check, const char *text, ...) __attribute__((format(printf, 2, 3)));

/** How a check has ended so far, and what its last run wrote. */
typedef struct CheckEnd CheckEnd;

/**
 * Sets aside that the last run of the probe has not ended by itself: another one follows, which
 * may show that this is not the check's own fault. After it comes check_settle_end().
 */
CheckEnd *check_set_end_aside(Check *check);

/** Frees it; if it `holds`, the check has ended as it had before, else it goes on. */
void check_settle_end(Check *check, CheckEnd *end, bool holds);

/** Ends a check without points, for lack of something that it needs; `reason` says what. */
void check_not_run(Check *check, const char *reason);

/** Whether the check has lost its points already. */
bool check_lost(const Check *check);

/** Records one passed comparison that the check made without check_close(). */
void check_good(Check *check);

#endif
