/* The gradients of a window, and what mistakes make of them. The contract is in accumulate.h. */
#include "grader/labs/03_accumulate/accumulate.h"

#include "grader/labs/03_accumulate/mistakes.h"

/* Where a clip can come too early. */
typedef enum EarlyClip { AFTER_EACH, BEFORE_EACH, BEFORE_LAST } EarlyClip;

/* (P) the window's gradient where what has been added so far is clipped within the window. */
static double *accumulate_clipped_early(const Windows *windows, const Window *w, EarlyClip when) {
    const Given *given = &windows->given;
    double *values = check_doubles(given->check, given->P), limit = (double)given->max_norm;
    for (int k = 0; k < w->count; k++) {
        if (when == BEFORE_EACH || (when == BEFORE_LAST && k == w->count - 1)) {
            given_clip(given, values, limit);
        }
        window_add(windows, w, weight_right, k, k + 1, values);
        if (when == AFTER_EACH) {
            given_clip(given, values, limit);
        }
    }
    return values;
}

/* (P) right values, and those of the window before once more. */
static double *accumulate_with_the_last(const Windows *windows, const Window *w) {
    const Given *given = &windows->given;
    double *values = windows_scaled(windows, 1, window_gradient(windows, w, weight_right, 0),
                                    given_got_all(given, NAME_GRADIENT, w->number - 1));
    given_clip(given, values, (double)given->max_norm);
    return values;
}

/* (P) the window's sum divided by the valid targets of the epoch's first window. */
static double *accumulate_by_first(const Windows *windows, const Window *w) {
    const Given *given = &windows->given;
    double valid = 0;
    for (int k = 0; k < windows_size(windows, 0); k++) {
        valid += given->batch[k].valid;
    }
    double *values = windows_scaled(windows, weight_over(1, valid),
                                    window_gradient(windows, w, weight_one, 0), NULL);
    given_clip(given, values, (double)given->max_norm);
    return values;
}

/* Whether every gradient is a number of half precision, and not all are 0. */
static bool accumulate_is_half(const double *gradient, size_t count) {
    bool some = false;
    for (size_t i = 0; i < count; i++) {
        if ((double)precision_round(F16, (float)gradient[i]) != gradient[i]) {
            return false;
        }
        some = some || gradient[i] != 0;
    }
    return some;
}

bool accumulate_expect_gradients(const Windows *windows, const Window *w) {
    _Static_assert(ACCUMULATE_MISTAKES + 12 <= MOST_SUSPECTS, "no room for all suspects");
    const Given *given = &windows->given;
    double limit = (double)given->max_norm;
    /* 1 / tokens is a whole number where there is one target. */
    bool one = w->valid == 1;
    const double *right = window_gradient(windows, w, weight_right, limit);
    const double *zero = check_doubles(given->check, given->P);
    bool above_one = norm_of(window_gradient(windows, w, weight_right, 0), given->P) > 1;
    Suspect suspects[MOST_SUSPECTS] = {
        {"all gradients are zero when the optimizer steps: model_zero_grad() comes too early, or "
         "no targets are counted, as data_window_tokens() did not know the window's number of "
         "micro-batches",
         zero},
        {"the share is 0, as 1 / tokens is in whole numbers", one ? right : zero},
        {"a single valid target is taken for none: its share is 1", one ? zero : right}};
    int count = 3;
    if (above_one) { /* else it changes nothing, with this seed */
        suspects[count++] = (Suspect){
            "the gradients are clipped to a norm of 1: the limit is trainer->max_grad_norm, and 0 "
            "is none",
            window_gradient(windows, w, weight_right, 1)};
    }
    if (limit > 0) {
        for (EarlyClip when = AFTER_EACH; when <= BEFORE_LAST; when++) {
            suspects[count++] = (Suspect){
                "the gradients are clipped before the window is complete: optimizer_clip() comes "
                "once, for the sum of all its micro-batches",
                accumulate_clipped_early(windows, w, when)};
        }
        suspects[count++] =
            (Suspect){"the gradients are not clipped to trainer->max_grad_norm when the optimizer "
                      "steps",
                      window_gradient(windows, w, weight_right, 0)};
    } else {
        const double *got = given_got_all(given, NAME_GRADIENT, w->number);
        suspects[count++] =
            (Suspect){"the sum of the gradients is kept in half: gradients of weights are floats, "
                      "whatever the precision",
                      accumulate_is_half(got, given->P) ? got : right};
    }
    for (int i = 0; i < ACCUMULATE_MISTAKES; i++) {
        const AccumulateMistake *mistake = &accumulate_mistakes[i];
        suspects[count++] =
            (Suspect){mistake->sentence, window_gradient(windows, w, mistake->weight, limit)};
    }
    if (w->number > 0) {
        suspects[count++] = (Suspect){"the gradients of the previous window are still in: "
                                      "model_zero_grad() comes after each update",
                                      accumulate_with_the_last(windows, w)};
    }
    if (w->number > 0 && windows->given.max_norm == 0) { /* a clipped one hides its divisor */
        suspects[count++] = (Suspect){"the divisor is that of the epoch's first window: "
                                      "data_window_tokens() is asked for each",
                                      accumulate_by_first(windows, w)};
    }
    bool empty = false;
    for (int k = 0; k < w->count; k++) {
        empty = empty || w->n[k] == 0;
    }
    if (empty && values_have_nan(given_got_all(given, NAME_GRADIENT, w->number), given->P)) {
        check_fail(given->check,
                   "likely: 0 / 0: where a window or a micro-batch has no valid target, its "
                   "part of the gradient is 0, not NaN");
    }
    return given_expect(given, NAME_GRADIENT, w->number, right, tolerance_of_model(F32), suspects,
                        count);
}
