/**
 * @file 03_judge.h
 * @brief The judge's part of lab 03: compares what came back.
 * @ingroup grader
 *
 * Each window is judged from where the one before really ended, so that a mistake is counted once:
 * gradients at the weights that came back, weights and moments from the gradients that came back.
 */
#ifndef GRADER_JUDGES_03_JUDGE_H
#define GRADER_JUDGES_03_JUDGE_H

#include "grader/judges/03_mistakes.h"

/* As many windows as there should be, and one step of the optimizer in each. */
static inline bool expect_windows(const Case *it) {
    uint64_t want = (uint64_t)windows_of(it), next = want + 1;
    uint64_t full = (uint64_t)(it->epochs * (it->given.batches / it->steps));
    uint64_t micros = (uint64_t)(it->epochs * it->given.batches);
    ExactSuspect counts[] = {
        {"there is one window too many: report() says stop by returning false", &next},
        {"the last window of an epoch is dropped: it has fewer micro-batches, and steps all the "
         "same",
         &full},
        {"each micro-batch is a window of its own: the optimizer steps once for all of a window",
         &micros}};
    uint64_t ones[MOST_WINDOWS], none[MOST_WINDOWS] = {0}, each[MOST_WINDOWS], some[MOST_WINDOWS];
    if (!check_equal(it->given.check, "windows", &want, 1, counts, 3)) {
        return false;
    }
    for (int i = 0; i < (int)want; i++) {
        int first = first_of(it, i), count = count_of(it, i), valid = 0;
        for (int k = first; k < first + count; k++) {
            valid += it->given.batch[k].valid;
        }
        ones[i] = 1;
        each[i] = (uint64_t)count;
        some[i] = valid > 0;
    }
    ExactSuspect steps[] = {
        {"a window without any valid target is skipped: its gradient is 0, and it steps all the "
         "same",
         some},
        {"optimizer_step() runs after each micro-batch: it comes once, when the window is complete",
         each},
        {"optimizer_step() was not called", none}};
    return check_equal(it->given.check, "optimizer.steps", ones, (size_t)want, steps, 3);
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* (P) right values, and those of the window before once more. */
static inline double *with_the_last(const Case *it, const Window *w) {
    double *values = combine(it, w, right),
           *before = got_all(&it->given, NAME_GRADIENT, w->number - 1);
    for (size_t i = 0; i < it->given.P; i++) {
        values[i] += before[i];
    }
    clip_sum(it, values);
    return values;
}

static inline void expect_gradients(const Case *it, const Window *w) {
    _Static_assert(MISTAKES + 6 <= MOST_SUSPECTS, "no room for all suspects");
    Suspect suspects[MOST_SUSPECTS] = {
        {"all gradients are zero when the optimizer steps: model_zero_grad() comes too early, or "
         "the share is 0, as 1 / tokens is in whole numbers",
         check_doubles(it->given.check, it->given.P)}};
    int count = 1;
    double *want = combine(it, w, right);
    if (it->given.max_norm > 0) {
        for (EarlyClip when = AFTER_EACH; when <= BEFORE_LAST; when++) {
            suspects[count++] = (Suspect){
                "the gradients are clipped before the window is complete: optimizer_clip() comes "
                "once, for the sum of all its micro-batches",
                clipped_early(it, w, when)};
        }
        suspects[count++] = (Suspect){"the gradients are not clipped when the optimizer steps",
                                      combine(it, w, right)};
    }
    clip_sum(it, want);
    for (int i = 0; i < MISTAKES; i++) {
        double *values = combine(it, w, mistakes[i].weight);
        clip_sum(it, values);
        suspects[count++] = (Suspect){mistakes[i].sentence, values};
    }
    if (w->number > 0) {
        suspects[count++] = (Suspect){"the gradients of the window before are still in: "
                                      "model_zero_grad() comes after each update",
                                      with_the_last(it, w)};
    }
    if (has_nan(got_all(&it->given, NAME_GRADIENT, w->number), it->given.P)) {
        check_fail(it->given.check,
                   "likely: 0 / 0: where a window or a micro-batch has no valid target, its "
                   "part of the gradient is 0, not NaN");
    }
    expect_all(&it->given, NAME_GRADIENT, w->number, want, tolerance_of_model(F32), suspects,
               count);
}

/* (P) weights after AdamW's step t by the gradients that came back, after `decays` more decays;
   moments as they were before it, or with `keep` as they are then. */
static inline double *updated(const Case *it, const Window *w, double rate, int t, int decays,
                              bool keep) {
    const Given *given = &it->given;
    size_t bytes = given->P * sizeof(double);
    double *weights = end_to_end(given, given->reference->weight), *weight = weights;
    double *m = check_doubles(given->check, given->P), *v = check_doubles(given->check, given->P);
    memcpy(m, it->m, bytes);
    memcpy(v, it->v, bytes);
    for (int i = 0; i < given->reference->param_count; i++) {
        const Param *param = &given->reference->params[i];
        double decay = param_is_matrix(param) ? (double)given->adamw.weight_decay : 0;
        for (size_t j = 0; j < param->count; j++) {
            *weight++ *= pow(1 - rate * decay, decays);
        }
    }
    adamw_all(given, weights, m, v, got_all(given, NAME_GRADIENT, w->number), rate, t);
    if (keep) {
        memcpy(it->m, m, bytes);
        memcpy(it->v, v, bytes);
    }
    return weights;
}

static inline void expect_update(const Case *it, const Window *w) {
    int number = w->number, micros = w->count;
    for (int i = 0; i < number; i++) {
        micros += count_of(it, i);
    }
    double rate = rate_of(&it->given, number), base = (double)it->given.schedule.learning_rate;
    Suspect suspects[] = {
        {"the optimizer counts micro-batches: its t goes up by one for each window",
         updated(it, w, rate, micros, 0, false)},
        {"weights decay after each micro-batch: they do so once for each window",
         updated(it, w, rate, number + 1, w->count - 1, false)},
        {"the update used the rate of the next window: schedule_tick() comes after it",
         updated(it, w, rate_of(&it->given, number + 1), number + 1, 0, false)},
        {"the schedule ticks for each micro-batch: it ticks once for each window",
         updated(it, w, rate_of(&it->given, micros - w->count), number + 1, 0, false)},
        {"the update used the largest rate: ask schedule_rate() for that of this window",
         updated(it, w, base, number + 1, 0, false)},
        {OTHER_RATE,
         at_own_rate(&it->given, NAME_WEIGHT, number, updated(it, w, 0, number + 1, 0, false),
                     updated(it, w, 1, number + 1, 0, false))},
    };
    double *want = updated(it, w, rate, number + 1, 0, true);
    Tolerance tolerance = tolerance_of_op(F32, 1);
    if (expect_all(&it->given, NAME_M, number, it->m, tolerance, NULL, 0) &&
        expect_all(&it->given, NAME_V, number, it->v, tolerance, NULL, 0)) {
        expect_all(&it->given, NAME_WEIGHT, number, want, tolerance, suspects, 6);
    }
}

static inline void expect_zero(const Case *it, const Window *w) {
    Suspect left = {"the gradients are still there when the window ends: model_zero_grad()",
                    got_all(&it->given, NAME_GRADIENT, w->number)};
    expect_all(&it->given, NAME_LEFT, w->number, check_doubles(it->given.check, it->given.P),
               tolerance_of_model(F32), &left, 1);
}

/* What the reports should say, window by window, and what known mistakes would. */
typedef struct Reports {
    double loss[MOST_WINDOWS], norm[MOST_WINDOWS], after[MOST_WINDOWS], kept[MOST_WINDOWS];
    double wrong[MISTAKES][MOST_WINDOWS];
    uint64_t tokens[MOST_WINDOWS], all[MOST_WINDOWS], last[MOST_WINDOWS];
    double sum; /* of all losses so far */
} Reports;

static inline void add_report(const Case *it, const Window *w, Reports *r) {
    int i = w->number;
    r->sum += loss_of(w, not_divided);
    r->loss[i] = loss_of(w, right);
    r->kept[i] = w->valid > 0 ? r->sum / w->valid : 0;
    r->norm[i] = norm_of(combine(it, w, right), it->given.P);
    r->after[i] = fmin(r->norm[i], (double)it->given.max_norm);
    for (int k = 0; k < MISTAKES; k++) {
        r->wrong[k][i] = loss_of(w, mistakes[k].weight);
    }
    r->tokens[i] = (uint64_t)w->valid;
    r->all[i] = (uint64_t)w->padded;
    r->last[i] = (uint64_t)w->n[w->count - 1];
}

static inline void expect_report(const Case *it, const Reports *r) {
    size_t n = (size_t)windows_of(it);
    double zero[MOST_WINDOWS] = {0};
    Suspect losses[MISTAKES + 2] = {{"the loss is not set in the report", zero},
                                    {"the losses of the windows before are still in", r->kept}};
    for (int k = 0; k < MISTAKES; k++) {
        losses[k + 2] = (Suspect){mistakes[k].sentence, r->wrong[k]};
    }
    Suspect norms[] = {
        {"this is the norm after clipping; optimizer_clip() returns the one before", r->after},
        {"grad_norm is not set in the report", zero}};
    ExactSuspect counts[] = {{"these are all targets; only the valid ones count", r->all},
                             {"these are the targets of the last micro-batch only", r->last}};
    check_close(it->given.check, "loss", r->loss, n, tolerance_of_model(F32), losses, MISTAKES + 2);
    check_close(it->given.check, "grad_norm", r->norm, n, tolerance_of_model(F32), norms, 2);
    check_equal(it->given.check, "tokens", r->tokens, n, counts, 2);
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Runs a case and judges all that it wants back. */
static inline void judge(Case *it, const char *probe_case, int wants) {
    Reports reports = {.sum = 0};
    prepare(it, wants);
    bool ran = check_run(it->given.check, probe_case, SECONDS) && expect_windows(it);
    for (int number = 0; ran && number < windows_of(it); number++) {
        Window window = work_out(it, number);
        add_report(it, &window, &reports);
        if (wants & WANT_GRADIENTS) {
            expect_gradients(it, &window);
        }
        if (wants & WANT_UPDATE) {
            if (wants & WANT_GRADIENTS) {
                expect_update(it, &window);
            }
            go_on(&it->given, number);
        }
        if (wants & WANT_LEFT) {
            expect_zero(it, &window);
        }
    }
    if (ran && (wants & WANT_REPORT)) {
        expect_report(it, &reports);
    }
    reference_free(it->given.reference);
}

#endif
