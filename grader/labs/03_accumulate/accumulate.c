#include "grader/labs/03_accumulate/accumulate.h"

#include <math.h>

#include "grader/labs/03_accumulate/mistakes.h"
#include "grader/labs/03_accumulate/more.h"

/* ---- what is given --------------------------------------------------------------------------- */

/* Whether no mistake about the next batch gives the numbers of another one, or the right ones: it
   has more than one valid target, not as many as one before it or all of them, nor the mean, nor
   as many as a window has bytes of 0 that count, one in each micro-batch; and the valid ones of
   all are not as many times their sequences, nor their targets with padding as many times the
   valid ones, as there are micro-batches. */
static bool accumulate_differs(const Windows *windows, const Batch *batch) {
    int all = 0, rows = batch->B, padded = batch->B * batch->T, count = windows->given.batches;
    for (int i = 0; i < count; i++) {
        if (windows->given.batch[i].valid == batch->valid) {
            return false;
        }
        all += windows->given.batch[i].valid;
        rows += windows->given.batch[i].B;
        padded += windows->given.batch[i].B * windows->given.batch[i].T;
    }
    int valid = all + batch->valid;
    return batch->valid > 1 && batch->valid != windows->micros &&
           (count == 0 || valid > rows + 4) && valid != (count + 1) * rows &&
           valid * (count + 1) != padded && valid * windows->micros != padded &&
           (count == 0 || (batch->valid != all && batch->valid * count != all));
}

/* 0 is a byte like others, and no sign of padding: the first input and its target, which counts. */
static void batch_begin_with_zero(Batch *batch) {
    ((int32_t *)batch->tokens)[0] = ((int32_t *)batch->targets)[0] = 0;
}

bool accumulate_add(Windows *windows, int B, int T) {
    enum { TRIES = 100 };
    Given *given = &windows->given;
    for (int i = 0; i < TRIES; i++) {
        Batch batch = batch_uneven(given->check, given->config.V, B, T);
        batch_begin_with_zero(&batch);
        if (accumulate_differs(windows, &batch)) {
            given->batch[given->batches++] = batch;
            return true;
        }
    }
    return false;
}

/* Whether a short last window has as many valid targets a micro-batch as the first one: scaled as a
   full one, and divided by the targets of the first, it would be the same. */
static bool accumulate_ends_alike(const Windows *windows) {
    const Given *given = &windows->given;
    int count = given->batches, size = windows->micros, rest = count % size, first = 0, last = 0;
    for (int k = 0; k < count; k++) {
        first += k < size ? given->batch[k].valid : 0;
        last += k >= count - rest ? given->batch[k].valid : 0;
    }
    return count > size && rest > 0 && last * size == first * rest;
}

Windows accumulate_of(Check *check, ModelConfig config, int batches, int micros) {
    Windows windows = windows_new(check, config, "window", micros);
    while (windows.given.batches < batches) {
        bool small = windows.given.batches % 3 == 0;
        int B = small ? 1 : check_int(check, 3, 4), T = small ? check_int(check, 5, 6) : config.T;
        bool added = accumulate_add(&windows, B, T); /* is there a number of targets for it? */
        if (!added || (windows.given.batches == batches && accumulate_ends_alike(&windows))) {
            windows.given.batches = 0;
        }
    }
    return windows;
}

Windows accumulate_new(Check *check, int batches, int micros, float dropout) {
    ModelConfig config = {.V = 256, .T = 12, .L = 2, .NH = 2, .C = 16, .dropout = dropout};
    return accumulate_of(check, config, batches, micros);
}

void accumulate_give(Windows *windows, int wants) {
    Check *check = windows->given.check;
    size_t count = (size_t)windows_count(windows);
    windows->option[OPTION_MICROS] = windows->micros;
    windows->option[OPTION_EPOCHS] = windows->epochs;
    windows->option[OPTION_STOP] = windows->stop;
    windows_give(windows, wants);
    windows_want_reports(windows);
    check_want(check, "windows", WIRE_U64, 1);
    accumulate_want_more(check);
    check_want(check, "peak", WIRE_U64, 1);
    check_want(check, "optimizer.steps", WIRE_U64, count);
    check_want(check, "open.window", WIRE_U64, count);
    check_want(check, "open.tokens", WIRE_U64, count);
    check_want(check, "sync_gradients", WIRE_U64, (size_t)windows->given.batches);
    check_want(check, "micro", WIRE_U64, (size_t)windows->given.batches);
}

/* ---- how many -------------------------------------------------------------------------------- */

/* Whether a window has a valid target. */
static bool accumulate_has_targets(const Windows *windows, int number) {
    int first = windows_first(windows, number), valid = 0;
    for (int k = first; k < first + windows_size(windows, number); k++) {
        valid += windows->given.batch[k].valid;
    }
    return valid > 0;
}

/* Of each window one step of the optimizer. */
static bool accumulate_expect_steps(const Windows *windows) {
    const Given *given = &windows->given;
    int count = windows_count(windows);
    uint64_t ones[MOST_WINDOWS], twos[MOST_WINDOWS], none[MOST_WINDOWS] = {0};
    uint64_t each[MOST_WINDOWS], some[MOST_WINDOWS];
    for (int i = 0; i < count; i++) {
        ones[i] = 1;
        twos[i] = 2;
        each[i] = (uint64_t)windows_size(windows, i);
        some[i] = accumulate_has_targets(windows, i);
    }
    ExactSuspect steps[] = {
        {"a window without any valid target is skipped: its gradient is 0, and it steps even so",
         some},
        {"optimizer_step() runs after each micro-batch: it comes once, when the window is complete",
         each},
        {"optimizer_step() is called twice for each window", twos},
        {"optimizer_step() was not called", none}};
    return check_equal(given->check, "optimizer.steps", ones, (size_t)count, steps, 4);
}

/* Whether each window that came had one step: else report() does not come after each window, and
   how often it came says nothing of how many windows there were. */
static bool accumulate_step_each(const Windows *windows, uint64_t came) {
    const uint64_t *steps = check_got(windows->given.check, "optimizer.steps", WIRE_U64);
    bool good = true;
    for (int i = 0; i < windows_count(windows) && (uint64_t)i < came; i++) {
        good = good && steps[i] == 1;
    }
    return good;
}

/* Micro-batches that have run forward in a window. */
static int accumulate_ran(const Windows *windows, int number) {
    const uint64_t *trace = (const uint64_t *)check_got(windows->given.check, "trace", WIRE_U64) +
                            number * TRACE_LENGTH;
    int ran = 0;
    for (int i = 0; i < TRACE_LENGTH && trace[i] != EVENT_NONE; i++) {
        ran += trace[i] >= EVENT_FORWARD;
    }
    return ran;
}

/* Whether the last full window of the first epoch has run what is left as well. */
static bool accumulate_takes_the_rest(const Windows *windows) {
    int full = windows->given.batches / windows->micros;
    int rest = windows->given.batches % windows->micros;
    bool takes = full > 0 && rest > 0;
    for (int i = 0; i < full && takes; i++) {
        takes = accumulate_ran(windows, i) == windows->micros + (i == full - 1 ? rest : 0);
    }
    return takes;
}

const char accumulate_stops[] =
    "training ends with the schedule, or with a window whose update was skipped: train_epoch() "
    "goes on until the data end, or report() says stop";

bool accumulate_expect_count(const Windows *windows) {
    int batches = windows->given.batches;
    uint64_t want = (uint64_t)windows_count(windows), next = want + 1;
    uint64_t full = (uint64_t)(windows->epochs * (batches / windows->micros));
    uint64_t micros = (uint64_t)(windows->epochs * batches);
    full = full < want ? full : want; /* report() stops before the last: none is dropped */
    /* Where as many are left as if the last were dropped, the check's sizes tell nothing of either;
       nor of a window too large where one is missing, which may be the last. */
    uint64_t lossy =
        (uint64_t)(windows->epochs * ((batches + windows->micros) / (windows->micros + 1)));
    uint64_t first = (uint64_t)windows->epochs, max = (uint64_t)windows->given.schedule.max_steps;
    uint64_t came = *(const uint64_t *)check_got(windows->given.check, "windows", WIRE_U64);
    int count = 0;
    ExactSuspect counts[6];
    if (!accumulate_step_each(windows, came)) {
        return check_equal(windows->given.check, "windows", &want, 1, NULL, 0) &&
               accumulate_expect_steps(windows);
    }
    if (accumulate_takes_the_rest(windows)) {
        check_equal(windows->given.check, "windows", &want, 1, NULL, 0);
        check_fail(
            windows->given.check,
            "what is left at the end of an epoch is put into the window before: a window has "
            "`micros` micro-batches at most, and the last one those that are left");
        return false;
    }
    if (lossy != full) {
        counts[count++] = (ExactSuspect){
            "the last window of an epoch is dropped: it has fewer micro-batches, and steps even so",
            &full};
    }
    counts[count++] = (ExactSuspect){
        "each micro-batch is a window of its own: the optimizer steps once for all of a window",
        &micros};
    counts[count++] = (ExactSuspect){
        "only the first window of an epoch is run: go on until none can be opened", &first};
    if (max < want) {
        counts[count++] = (ExactSuspect){accumulate_stops, &max};
    }
    if (windows->stop > 0) {
        counts[count++] = (ExactSuspect){
            "there is one window too many: report() says stop by returning false", &next};
    }
    if (lossy != full && lossy + 1 != want) {
        counts[count++] =
            (ExactSuspect){"a window takes a micro-batch more than `micros`: it has too many, or "
                           "one is lost after it, as sync_gradients is looked at too late",
                           &lossy};
    }
    return check_equal(windows->given.check, "windows", &want, 1, counts, count) &&
           accumulate_expect_steps(windows);
}

const char accumulate_none_counted[] =
    "no targets are counted: data_window_tokens() wants the window's number of micro-batches, "
    "which must be known by then";

bool accumulate_expect_ticks(const Windows *windows) {
    uint64_t ticks[MOST_WINDOWS], micros[MOST_WINDOWS],
        none[MOST_WINDOWS] = {0}, late[MOST_WINDOWS], twice[MOST_WINDOWS], both[MOST_WINDOWS];
    uint64_t some[MOST_WINDOWS], to_max[MOST_WINDOWS], with_targets = 0;
    uint64_t max = (uint64_t)windows->given.schedule.max_steps;
    int count = windows_count(windows), done = 0;
    for (int i = 0; i < count; i++) {
        done += windows_size(windows, i);
        ticks[i] = (uint64_t)i + 1;
        late[i] = (uint64_t)i;
        twice[i] = 2 * ticks[i];
        micros[i] = (uint64_t)done;
        both[i] = micros[i] + ticks[i];
        with_targets += accumulate_has_targets(windows, i);
        some[i] = with_targets;
        to_max[i] = ticks[i] < max ? ticks[i] : max;
    }
    ExactSuspect counts[] = {
        {"the schedule ticks for each micro-batch: it ticks once for each window", micros},
        {"the schedule ticks for each micro-batch: it ticks once for each window", both},
        {"trainer->schedule has not ticked: one tick for each window", none},
        {"the tick comes after report(), which wants to see it", late},
        {"the schedule ticks twice for each window", twice},
        {"the schedule does not tick for a window without any valid target, which steps as well",
         some},
        {"the schedule ticks no further than its last step: it ticks once for each window",
         to_max}};
    return check_equal(windows->given.check, "schedule.step", ticks, (size_t)count, counts, 7);
}

void accumulate_expect_rates(const Windows *windows) {
    const Given *given = &windows->given;
    const float *got = check_got(given->check, "learning_rate", WIRE_F32);
    double rate[MOST_WINDOWS], next[MOST_WINDOWS], by_micro[MOST_WINDOWS];
    double zero[MOST_WINDOWS] = {0}, first[MOST_WINDOWS];
    int count = windows_count(windows), done = 0;
    for (int i = 0; i < count; i++) {
        rate[i] = given_rate(given, i);
        next[i] = given_rate(given, i + 1);
        by_micro[i] = given_rate(given, done);
        first[i] = (double)got[0];
        done += windows_size(windows, i);
    }
    Suspect rates[] = {
        {"this is the rate of the next window: the report has that which the update used", next},
        {"the schedule has ticked for each micro-batch", by_micro},
        {"learning_rate is not set in the report", zero},
        {"this is one rate for all windows: ask schedule_rate() in each window", first}};
    check_close(given->check, "learning_rate", rate, (size_t)count, tolerance_of_op(F32, 1), rates,
                4);
}

/* ---- updates --------------------------------------------------------------------------------- */

/* (P) the weights after `decays` more decays. */
static double *accumulate_decayed(const Windows *windows, double rate, int decays) {
    const Given *given = &windows->given;
    double *weights = windows_weights(windows), *weight = weights;
    for (int i = 0; i < given->reference->param_count; i++) {
        const Param *param = &given->reference->params[i];
        double decay = param_is_matrix(param) ? (double)given->adamw.weight_decay : 0;
        for (size_t j = 0; j < param->count; j++) {
            *weight++ *= pow(1 - rate * decay, decays);
        }
    }
    return weights;
}

/* Where the schedule has ticked wrongly, that is the mistake, and the rate what follows from it. */
static void accumulate_expect_update(Windows *windows, const Window *w, bool ticked) {
    const Given *given = &windows->given;
    int i = w->number, t = i + 1, before = 0;
    for (int k = 0; k < i; k++) {
        before += windows_size(windows, k);
    }
    double rate = given_rate(given, i), largest = (double)given->schedule.learning_rate;
    const double *weights = windows_weights(windows);
    const double *decayed = accumulate_decayed(windows, rate, w->count - 1);
    Suspect suspects[] = {
        {"the optimizer counts micro-batches: its t goes up by one for each window",
         windows_updated(windows, i, weights, rate, before + w->count, false)},
        {"weights decay after each micro-batch: they do so once for each window",
         windows_updated(windows, i, decayed, rate, t, false)},
        {"the update used the rate of the next window: schedule_tick() comes after it",
         windows_updated(windows, i, weights, given_rate(given, i + 1), t, false)},
        {"the schedule ticks for each micro-batch: it ticks once for each window",
         windows_updated(windows, i, weights, given_rate(given, before), t, false)},
        {"the update used the largest rate: ask schedule_rate() for that of this window",
         windows_updated(windows, i, weights, largest, t, false)},
        windows_other_rate(windows, i, NAME_WEIGHT, weights),
    };
    double *want = windows_updated(windows, i, weights, rate, t, true);
    if (windows_expect_moments(windows, i, NULL, 0) && ticked) {
        given_expect(given, NAME_WEIGHT, i, want, tolerance_of_op(F32, 1), suspects, 6);
    }
}

/* ---- reports --------------------------------------------------------------------------------- */

/* The right reports, window by window, and those of known mistakes. */
typedef struct Reports {
    double loss[MOST_WINDOWS], norm[MOST_WINDOWS], after[MOST_WINDOWS], kept[MOST_WINDOWS];
    double wrong[ACCUMULATE_MISTAKES][MOST_WINDOWS];
    uint64_t tokens[MOST_WINDOWS], all[MOST_WINDOWS], last[MOST_WINDOWS], to_empty[MOST_WINDOWS];
    uint64_t next[MOST_WINDOWS];
    double sum; /* of all losses so far in the epoch */
} Reports;

static void reports_add(Reports *r, const Windows *windows, const Window *w) {
    int i = w->number;
    r->sum = (w->first > 0 ? r->sum : 0) + window_loss(w, weight_one);
    r->loss[i] = window_loss(w, weight_right);
    r->kept[i] = w->valid > 0 ? r->sum / w->valid : 0;
    r->norm[i] = norm_of(window_gradient(windows, w, weight_right, 0), windows->given.P);
    r->after[i] = fmin(r->norm[i], (double)windows->given.max_norm);
    for (int k = 0; k < ACCUMULATE_MISTAKES; k++) {
        r->wrong[k][i] = window_loss(w, accumulate_mistakes[k].weight);
    }
    r->tokens[i] = (uint64_t)w->valid;
    r->all[i] = (uint64_t)w->padded;
    r->next[i] = (uint64_t)(w->valid + w->next);
    r->last[i] = (uint64_t)w->n[w->count - 1];
    r->to_empty[i] = 0;
    for (int k = 0; k < w->count && w->n[k] > 0; k++) {
        r->to_empty[i] += (uint64_t)w->n[k];
    }
}

/* Whether losses and norms are all 0. */
static bool reports_are_empty(Check *check, size_t n) {
    const float *loss = check_got(check, "loss", WIRE_F32);
    const float *norm = check_got(check, "grad_norm", WIRE_F32);
    for (size_t i = 0; i < n; i++) {
        if (loss[i] != 0 || norm[i] != 0) {
            return false;
        }
    }
    return true;
}

static bool reports_expect(const Reports *r, const Windows *windows) {
    Check *check = windows->given.check;
    size_t n = (size_t)windows_count(windows);
    double zero[MOST_WINDOWS] = {0};
    const char *empty = reports_are_empty(check, n)
                            ? "loss and norm are 0: the report is not filled, or the window counts "
                              "no targets, and all is multiplied by 0"
                            : NULL;
    Suspect losses[ACCUMULATE_MISTAKES + 2] = {
        {empty != NULL ? empty : "the loss in the report is 0", zero},
        {"the losses of earlier windows are still in", r->kept}};
    for (int k = 0; k < ACCUMULATE_MISTAKES; k++) {
        losses[k + 2] = (Suspect){accumulate_mistakes[k].sentence, r->wrong[k]};
    }
    Suspect norms[] = {
        {"this is the norm of clipped gradients: optimizer_clip() comes once for a window, and "
         "returns the norm before it clips",
         r->after},
        {empty != NULL ? empty : "grad_norm is not set in the report", zero}};
    ExactSuspect counts[] = {{"these are all targets; only the valid ones count", r->all},
                             {"these are the targets of the last micro-batch only", r->last},
                             {accumulate_one_too_many, r->next},
                             {accumulate_counts_to_empty, r->to_empty}};
    bool right = check_close(check, "loss", r->loss, n, tolerance_of_model(F32), losses,
                             ACCUMULATE_MISTAKES + 2);
    right = check_close(check, "grad_norm", r->norm, n, tolerance_of_model(F32), norms, 2) && right;
    right = check_equal(check, "tokens", r->tokens, n, counts, 4) && right;
    return windows_expect_unskipped(windows) && right;
}

void accumulate_expect_no_loss(Check *check, int number) {
    if (*(const uint64_t *)check_got(check, "windows", WIRE_U64) <= (uint64_t)number) {
        return; /* there has been no such window */
    }
    float loss = ((const float *)check_got(check, "loss", WIRE_F32))[number];
    if (isnan(loss)) {
        check_fail(check, "the loss of a window without any valid target is 0, not NaN");
    }
    check_compared(check, loss == 0, "window %d has no valid target, and its loss is %g, not 0",
                   number + 1, (double)loss);
}

/* ---- the whole of a check -------------------------------------------------------------------- */

/* Whether its gradients are right, or not wanted. */
static bool accumulate_judge_window(Windows *windows, const Window *w, int wants, bool ticked) {
    bool right = !(wants & WANT_GRADIENTS) || accumulate_expect_gradients(windows, w);
    if (wants & WANT_UPDATE) {
        if (wants & WANT_GRADIENTS) {
            accumulate_expect_update(windows, w, ticked);
        }
        given_go_on(&windows->given, w->number);
    }
    if (wants & WANT_LEFT) {
        windows_expect_zero(windows, w->number);
    }
    return right;
}

bool accumulate_judge(Windows *windows, const char *probe_case, int wants) {
    Reports reports = {.sum = 0};
    accumulate_give(windows, wants);
    bool ran =
        check_run(windows->given.check, probe_case, SECONDS) && accumulate_expect_count(windows);
    bool ticked = !ran || !(wants & WANT_UPDATE) || accumulate_expect_ticks(windows);
    bool good = ran, right = ran;
    for (int i = 0; ran && i < windows_count(windows); i++) {
        Window window = windows_work_out(windows, i);
        reports_add(&reports, windows, &window);
        good = accumulate_judge_window(windows, &window, wants, ticked) && good;
    }
    if (ran && (wants & WANT_REPORT)) {
        right = reports_expect(&reports, windows);
        if (ticked) {
            accumulate_expect_rates(windows);
            accumulate_expect_skipped(windows);
        }
        if (windows->stop > 0 && right && accumulate_expect_position(windows)) {
            accumulate_expect_rest(windows); /* else windows may have had another size */
        }
    }
    windows_free(windows);
    return good && right;
}
