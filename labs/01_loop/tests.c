/* Lab 01, judged: a few steps of the student's loop against a model and an AdamW in double. Each
   step is judged from where the one before really ended, so that a mistake is counted once:
   gradients at the weights that came back, weights and moments from the gradients
   that came back. */
#include <math.h>

#include "grader/labs/01_loop/loop.h"
#include "grader/labs/01_loop/suite.h"
#include "grader/labs/01_loop/term.h"
#include "grader/labs/01_loop/trace.h"

/* ---- task 1 ---------------------------------------------------------------------------------- */

GRADED(01_loop, gradients, "task 1: gradients of the mean loss, ragged rows, dropout") {
    Windows loop = loop_new(check, 1, 0.1f);
    Window step = windows_work_out(&loop, 0);
    if (loop_run(&loop, WANT_GRADIENTS, ENOUGH_BACKWARD)) {
        loop_expect_gradients(&loop, &step);
    }
    windows_free(&loop);
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

/* The limit lies above the gradient of the sum, or below one that is divided twice: whatever the
   batch, every mistake shows. */
static void loop_check_clip(Check *check, bool large) {
    Windows loop = loop_new(check, 1, 0);
    check_after(check, "gradients");
    Window step = windows_work_out(&loop, 0);
    while (!(loop_norm(&loop, &step) > 1.1)) { /* or one that is clipped to 1 is not clipped */
        windows_free(&loop);
        loop = loop_new(check, 1, 0);
        step = windows_work_out(&loop, 0);
    }
    double valid = (double)step.valid, share = large ? 1.5 / valid : 1.5 * valid;
    loop.given.max_norm = (float)(share * loop_norm(&loop, &step));
    if (loop_run(&loop, WANT_GRADIENTS | WANT_UPDATE, ENOUGH_UPDATE)) {
        loop_expect_gradients(&loop, &step);
    }
    windows_free(&loop);
}

GRADED(01_loop, clip_large, "task 2: gradients above max_grad_norm are scaled down to it") {
    loop_check_clip(check, true);
}

GRADED(01_loop, clip_small, "task 2: gradients below it stay as they are") {
    loop_check_clip(check, false);
}

GRADED(01_loop, update, "task 2: weights, m and v after one step") {
    Windows loop = loop_new(check, 1, 0);
    check_after(check, "gradients");
    Window step = windows_work_out(&loop, 0);
    if (loop_run(&loop, WANT_GRADIENTS | WANT_UPDATE, ENOUGH_UPDATE)) {
        loop_expect_update(&loop, &step);
    }
    windows_free(&loop);
}

/* ---- task 3 ---------------------------------------------------------------------------------- */

static bool loop_expect_steps(Windows *loop) {
    if (!loop_run(loop, WANT_GRADIENTS | WANT_UPDATE | WANT_LEFT, ENOUGH_ALL)) {
        return false;
    }
    for (int i = 0; i < loop->given.batches; i++) {
        Window step = windows_work_out(loop, i);
        loop_expect_gradients(loop, &step);
        loop_expect_tick(loop, &step);
        loop_expect_update(loop, &step);
        windows_expect_zero(loop, i);
        given_go_on(&loop->given, i);
    }
    return true;
}

GRADED(01_loop, steps, "tasks 1 to 3: three steps, one after the other") {
    Windows loop = loop_new(check, 3, 0.1f);
    check_after(check, "gradients clip_large clip_small update");
    if (loop_expect_steps(&loop)) {
        loop_expect_settings(&loop);
    }
    windows_free(&loop);
}

/* The loss of a batch that has none. */
static void loop_expect_no_loss(Check *check, double loss) {
    static const double losses[] = TERM_LOSS_EACH;
    const Term term = TERM_LOSS;
    bool fits[TERM_MOST];
    for (int k = 0; k < term.count; k++) {
        fits[k] = loss == losses[k];
    }
    check_compared(check, fits[term.now],
                   "the loss of a batch without any valid target is %g, and %g is right", loss,
                   losses[term.now]);
    check_suspect_term(check, &term, fits);
}

/* The rest of its report: as of any other step. */
static void loop_expect_report_of_none(const Windows *loop) {
    enum { NONE = 1 };
    Check *check = loop->given.check;
    double norm = (double)((const float *)check_got(check, "grad_norm", WIRE_F32))[NONE];
    double rate = (double)((const float *)check_got(check, "learning_rate", WIRE_F32))[NONE];
    uint64_t tokens = ((const uint64_t *)check_got(check, "tokens", WIRE_U64))[NONE];
    uint64_t skipped = ((const uint64_t *)check_got(check, "report.skipped", WIRE_U64))[NONE];
    double right = given_rate(&loop->given, NONE);
    check_compared(check, norm == 0,
                   "the norm of a batch without any valid target is %g, and 0 is right", norm);
    check_compared(
        check, fabs(rate - right) <= 1e-6 * right,
        "the rate of a batch without any valid target is %g, and %g is right: that of its step",
        rate, right);
    check_compared(check, tokens == 0,
                   "the tokens of a batch without any valid target are %llu, and 0 is right",
                   (unsigned long long)tokens);
    check_compared(check, skipped == 0,
                   "a batch without any valid target makes a step, and report.skipped says that it "
                   "makes none");
}

GRADED(01_loop, no_targets, "batches with no valid target (gradient 0, and a step) and with one") {
    Windows loop = loop_new(check, 3, 0);
    loop.given.batch[1] = batch_all_masked(loop_batch(check, &loop.given.config));
    loop.given.batch[2] = batch_one_target(loop_batch(check, &loop.given.config));
    loop_expect_steps(&loop);
    loop_expect_no_loss(check, (double)((const float *)check_got(check, "loss", WIRE_F32))[1]);
    loop_expect_report_of_none(&loop);
    windows_free(&loop);
}

/* That each step updates once, with a rate of 0 as well. */
static void loop_expect_updates(const Windows *loop, const double rate[]) {
    Check *check = loop->given.check;
    for (int i = 0; i < loop->given.batches; i++) {
        int updates = loop_updates(loop_trace(loop, i));
        if (!check_compared(check, updates == 1,
                            "optimizer_step() ran %d times in step %d, whose rate is %g", updates,
                            i + 1, rate[i])) {
            check_fail(check, "%s",
                       updates > 1    ? "optimizer_step() ran twice in this step"
                       : rate[i] != 0 ? "optimizer_step() was not called in this step"
                                      : "a step with a rate of 0 updates as well: the weights "
                                        "stay, and the moments take the gradient");
            return;
        }
    }
}

enum { STEPS = 7, START = 2 }; /* as after a checkpoint: some steps are done */

static void loop_expect_ticks(const Windows *loop) {
    uint64_t ticks[STEPS], none[STEPS], twice[STEPS], own[STEPS], stays[STEPS];
    uint64_t last = (uint64_t)loop->given.schedule.max_steps;
    for (int i = 0; i < STEPS; i++) {
        none[i] = START;
        own[i] = (uint64_t)i + 1;
        ticks[i] = START + own[i];
        twice[i] = START + 2 * own[i];
        stays[i] = ticks[i] < last ? ticks[i] : last;
    }
    ExactSuspect counts[] = {{"trainer->schedule has not ticked: one tick for each step", none},
                             {"the schedule ticks twice in each step", twice},
                             {"trainer->schedule may have seen steps before the first of this "
                              "run: schedule_tick() adds one to them",
                              own},
                             {"the schedule ticks no further than its last step: it ticks once "
                              "in each step",
                              stays}};
    check_equal(loop->given.check, "schedule.step", ticks, STEPS, counts, 4);
}

/* The rate of each step, at the tick where the one before has really left the schedule. */
static void loop_expect_rates(const Windows *loop, double rate[STEPS]) {
    Check *check = loop->given.check;
    const float *got = check_got(check, "learning_rate", WIRE_F32);
    const uint64_t *ticks = check_got(check, "schedule.step", WIRE_U64);
    double next[STEPS], largest[STEPS], zero[STEPS] = {0}, first[STEPS];
    for (int i = 0; i < STEPS; i++) {
        int stands = i > 0 ? (int)ticks[i - 1] : START;
        rate[i] = given_rate(&loop->given, stands);
        next[i] = given_rate(&loop->given, stands + 1);
        largest[i] = (double)loop->given.schedule.learning_rate;
        first[i] = (double)got[0];
    }
    bool other = first[0] != 0 && first[0] != largest[0];
    Suspect rates[] = {{LOOP_RATE_NEXT, next},
                       {LOOP_RATE_LARGEST, largest},
                       {"report.learning_rate is not set", zero},
                       {"this is one rate for all steps: ask schedule_rate() in each step", first}};
    check_close(check, "learning_rate", rate, STEPS, tolerance_of_op(F32, 1), rates, 3 + other);
}

GRADED(01_loop, schedule, "task 3: warm-up, decay and its end, one tick a step") {
    Windows loop = loop_new(check, STEPS, 0);
    loop.option[OPTION_START] = START;
    loop.given.schedule.warmup_steps = START + 3;
    loop.given.schedule.max_steps = START + STEPS - 1; /* the last rate is 0 */
    Window first = windows_work_out(&loop, 0);
    /* A step that clips ticks, too. */
    loop.given.max_norm = (float)(0.9 * loop_norm(&loop, &first));
    if (loop_run(&loop, 0, ENOUGH_ALL)) {
        double rate[STEPS];
        loop_expect_ticks(&loop);
        loop_expect_rates(&loop, rate);
        loop_expect_updates(&loop, rate);
    }
    windows_free(&loop);
}

/* ---- what the step tells --------------------------------------------------------------------- */

/* The norm of what the optimizer saw. */
static double loop_seen_norm(const Windows *loop, int step) {
    return norm_of(given_got_all(&loop->given, NAME_GRADIENT, step), loop->given.P);
}

/* Why the optimizer saw no gradients in the first step; NULL where it saw some. */
static const char *loop_nothing(const Windows *loop) {
    return loop_seen_norm(loop, 0) == 0
               ? loop_no_gradients(loop_trace(loop, 0), loop->given.max_norm)
               : NULL;
}

/* Why a loss is 0. */
static const char *loop_no_loss(const Windows *loop) {
    const char *nothing = loop_nothing(loop);
    return nothing == LOOP_NO_WEIGHT ? nothing : "report.loss is not set";
}

/* Why a norm is 0. */
static const char *loop_no_norm(const Windows *loop) {
    const char *nothing = loop_nothing(loop);
    return nothing != NULL ? nothing
           : loop_norm_too_early(loop_trace(loop, 0))
               ? "the norm was taken before model_backward(), when all gradients were 0"
               : "report.grad_norm is not set";
}

GRADED(01_loop, report, "loss, norm before clipping and tokens are reported") {
    enum { LOOP_STEPS = 2, WRONG = 4 };
    Windows loop = loop_new(check, LOOP_STEPS, 0.1f);
    check_after(check, "gradients");
    double loss[LOOP_STEPS], norm[LOOP_STEPS], wrong[WRONG][LOOP_STEPS], after[LOOP_STEPS];
    double zero[LOOP_STEPS] = {0};
    uint64_t tokens[LOOP_STEPS], all[LOOP_STEPS];
    Window first = windows_work_out(&loop, 0);
    loop.given.max_norm = (float)(0.5 * loop_norm(&loop, &first));
    loop.given.drawn = 0;
    if (loop_run(&loop, WANT_GRADIENTS | WANT_UPDATE, ENOUGH_ALL)) {
        check_picture(check, "memory of one step", 0);
        for (int i = 0; i < loop.given.batches; i++) {
            const Batch *batch = &loop.given.batch[i];
            Window step = windows_work_out(&loop, i);
            loss[i] = window_loss(&step, weight_right);
            norm[i] = loop_norm(&loop, &step);
            after[i] = fmin(norm[i], (double)loop.given.max_norm);
            wrong[0][i] = window_loss(&step, weight_one);
            wrong[1][i] = window_loss(&step, weight_by_padded);
            wrong[2][i] = window_loss(&step, weight_divided_twice);
            wrong[3][i] = window_loss(&step, weight_by_rows);
            tokens[i] = (uint64_t)batch->valid;
            all[i] = (uint64_t)(batch->B * batch->T);
            given_go_on(&loop.given, i);
        }
        Suspect losses[] = {
            {"model_forward() gives the sum of the losses; the report wants their mean", wrong[0]},
            {"the loss is divided by B * T, not by the valid targets", wrong[1]},
            {"the loss is divided by the valid targets twice", wrong[2]},
            {"the loss is divided by the number of sequences, not by the valid targets", wrong[3]},
            {loop_no_loss(&loop), zero}};
        Suspect norms[] = {
            {"this is the norm after clipping; optimizer_clip() returns the one before", after},
            {loop_no_norm(&loop), zero}};
        ExactSuspect counts[] = {{"these are all targets; only the valid ones count", all}};
        check_close(check, "loss", loss, LOOP_STEPS, tolerance_of_model(F32), losses, 5);
        check_close(check, "grad_norm", norm, LOOP_STEPS, tolerance_of_model(F32), norms, 2);
        check_equal(check, "tokens", tokens, LOOP_STEPS, counts, 1);
        windows_expect_unskipped(&loop);
    }
    windows_free(&loop);
}

/* ---- the order of calls ---------------------------------------------------------------------- */

static bool loop_clips(const Windows *loop, int step) {
    return loop_seen_norm(loop, step) <= 1.001 * (double)loop->given.max_norm;
}

/* The mistake in the order of a step's calls, or NULL. */
static const char *loop_order_of(const Windows *loop, int step) {
    const double *left = given_got_all(&loop->given, NAME_LEFT, step);
    bool cleared = norm_of(left, loop->given.P) == 0;
    return loop_wrong_order(loop_trace(loop, step), loop_clips(loop, step), cleared);
}

/* That each step clips, and not the first alone. */
static void loop_expect_clipped(const Windows *loop) {
    for (int i = 0; i < loop->given.batches; i++) {
        bool clipped = check_compared(loop->given.check, loop_clips(loop, i),
                                      "gradients of norm %g come to the optimizer in step %d, "
                                      "max_grad_norm is %g",
                                      loop_seen_norm(loop, i), i + 1, (double)loop->given.max_norm);
        if (!clipped) {
            check_fail(loop->given.check, "%s",
                       i == 0 ? "the norm of all gradients together is above "
                                "trainer->max_grad_norm when the optimizer steps"
                              : "every step clips to trainer->max_grad_norm, which a step leaves "
                                "as it is");
            return;
        }
    }
}

GRADED(01_loop, order, "forward, backward, clip, step, zero: in this order") {
    Windows loop = loop_new(check, 2, 0);
    given_small_gradients(&loop.given); /* a loop may clip only what is above 1 */
    Window step = windows_work_out(&loop, 0);
    loop.given.max_norm = (float)(0.001 * loop_norm(&loop, &step));
    if (loop_run(&loop, WANT_GRADIENTS | WANT_LEFT, ENOUGH_ALL)) {
        const char *wrong = loop_order_of(&loop, 0);
        if (wrong == NULL) {
            wrong = loop_order_of(&loop, 1);
        }
        if (wrong != NULL) {
            check_fail(check, "%s", wrong);
        } else {
            loop_expect_clipped(&loop);
        }
    }
    windows_free(&loop);
}

/* ---- loop_test.c: tests, judged by loops that they have not seen --------------------------- */

/* Both sides count: a test that always says the same earns nothing. */
static void suite_tells(Check *check, LoopKind kind) {
    Suite suite = suite_new(check);
    suite_add(&suite, LOOP_RIGHT, 3);
    suite_add(&suite, kind, 3);
    suite_ask(&suite, kind);
    suite_judge(&suite);
}

GRADED(01_loop, tells_clip, "task 4: test_clip() passes right loops and fails unclipped ones") {
    suite_tells(check, LOOP_CLIP);
}

GRADED(01_loop, tells_zero,
       "task 5: test_zero() passes right loops and fails what leaves gradients") {
    suite_tells(check, LOOP_ZERO);
}

GRADED(01_loop, tells_mean, "task 6: test_mean() passes right loops and fails other divisors") {
    suite_tells(check, LOOP_MEAN);
}

GRADED(01_loop, tells_rate, "task 7: test_rate() passes right loops and fails other rates") {
    suite_tells(check, LOOP_RATE);
}

GRADED(01_loop, tells_no_targets, "task 8: test_no_targets() passes right loops and fails others") {
    suite_tells(check, LOOP_NO_TARGETS);
}

GRADED(01_loop, names, "tasks 4 to 8: of five tests only that of the mistake fails") {
    Suite suite = suite_new(check);
    suite_add(&suite, LOOP_RIGHT, 0);
    for (int kind = LOOP_RIGHT + 1; kind < LOOP_KINDS; kind++) {
        suite_add(&suite, (LoopKind)kind, 0);
        suite_ask(&suite, (LoopKind)kind);
    }
    suite_judge(&suite);
}
