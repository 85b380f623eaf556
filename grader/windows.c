/* Windows of micro-batches in a judge: inputs, the right results in double, comparison. The
   contract is in windows.h. */
#include "grader/windows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "grader/draws.h"

Windows windows_new(Check *check, ModelConfig config, const char *when, int micros) {
    Windows windows = {.given = given_new(check, config, when),
                       .micros = micros,
                       .epochs = 1,
                       .option = {[OPTION_GPU] = check_on_gpu()}};
    windows.m = check_doubles(check, windows.given.P);
    windows.v = check_doubles(check, windows.given.P);
    return windows;
}

void windows_free(Windows *windows) {
    reference_free(windows->given.reference);
}

static int windows_per_epoch(const Windows *windows) {
    return (windows->given.batches + windows->micros - 1) / windows->micros;
}

int windows_count(const Windows *windows) {
    return windows->stop > 0 ? windows->stop : windows->epochs * windows_per_epoch(windows);
}

int windows_first(const Windows *windows, int number) {
    return number % windows_per_epoch(windows) * windows->micros;
}

int windows_size(const Windows *windows, int number) {
    int left = windows->given.batches - windows_first(windows, number);
    return left < windows->micros ? left : windows->micros;
}

void windows_give(Windows *windows, int wants) {
    const Given *given = &windows->given;
    int count = windows_count(windows);
    windows->option[OPTION_WANTS] = wants;
    given_give(given);
    check_give(given->check, "options", WIRE_I32, windows->option, WINDOW_OPTIONS);
    check_want(given->check, "grad_norm", WIRE_F32, (size_t)count);
    check_want(given->check, "learning_rate", WIRE_F32, (size_t)count);
    if (wants & WANT_GRADIENTS) {
        given_want(given, NAME_GRADIENT, count);
    }
    if (wants & WANT_UPDATE) {
        given_want(given, NAME_WEIGHT, count);
        given_want(given, NAME_M, count);
        given_want(given, NAME_V, count);
    }
    if ((wants & WANT_UPDATE) && given->config.precision != F32) {
        given_want(given, NAME_MASTER, count);
    }
    if (wants & WANT_LEFT) {
        given_want(given, NAME_LEFT, count);
    }
}

void windows_want_reports(const Windows *windows) {
    Check *check = windows->given.check;
    size_t count = (size_t)windows_count(windows);
    check_want(check, "loss", WIRE_F32, count);
    check_want(check, "tokens", WIRE_U64, count);
    check_want(check, "report.skipped", WIRE_U64, count);
    check_want(check, "schedule.step", WIRE_U64, count);
    check_want(check, "trace", WIRE_U64, count * TRACE_LENGTH);
}

/* ---- a window in double ---------------------------------------------------------------------- */

double weight_over(double a, double b) {
    return b > 0 ? a / b : 0;
}

double weight_right(const Window *w, int k) {
    (void)k;
    return weight_over(1, w->valid);
}

double weight_one(const Window *w, int k) {
    (void)w, (void)k;
    return 1;
}

double weight_divided_twice(const Window *w, int k) {
    return weight_right(w, k) * weight_right(w, k);
}

double weight_by_padded(const Window *w, int k) {
    (void)k;
    return 1 / w->padded;
}

double weight_by_rows(const Window *w, int k) {
    (void)k;
    return 1 / w->rows;
}

Window windows_work_out(Windows *windows, int number) {
    Given *given = &windows->given;
    Window window = {.number = number,
                     .first = windows_first(windows, number),
                     .count = windows_size(windows, number),
                     .micros = windows->micros};
    for (int i = window.first; i < given->batches; i++) {
        window.left += given->batch[i].valid;
    }
    if (window.first + window.count < given->batches) {
        window.next = given->batch[window.first + window.count].valid;
    }
    for (int k = 0; k < window.count; k++) {
        const Batch *batch = &given->batch[window.first + k];
        reference_zero_grad(given->reference);
        window.loss[k] = given_pass(given, batch, 1);
        window.sum[k] = given_end_to_end(given, given->reference->grad);
        window.n[k] = batch->valid;
        window.valid += batch->valid;
        window.padded += batch->B * batch->T;
        window.rows += batch->B;
    }
    return window;
}

void window_add(const Windows *windows, const Window *w, Weight *weight, int from, int to,
                double *values) {
    for (int k = from; k < to; k++) {
        double factor = weight(w, k);
        for (size_t i = 0; i < windows->given.P; i++) {
            values[i] += factor * w->sum[k][i];
        }
    }
}

double *window_gradient(const Windows *windows, const Window *w, Weight *weight, double limit) {
    double *values = check_doubles(windows->given.check, windows->given.P);
    window_add(windows, w, weight, 0, w->count, values);
    given_clip(&windows->given, values, limit);
    return values;
}

double window_loss(const Window *w, Weight *weight) {
    double loss = 0;
    for (int k = 0; k < w->count; k++) {
        loss += weight(w, k) * w->loss[k];
    }
    return loss;
}

double *windows_scaled(const Windows *windows, double factor, const double *values,
                       const double *more) {
    double *scaled = check_doubles(windows->given.check, windows->given.P);
    for (size_t i = 0; i < windows->given.P; i++) {
        scaled[i] = factor * values[i] + (more != NULL ? more[i] : 0);
    }
    return scaled;
}

/* ---- comparing ------------------------------------------------------------------------------- */

bool windows_stepped(const Windows *windows, int number, const char *sentence, ...) {
    bool stepped = draw_now() != NULL || given_came_back(&windows->given, NAME_GRADIENT, number);
    if (!stepped) {
        char text[400];
        va_list values;
        va_start(values, sentence);
        vsnprintf(text, sizeof text, sentence, values);
        va_end(values);
        check_fail(windows->given.check, "%s", text);
    }
    return stepped;
}

double *windows_weights(const Windows *windows) {
    return given_end_to_end(&windows->given, windows->given.reference->weight);
}

double *windows_updated(Windows *windows, int number, const double *weights, double rate, int t,
                        bool keep) {
    const Given *given = &windows->given;
    double *after = windows_scaled(windows, 1, weights, NULL);
    double *m = windows_scaled(windows, 1, windows->m, NULL);
    double *v = windows_scaled(windows, 1, windows->v, NULL);
    given_adamw(given, after, m, v, given_got_all(given, NAME_GRADIENT, number), rate, t);
    if (keep) {
        windows->m = m;
        windows->v = v;
    }
    return after;
}

Suspect windows_other_rate(Windows *windows, int number, const char *name, const double *weights) {
    const double *at_zero = windows_updated(windows, number, weights, 0, number + 1, false);
    const double *at_one = windows_updated(windows, number, weights, 1, number + 1, false);
    return (Suspect){OTHER_RATE, given_at_own_rate(&windows->given, name, number, at_zero, at_one)};
}

bool windows_expect_moments(const Windows *windows, int number, const Suspect *suspects,
                            int count) {
    Tolerance tolerance = tolerance_of_op(F32, 1);
    bool right =
        given_expect(&windows->given, NAME_M, number, windows->m, tolerance, suspects, count);
    return right && given_expect(&windows->given, NAME_V, number, windows->v, tolerance, NULL, 0);
}

void windows_expect_zero(const Windows *windows, int number) {
    const Given *given = &windows->given;
    char sentence[100];
    snprintf(sentence, sizeof sentence,
             "the gradients are still there when the %s ends: model_zero_grad()", given->when);
    Suspect left = {sentence, given_got_all(given, NAME_GRADIENT, number)};
    given_expect(given, NAME_LEFT, number, check_doubles(given->check, given->P),
                 tolerance_of_model(F32), &left, 1);
}

bool windows_expect_unskipped(const Windows *windows) {
    uint64_t none[WINDOW_BATCHES] = {0}, each[WINDOW_BATCHES];
    int count = windows_count(windows);
    CHECK(count <= WINDOW_BATCHES, "%d windows", count);
    for (int i = 0; i < count; i++) {
        each[i] = 1;
    }
    char sentence[100];
    snprintf(sentence, sizeof sentence,
             "report.skipped says of a %s with an update that it has none", windows->given.when);
    ExactSuspect always = {sentence, each};
    return check_equal(windows->given.check, "report.skipped", none, (size_t)count, &always, 1);
}
