/* Tests of a student's, judged by loops that they have not seen. */
#include "grader/labs/01_loop/suite.h"

#include <string.h>

#include "grader/labs/01_loop/term.h"

enum { SUITE_SECONDS = 60, MOST_VARIANTS = 10 };

/* ---- which loops there are ------------------------------------------------------------------- */

/* The deeds of the loops of each kind, by variant: grader/labs/01_loop/loops/step.c has them. */
static const char *const deeds[LOOP_KINDS][MOST_VARIANTS] = {
    [LOOP_RIGHT] = {"is right", "is right, and sums row by row", "is right, and clips by hand",
                    "is right, and sets the gradients to zero twice",
                    "is right, and ticks before the update, with a rate that it asked for before",
                    "is right, and scales the gradients after backward",
                    "is right, and adds the gradients up in two halves",
                    "is right, and rounds its gradients to half precision"},
    [LOOP_CLIP] = {"does not clip", "clips after the update", "clips each value by itself",
                   "clips each tensor by itself", "clips to a larger limit",
                   "clips to 1, whatever the limit is", "scales small gradients up to the limit",
                   "clips by the norm of the step before",
                   "clips each tensor by itself, and then all of them together"},
    [LOOP_ZERO] = {"never sets the gradients to zero",
                   "sets the gradients to zero after steps 2 and 4 only",
                   "sets the gradients to zero after steps 1 and 3 only",
                   "leaves the gradient of one tensor", "makes the gradients smaller, not zero",
                   "sets the gradient of one tensor to zero, and no other",
                   "never sets the gradients to zero, and reports the norm of the first step"},
    [LOOP_MEAN] = {"divides by all targets", "divides by the rows", "takes the mean of row means",
                   "does not divide", "divides twice", "divides by rows times the longest row"},
    [LOOP_RATE] = {"takes the rate of the next step",
                   "takes the rate of the next step and reports that of this one",
                   "takes the rate of the step before", "takes the largest rate in every step",
                   "ticks twice", "never ticks", "takes a part of the rate",
                   "never ticks, and counts the steps by itself",
                   "ticks in steps 1 and 3 only, and counts the steps by itself",
                   "ticks twice in one step and not in the next"},
    [LOOP_NO_TARGETS] = {"divides by 0 where there are no targets",
                         "leaves out a step without targets",
                         "leaves out the update without targets",
                         "leaves out the tick without targets", "has a loss of NaN without targets",
                         "has gradients of NaN without targets, and the right loss",
                         "updates twice where there are no targets",
                         "ticks twice where there are no targets"},
};

static int variants_of(LoopKind kind) {
    int count = 0;
    while (count < MOST_VARIANTS && deeds[kind][count] != NULL) {
        count++;
    }
    return count;
}

/* ---- which of them --------------------------------------------------------------------------- */

Suite suite_new(Check *check) {
    return (Suite){.check = check};
}

static void suite_put(Suite *suite, LoopKind kind, int variant, float amount) {
    CHECK(suite->loops < LOOP_MOST, "more than %d loops", LOOP_MOST);
    suite->loop[suite->loops++] = (LoopSpec){kind, variant, amount};
}

/* The loops that are right in another term, and wrong in this one. */
static void suite_add_of_other_terms(Suite *suite) {
    const Term term = TERM_LOSS;
    CHECK(variants_of(LOOP_NO_TARGETS) == LOOP_OF_A_TERM, "a deed has the number of a term's");
    for (int k = 0; k < term.count; k++) {
        if (k != term.now) {
            suite_put(suite, LOOP_NO_TARGETS, LOOP_OF_A_TERM + k, 0);
        }
    }
}

/* Each variant as it is hardest to see, so that points do not depend on what is drawn. */
void suite_add(Suite *suite, LoopKind kind, int more) {
    int variants = variants_of(kind), drawn = check_int(suite->check, 0, more);
    for (int i = 0; i < variants; i++) {
        suite_put(suite, kind, i, 0);
    }
    for (int i = 0; i < drawn; i++) {
        float amount = (float)check_int(suite->check, 0, 999) / 1000;
        suite_put(suite, kind, check_int(suite->check, 0, variants - 1), amount);
    }
    if (kind == LOOP_NO_TARGETS) {
        suite_add_of_other_terms(suite);
    }
}

void suite_ask(Suite *suite, LoopKind kind) {
    suite->test[suite->tests++] = (int32_t)kind - 1;
}

static void suite_shuffle(Suite *suite) {
    for (int i = suite->loops - 1; i > 0; i--) {
        int j = check_int(suite->check, 0, i);
        LoopSpec other = suite->loop[j];
        suite->loop[j] = suite->loop[i];
        suite->loop[i] = other;
    }
}

/* ---- what is said of them -------------------------------------------------------------------- */

static const char *const test_name[LOOP_TESTS] = {"test_clip", "test_zero", "test_mean",
                                                  "test_rate", "test_no_targets"};

static bool is_of_a_term(LoopSpec spec) {
    return spec.kind == LOOP_NO_TARGETS && spec.variant >= LOOP_OF_A_TERM;
}

static const char *deed_of(LoopSpec spec) {
    return is_of_a_term(spec) ? "has another loss without targets" : deeds[spec.kind][spec.variant];
}

static void suite_tell_wrong(Suite *suite, int loop, int test) {
    LoopSpec spec = suite->loop[loop];
    const char *deed = deed_of(spec), *name = test_name[test];
    if ((int)spec.kind - 1 == test) {
        check_fail(suite->check, "%s() passes a loop that %s", name, deed);
    } else if (spec.kind == LOOP_RIGHT) {
        check_fail(suite->check, "%s() fails a loop that %s", name, deed);
    } else {
        check_fail(suite->check, "%s() fails a loop that %s: that is for %s() to find", name, deed,
                   test_name[spec.kind - 1]);
    }
}

/* Whether loop i comes before j in the list of kinds, so that one hand-in gets one sentence, in
   whatever order its loops come. */
static bool suite_before(const Suite *suite, int i, int j) {
    const LoopSpec *a = &suite->loop[i], *b = &suite->loop[j];
    return a->kind != b->kind ? a->kind < b->kind : a->variant < b->variant;
}

/* The number of wrong verdicts, and the first loop and test of them. */
static int suite_wrong(const Suite *suite, const uint64_t *verdicts, int *loop, int *test) {
    int wrong = 0;
    for (int i = 0; i < suite->loops; i++) {
        for (int k = 0; k < suite->tests; k++) {
            bool right = (int)suite->loop[i].kind - 1 != suite->test[k];
            if (verdicts[i * suite->tests + k] == (right ? 1 : 0)) {
                continue;
            }
            if (wrong++ == 0 || suite_before(suite, i, *loop)) {
                *loop = i;
                *test = suite->test[k];
            }
        }
    }
    return wrong;
}

/* Whether test_no_targets() passes a loop. */
static bool suite_passes(const Suite *suite, const uint64_t *verdicts, int loop) {
    for (int k = 0; k < suite->tests; k++) {
        if (suite->test[k] == (int)LOOP_NO_TARGETS - 1) {
            return verdicts[loop * suite->tests + k] == 1;
        }
    }
    return false;
}

/* Of the loops whose loss without targets is all that may be wrong, the one that passes; -1 where
   none does, or several, or one that is right. */
static int suite_passed_term(const Suite *suite, const uint64_t *verdicts) {
    int passed = -1;
    for (int i = 0; i < suite->loops; i++) {
        LoopSpec spec = suite->loop[i];
        bool of_a_term = is_of_a_term(spec);
        if (!suite_passes(suite, verdicts, i) || (spec.kind == LOOP_NO_TARGETS && !of_a_term)) {
            continue;
        }
        if (!of_a_term || passed >= 0) {
            return -1;
        }
        passed = spec.variant - LOOP_OF_A_TERM;
    }
    return passed;
}

/* Every verdict; each loop was looked at in at least one experiment. */
static void suite_compare(Suite *suite, const uint64_t *verdicts, const uint64_t *experiments) {
    int blind = 0, loop = 0, test = 0, wrong = suite_wrong(suite, verdicts, &loop, &test);
    for (int i = 0; i < suite->loops; i++) {
        blind += experiments[i] == 0;
    }
    if (blind > 0) {
        check_tell(suite->check, "%d of %d loops were judged without an experiment", blind,
                   suite->loops);
        check_fail(suite->check, "a test looks at a loop: loop_try() makes an experiment with it");
    } else if (wrong > 0) {
        const Term term = TERM_LOSS;
        int other = suite_passed_term(suite, verdicts);
        char text[TERM_TEXT];
        check_tell(suite->check, "%d of %d verdicts are wrong", wrong, suite->loops * suite->tests);
        if (other >= 0) {
            check_fail(suite->check, "likely: %s", term_mistake(&term, other, text));
        } else {
            suite_tell_wrong(suite, loop, test);
        }
    } else {
        check_good(suite->check);
    }
}

void suite_judge(Suite *suite) {
    Check *check = suite->check;
    size_t loops = (size_t)suite->loops;
    suite_shuffle(suite);
    check_give(check, "tests", WIRE_I32, suite->test, (size_t)suite->tests);
    check_want(check, "verdicts", WIRE_U64, loops * (size_t)suite->tests);
    Wire *in = wire_new(), *out = wire_new();
    wire_add(in, "loops", WIRE_BYTES, suite->loop, loops * sizeof *suite->loop);
    wire_add(out, "experiments", WIRE_U64, NULL, loops);
    if (check_run_beside(check, "loops", "tests", in, out, SUITE_SECONDS)) {
        suite_compare(suite, check_got(check, "verdicts", WIRE_U64),
                      wire_get(out, "experiments", WIRE_U64, NULL));
    }
    wire_free(in);
    wire_free(out);
}
