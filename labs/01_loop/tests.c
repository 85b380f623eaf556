/* Lab 01, judged: a few steps of the student's loop against a model and an AdamW in double. Each
   step is judged from where the one before really ended, so that a mistake is counted once:
   gradients at the weights that came back, weights and moments from the gradients that came back.
 */
#include "grader/judges/01_run.h"

/* ---- task 1 ---------------------------------------------------------------------------------- */

GRADED(01_loop, gradients, 20, "task 1: gradients of the mean loss, ragged rows, dropout") {
    Loop loop = loop_new(check, 1, 0.1f);
    work_out(&loop, 0);
    if (run(&loop, WANT_GRADIENTS, ENOUGH_BACKWARD)) {
        expect_gradients(&loop, 0);
    }
    loop_free(&loop);
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

static void clip_check(Check *check, double share_of_norm) {
    Loop loop = loop_new(check, 1, 0);
    work_out(&loop, 0);
    loop.given.max_norm = (float)(share_of_norm * loop.norm);
    if (run(&loop, WANT_GRADIENTS | WANT_UPDATE, ENOUGH_UPDATE)) {
        expect_gradients(&loop, 0);
    }
    loop_free(&loop);
}

GRADED(01_loop, clip_large, 10, "task 2: gradients above max_grad_norm are scaled down to it") {
    clip_check(check, 0.01);
}

GRADED(01_loop, clip_small, 5, "task 2: gradients below it stay as they are") {
    clip_check(check, 1.7);
}

GRADED(01_loop, update, 15, "task 2: weights, m and v after one step") {
    Loop loop = loop_new(check, 1, 0);
    work_out(&loop, 0);
    if (run(&loop, WANT_GRADIENTS | WANT_UPDATE, ENOUGH_UPDATE)) {
        expect_update(&loop, 0);
    }
    loop_free(&loop);
}

/* ---- task 3 ---------------------------------------------------------------------------------- */

static void expect_steps(Loop *loop) {
    if (!run(loop, WANT_GRADIENTS | WANT_UPDATE | WANT_LEFT, ENOUGH_ALL)) {
        return;
    }
    for (int step = 0; step < loop->given.batches; step++) {
        work_out(loop, step);
        expect_gradients(loop, step);
        expect_update(loop, step);
        expect_zero(loop, step);
        go_on(&loop->given, step);
    }
}

GRADED(01_loop, steps, 15, "tasks 1 to 3: three steps, one after the other") {
    Loop loop = loop_new(check, 3, 0.1f);
    expect_steps(&loop);
    loop_free(&loop);
}

GRADED(01_loop, no_targets, 5,
       "batches with no valid target (gradient 0, and a step) and with one") {
    Loop loop = loop_new(check, 3, 0);
    loop.given.batch[1] = all_masked(random_batch(check, &loop.given.config));
    loop.given.batch[2] = one_target(random_batch(check, &loop.given.config));
    expect_steps(&loop);
    const float *loss = check_got(check, "loss", WIRE_F32);
    if (!(loss[1] == 0)) {
        check_fail(check, "the loss of a batch without any valid target is 0, not %g",
                   (double)loss[1]);
    }
    loop_free(&loop);
}

GRADED(01_loop, schedule, 10, "task 3: warm-up and decay, one tick a step") {
    enum { STEPS = 7 };
    Loop loop = loop_new(check, STEPS, 0);
    loop.given.schedule.warmup_steps = 3;
    loop.given.schedule.max_steps = STEPS + 1;
    if (run(&loop, 0, ENOUGH_ALL)) {
        const float *got = check_got(check, "learning_rate", WIRE_F32);
        double rate[STEPS], next[STEPS], largest[STEPS], zero[STEPS] = {0}, first[STEPS];
        uint64_t ticks[STEPS], none[STEPS] = {0}, twice[STEPS];
        for (int i = 0; i < STEPS; i++) {
            rate[i] = rate_of(&loop.given, i);
            next[i] = rate_of(&loop.given, i + 1);
            largest[i] = (double)loop.given.schedule.learning_rate;
            first[i] = (double)got[0];
            ticks[i] = (uint64_t)i + 1;
            twice[i] = 2 * ticks[i];
        }
        ExactSuspect counts[] = {{"schedule_tick() is missing: one tick for each step", none},
                                 {"the schedule ticks twice in each step", twice}};
        check_equal(check, "schedule.step", ticks, STEPS, counts, 2);
        Suspect rates[] = {
            {"this is the rate of the next step: ask schedule_rate() before schedule_tick()", next},
            {"this is the largest rate: ask schedule_rate() for that of this step", largest},
            {"report.learning_rate is not set", zero},
            {"this is one rate for all steps: ask schedule_rate() in each step", first}};
        check_close(check, "learning_rate", rate, STEPS, tolerance_of_op(F32, 1), rates, 4);
    }
    loop_free(&loop);
}

/* ---- what the step tells --------------------------------------------------------------------- */

GRADED(01_loop, report, 10, "loss, norm before clipping and tokens are reported") {
    enum { LOOP_STEPS = 2, WRONG = 5 };
    Loop loop = loop_new(check, LOOP_STEPS, 0.1f);
    double loss[LOOP_STEPS], norm[LOOP_STEPS], wrong[WRONG][LOOP_STEPS], after[LOOP_STEPS];
    double zero[LOOP_STEPS] = {0};
    uint64_t tokens[LOOP_STEPS], all[LOOP_STEPS];
    work_out(&loop, 0);
    loop.given.max_norm = (float)(0.5 * loop.norm);
    loop.given.drawn = 0;
    if (run(&loop, WANT_UPDATE, ENOUGH_ALL)) {
        check_picture(check, "memory of one step", 0);
        for (int i = 0; i < loop.given.batches; i++) {
            const Batch *batch = &loop.given.batch[i];
            double valid = batch->valid, N = batch->B * batch->T;
            loop.given.reference->config.dropout = 0;
            double sure = reference_pass(loop.given.reference, batch, 0, 0, 0) / valid;
            loop.given.reference->config.dropout = loop.given.config.dropout;
            work_out(&loop, i);
            loss[i] = loop.loss;
            norm[i] = loop.norm;
            after[i] = fmin(loop.norm, (double)loop.given.max_norm);
            wrong[0][i] = loop.loss * valid;
            wrong[1][i] = loop.loss * valid / N;
            wrong[2][i] = loop.loss / valid;
            wrong[3][i] = loop.loss * valid / batch->B;
            wrong[4][i] = sure;
            tokens[i] = (uint64_t)batch->valid;
            all[i] = (uint64_t)(batch->B * batch->T);
            go_on(&loop.given, i);
        }
        Suspect losses[] = {
            {"model_forward() gives the sum of the losses; the report wants their mean", wrong[0]},
            {"the loss is divided by B * T, not by the valid targets", wrong[1]},
            {"the loss is divided by the valid targets twice", wrong[2]},
            {"the loss is divided by the number of sequences, not by the valid targets", wrong[3]},
            {"this is the loss without dropout: model_forward() gives that of the step, "
             "model_evaluate() only looks",
             wrong[4]},
            {"report.loss is not set", zero}};
        Suspect norms[] = {
            {"this is the norm after clipping; optimizer_clip() returns the one before", after},
            {"report.grad_norm is not set", zero}};
        ExactSuspect counts[] = {{"these are all targets; only the valid ones count", all}};
        check_close(check, "loss", loss, LOOP_STEPS, tolerance_of_model(F32), losses, 6);
        check_close(check, "grad_norm", norm, LOOP_STEPS, tolerance_of_model(F32), norms, 2);
        check_equal(check, "tokens", tokens, LOOP_STEPS, counts, 1);
    }
    loop_free(&loop);
}

/* ---- the order of calls ---------------------------------------------------------------------- */

/* Which of its batches a forward pass runs is no matter here. */
static bool is(uint64_t noted, Event event) {
    return noted == (uint64_t)event || (event == EVENT_FORWARD && noted > EVENT_FORWARD);
}

/* The first place of an event in a trace; -1 where it is not. */
static int first_of(const uint64_t *trace, Event event) {
    for (int i = 0; i < TRACE_LENGTH; i++) {
        if (is(trace[i], event)) {
            return i;
        }
    }
    return -1;
}

static int count_of(const uint64_t *trace, Event event) {
    int count = 0;
    for (int i = 0; i < TRACE_LENGTH; i++) {
        count += is(trace[i], event);
    }
    return count;
}

static bool comes_between(const uint64_t *trace, int from, int to, Event event) {
    for (int i = from; i < to; i++) {
        if (is(trace[i], event)) {
            return true;
        }
    }
    return false;
}

/* What is wrong with the order, or NULL. Any order that is right passes: gradients may be zeroed
   more often than needed, norms computed more often. */
static const char *wrong_order(const uint64_t *trace) {
    int backward = first_of(trace, EVENT_BACKWARD), step = first_of(trace, EVENT_STEP);
    if (count_of(trace, EVENT_FORWARD) != 1 || count_of(trace, EVENT_LOOK) != 0) {
        return "a step runs forward once: model_forward() gives the loss and keeps what "
               "model_backward() needs";
    }
    if (count_of(trace, EVENT_BACKWARD) != 1 || backward < first_of(trace, EVENT_FORWARD)) {
        return "model_backward() comes once, after model_forward()";
    }
    if (count_of(trace, EVENT_STEP) != 1 || step < backward) {
        return "optimizer_step() comes once, after model_backward()";
    }
    if (!comes_between(trace, backward, step, EVENT_NORM)) {
        return "optimizer_clip() comes after model_backward() and before optimizer_step()";
    }
    if (comes_between(trace, backward, step, EVENT_ZERO)) {
        return "model_zero_grad() comes between model_backward() and optimizer_step()";
    }
    if (!comes_between(trace, step, TRACE_LENGTH, EVENT_ZERO)) {
        return "model_zero_grad() comes after optimizer_step(): gradients are zero when a step "
               "ends";
    }
    return NULL;
}

GRADED(01_loop, order, 10, "forward, backward, clip, step, zero: in this order") {
    Loop loop = loop_new(check, 2, 0);
    work_out(&loop, 0);
    loop.given.max_norm = (float)(0.001 * loop.norm);
    if (run(&loop, 0, ENOUGH_ALL)) {
        const uint64_t *trace = check_got(check, "trace", WIRE_U64);
        const char *wrong = wrong_order(trace);
        if (wrong == NULL) {
            wrong = wrong_order(trace + TRACE_LENGTH);
        }
        if (wrong != NULL) {
            check_fail(check, "%s", wrong);
        } else {
            check_good(check);
        }
    }
    loop_free(&loop);
}
