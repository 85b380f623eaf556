/* Lab 03, judged: windows of micro-batches against a model in double (grader/windows.h). What a
   check gives and how what comes back is compared is in grader/labs/03_accumulate/accumulate.c,
   what known mistakes would give in mistakes.c beside it. */
#include <math.h>

#include "grader/labs/03_accumulate/accumulate.h"
#include "grader/labs/03_accumulate/mistakes.h"
#include "grader/labs/03_accumulate/more.h"
#include "grader/labs/03_accumulate/term.h"

enum { EVERYTHING = WANT_GRADIENTS | WANT_UPDATE | WANT_LEFT };

/* A limit so far below the norm of every window that is not empty that it clips mistaken sums too:
   then those that differ by a factor are all hidden by it, whatever was drawn. */
static float accumulate_clipping_norm(Windows *windows) {
    double least = (double)INFINITY;
    for (int i = 0; i < windows_count(windows); i++) {
        Window window = windows_work_out(windows, i);
        double *gradient = window_gradient(windows, &window, weight_right, 0);
        double norm = norm_of(gradient, windows->given.P);
        least = norm > 0 ? fmin(least, norm) : least;
    }
    windows->given.drawn = 0;
    return (float)(0.05 * least);
}

GRADED(03_accumulate, by_hand, "task 1: the gradient of one window, ragged, with dropout") {
    Windows windows = accumulate_new(check, 4, 4, 0.1f);
    accumulate_judge(&windows, "by_hand", WANT_GRADIENTS);
}

/* A micro-batch that has no valid target. */
static void accumulate_mask(Windows *windows, int batch) {
    Given *given = &windows->given;
    given->batch[batch] = batch_all_masked(batch_uneven(given->check, given->config.V, 2, 7));
}

/* Of five windows the second has an empty micro-batch in its middle, the third nothing else, the
   fourth one at its start; the last is one micro-batch with one target, when the schedule has
   ended. */
GRADED(03_accumulate, by_hand_steps, "task 1: windows, clipped, some empty; weights, m and v") {
    Windows windows = accumulate_new(check, 8, 3, 0);
    Given *given = &windows.given;
    static const int empty[] = {4, 6, 7, 8, 9};
    given_small_gradients(given); /* a window may clip only what is above 1 */
    given->batch[10] = given->batch[6];
    given->batch[11] = given->batch[7];
    given->batch[12] = batch_one_target(batch_uneven(check, given->config.V, 2, 6));
    given->batches = 13;
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        accumulate_mask(&windows, empty[i]);
    }
    given->schedule.warmup_steps = 2;
    given->schedule.max_steps = 4;
    given->max_norm = accumulate_clipping_norm(&windows);
    windows.option[OPTION_MORE] = 1;
    bool right = accumulate_judge(&windows, "by_hand", EVERYTHING | WANT_REPORT);
    accumulate_expect_no_loss(check, 2);
    if (right) {
        accumulate_expect_long(check);
    }
}

/* The meaning of accumulator->micro. */
typedef enum MicroRule { MICRO_DONE, MICRO_TO_COME, MICRO_NEXT } MicroRule;

/* accumulator->micro by that rule, after each micro-batch. */
static void accumulate_micros_by(MicroRule rule, const Windows *windows, uint64_t *micro) {
    for (int i = 0; i < windows_count(windows); i++) {
        int size = windows_size(windows, i);
        for (int done = 1; done <= size; done++) {
            int is = rule == MICRO_DONE ? done : rule == MICRO_NEXT ? done + 1 : size - done;
            *micro++ = (uint64_t)is;
        }
    }
}

/* The rule of this term, or the term whose rule it is. */
static void accumulate_expect_micros(const Windows *windows) {
    static const MicroRule rules[] = TERM_MICRO_EACH;
    const Term term = TERM_MICRO;
    uint64_t want[MOST_BATCHES], none[MOST_BATCHES] = {0}, others[TERM_MOST][MOST_BATCHES];
    char text[TERM_MOST][TERM_TEXT];
    ExactSuspect suspects[TERM_MOST] = {{"accumulator->micro stays 0", none}};
    accumulate_micros_by(TERM_MICRO_IS, windows, want);
    for (int k = 0, at = 1; k < term.count; k++) {
        accumulate_micros_by(rules[k], windows, others[k]);
        if (k != term.now) {
            suspects[at++] = (ExactSuspect){term_mistake(&term, k, text[k]), others[k]};
        }
    }
    check_equal(windows->given.check, "micro", want, (size_t)windows->given.batches, suspects,
                term.count);
}

/* The window that accumulator_open() finds, and after which micro-batches
   the gradients sync. */
GRADED(03_accumulate, window, "task 2: size and targets of each window, and where it ends") {
    Windows windows = accumulate_new(check, check_int(check, 2, 3) * 3 + 2, 3, 0);
    uint64_t size[MOST_WINDOWS], steps[MOST_WINDOWS], tokens[MOST_WINDOWS], rest[MOST_WINDOWS];
    uint64_t none[MOST_WINDOWS] = {0}, turned[MOST_WINDOWS];
    uint64_t next[MOST_WINDOWS], first[MOST_WINDOWS], sync[MOST_BATCHES] = {0}, early[MOST_BATCHES],
                                                      all[MOST_WINDOWS];
    accumulate_give(&windows, 0);
    if (check_run(check, "accumulator", SECONDS) && accumulate_expect_count(&windows)) {
        for (int i = 0; i < windows_count(&windows); i++) {
            Window w = windows_work_out(&windows, i);
            size[i] = (uint64_t)w.count;
            steps[i] = (uint64_t)w.micros;
            turned[i] = (uint64_t)windows_size(&windows, windows_count(&windows) - 1 - i);
            tokens[i] = (uint64_t)w.valid;
            rest[i] = (uint64_t)w.left;
            next[i] = (uint64_t)(w.valid + w.next);
            first[i] = (uint64_t)w.n[0];
            all[i] = (uint64_t)w.padded;
            sync[w.first + w.count - 1] = 1;
        }
        for (int i = 0; i < windows.given.batches; i++) {
            early[i] = i % windows.micros == 0;
        }
        size_t count = (size_t)windows_count(&windows);
        ExactSuspect sizes[] = {
            {"the last window has fewer micro-batches: data_batches_left()", steps},
            {"the last window of an epoch is the short one, not the first", turned}};
        ExactSuspect counts[] = {
            {accumulate_none_counted, none},
            {accumulate_rest_of_epoch, rest},
            {accumulate_one_too_many, next},
            {"these are the targets of the window's first micro-batch", first},
            {"padding and masked targets are counted: data_window_tokens() knows the valid ones",
             all}};
        ExactSuspect syncs[] = {
            {"off by one: a window ends after its last micro-batch, not after the next one's first",
             early}};
        check_equal(check, "open.window", size, count, sizes, 2);
        check_equal(check, "open.tokens", tokens, count, counts, 5);
        check_equal(check, "sync_gradients", sync, (size_t)windows.given.batches, syncs, 1);
        accumulate_expect_micros(&windows);
    }
    windows_free(&windows);
}

GRADED(03_accumulate, accumulate, "task 2: gradients; one micro-batch has no valid target") {
    Windows windows = accumulate_new(check, 8, 3, 0.1f);
    /* The last of all: to skip it is right, but gives those after it other dropout masks. */
    windows.given.batch[7] = batch_all_masked(batch_uneven(check, windows.given.config.V, 2, 9));
    accumulate_judge(&windows, "accumulator", EVERYTHING);
}

GRADED(03_accumulate, clip, "task 2: one clip for each window, of the sum") {
    Windows windows = accumulate_new(check, 5, 3, 0);
    windows.given.max_norm = accumulate_clipping_norm(&windows);
    accumulate_judge(&windows, "accumulator", WANT_GRADIENTS | WANT_UPDATE);
}

GRADED(03_accumulate, update, "task 2: weights, m and v: one step and one t for each window") {
    Windows windows = accumulate_new(check, 7, 3, 0);
    windows.option[OPTION_MORE] = 1;
    if (accumulate_judge(&windows, "accumulator", EVERYTHING)) {
        accumulate_expect_pair(check);
        accumulate_expect_reused(check);
    }
}

/* ---- bit for bit ----------------------------------------------------------------------------- */

/* The bits of all tensors of a kind, for comparison with another run. */
static float *windows_bits(const Windows *windows, const char *what, int window) {
    float *values = check_normal(windows->given.check, windows->given.P, 0, F32), *to = values;
    for (int i = 0; i < windows->given.reference->param_count; i++) {
        size_t count = windows->given.reference->params[i].count;
        memcpy(to, given_got(&windows->given, what, i, window), count * sizeof *to);
        to += count;
    }
    return values;
}

/* Gradients and weights are those of the kit's own plain step, to the last bit. */
static void accumulate_expect_bits(const Windows *windows, float *const *gradient,
                                   float *const *weight) {
    for (int i = 0; i < windows_count(windows); i++) {
        bool same_gradient = memcmp(windows_bits(windows, NAME_GRADIENT, i), gradient[i],
                                    windows->given.P * sizeof(float)) == 0;
        bool same_weight = memcmp(windows_bits(windows, NAME_WEIGHT, i), weight[i],
                                  windows->given.P * sizeof(float)) == 0;
        if (!same_gradient || !same_weight) {
            check_fail(windows->given.check,
                       "%s after window %d are not those of the plain step, bit for bit",
                       same_gradient ? "weights" : "gradients", i + 1);
            return;
        }
    }
    check_good(windows->given.check);
}

/* Runs the plain step first; then the submission, which must give the same bits. */
static void accumulate_same_bits(Windows *windows, const char *probe_case) {
    Check *check = windows->given.check;
    check_after(check, "accumulate update epoch");
    float *gradient[MOST_WINDOWS], *weight[MOST_WINDOWS];
    uint64_t arena = 0;
    accumulate_give(windows, WANT_GRADIENTS | WANT_UPDATE);
    if (check_run_kit(check, "plain", SECONDS)) {
        for (int i = 0; i < windows_count(windows); i++) {
            gradient[i] = windows_bits(windows, NAME_GRADIENT, i);
            weight[i] = windows_bits(windows, NAME_WEIGHT, i);
        }
        /* A little more than the plain step needs, and much less than two micro-batches. */
        enum { SLACK = 256 << 10 };
        arena = *(const uint64_t *)check_got(check, "peak", WIRE_U64) + SLACK;
        check_give(check, "arena", WIRE_U64, &arena, 1);
        if (check_run(check, probe_case, SECONDS) && accumulate_expect_count(windows)) {
            accumulate_expect_bits(windows, gradient, weight);
        }
    }
    windows_free(windows);
}

/* Dividing by a power of two is exact, so every right order of scaling gives the same bits. */
GRADED(03_accumulate, one, "task 2: windows of one micro-batch are the plain step, bit for bit") {
    Windows windows = accumulate_new(check, 3, 1, 0.1f);
    for (int i = 0; i < windows.given.batches; i++) {
        windows.given.batch[i] = batch_full(check, windows.given.config.V, 8, 8);
    }
    accumulate_same_bits(&windows, "accumulator");
}

/* ---- task 3 ---------------------------------------------------------------------------------- */

GRADED(03_accumulate, epoch, "task 3: two epochs whose last window is short, with dropout") {
    Windows windows = accumulate_new(check, 5, 3, 0.1f);
    windows.epochs = 2;
    accumulate_judge(&windows, "epochs", EVERYTHING);
}

GRADED(03_accumulate, empty,
       "task 3: micro-batches and windows with no valid target, and with one") {
    Windows windows = accumulate_new(check, 8, 2, 0);
    windows.given.batch[2] = batch_all_masked(batch_uneven(check, windows.given.config.V, 2, 7));
    windows.given.batch[3] = batch_one_target(batch_uneven(check, windows.given.config.V, 2, 6));
    windows.given.batch[4] = batch_all_masked(batch_uneven(check, windows.given.config.V, 1, 5));
    windows.given.batch[5] = batch_all_masked(batch_uneven(check, windows.given.config.V, 3, 4));
    accumulate_judge(&windows, "epochs", EVERYTHING);
    accumulate_expect_no_loss(check, 2);
}

/* With a limit that no norm comes near: the end of a window is the same. */
GRADED(03_accumulate, longer, "task 3: a window that is longer than the data") {
    Windows windows = accumulate_new(check, 3, 9, 0);
    windows.epochs = 2;
    windows.given.max_norm = 1e4f;
    accumulate_judge(&windows, "epochs", EVERYTHING);
}

GRADED(03_accumulate, schedule, "task 3: one tick of the schedule for each window") {
    Windows windows = accumulate_new(check, 11, 2, 0);
    windows.given.schedule.warmup_steps = 2;
    windows.given.schedule.max_steps = 3; /* it ticks on when it has ended */
    accumulate_give(&windows, 0);
    if (check_run(check, "epochs", SECONDS) && accumulate_expect_count(&windows)) {
        accumulate_expect_ticks(&windows);
        accumulate_expect_rates(&windows);
    }
    windows_free(&windows);
}

/* An epoch with an empty micro-batch and a short window that has one target; then it stops within
   the next epoch. */
GRADED(03_accumulate, report, "task 3: loss, norm, targets of each window; report() can stop") {
    Windows windows = accumulate_new(check, 7, 2, 0);
    accumulate_mask(&windows, 2);
    windows.given.batch[6] = batch_one_target(batch_uneven(check, windows.given.config.V, 2, 6));
    windows.epochs = 2;
    windows.stop = 7;
    windows.option[OPTION_MORE] = 1;
    windows.given.max_norm = accumulate_clipping_norm(&windows);
    accumulate_judge(&windows, "epochs", WANT_UPDATE | WANT_REPORT);
}

/* ---- the order of calls ---------------------------------------------------------------------- */

/* The mistake in the order of a window, or NULL. Any order that is right passes. */
static const char *accumulate_wrong_order(const uint64_t *trace, int first, int count) {
    int forwards = 0, backwards = 0, steps = 0;
    bool norm = false, zero = false;
    for (int i = 0; i < TRACE_LENGTH && trace[i] != EVENT_NONE; i++) {
        if (trace[i] >= EVENT_FORWARD || trace[i] == EVENT_LOOK) {
            if (trace[i] != (uint64_t)(EVENT_FORWARD + first + forwards)) {
                return "the micro-batches are not run one by one, in the order in which they come";
            }
            forwards++;
        } else if (trace[i] == EVENT_BACKWARD) {
            backwards++;
            norm = false;
        } else if (trace[i] == EVENT_STEP) {
            if (backwards != count) {
                return "optimizer_step() comes once, when the micro-batches of the window, and no "
                       "others, have run backward";
            }
            if (!norm) {
                return "optimizer_clip() comes after the last backward and before "
                       "optimizer_step(), "
                       "with a limit of 0 as well: it returns the norm";
            }
            steps++;
            zero = false;
        } else if (trace[i] == EVENT_ZERO && backwards > 0 && steps == 0) {
            return "model_zero_grad() comes within a window, whose gradients it throws away";
        }
        norm |= trace[i] == EVENT_NORM;
        zero |= trace[i] == EVENT_ZERO;
    }
    if (forwards != count || backwards != count) {
        return "each micro-batch runs forward once and backward once";
    }
    if (steps != 1 || !zero) {
        return "each window has one optimizer_step(), and model_zero_grad() after it";
    }
    return NULL;
}

static void accumulate_expect_order(const Windows *windows) {
    const uint64_t *trace = check_got(windows->given.check, "trace", WIRE_U64);
    const char *wrong = NULL;
    for (int i = 0; i < windows_count(windows) && wrong == NULL; i++) {
        wrong = accumulate_wrong_order(trace + i * TRACE_LENGTH, windows_first(windows, i),
                                       windows_size(windows, i));
    }
    if (wrong != NULL) {
        check_fail(windows->given.check, "%s", wrong);
    } else {
        check_good(windows->given.check);
    }
}

/* Micro-batches of one shape: one that is used in place of another gives no other sign. */
GRADED(03_accumulate, order, "task 3: each micro-batch once, then clip, step, zero, once") {
    Windows windows = accumulate_new(check, 5, 3, 0);
    for (windows.given.batches = 0; windows.given.batches < 5;) {
        windows.given.batches = accumulate_add(&windows, 3, 8) ? windows.given.batches : 0;
    }
    accumulate_give(&windows, WANT_GRADIENTS | WANT_UPDATE);
    if (check_run(check, "epochs", SECONDS) && accumulate_expect_count(&windows)) {
        for (int i = 0; i < windows_count(&windows); i++) {
            Window window = windows_work_out(&windows, i);
            accumulate_expect_gradients(&windows, &window);
            given_go_on(&windows.given, i);
        }
        accumulate_expect_order(&windows);
    }
    windows_free(&windows);
}

/* ---- memory, and the other device ------------------------------------------------------------ */

GRADED(03_accumulate, memory, "task 3: four micro-batches where memory has room for one") {
    ModelConfig config = {.V = 256, .T = 256, .L = 4, .NH = 4, .C = 64};
    Windows windows = accumulate_of(check, config, 4, 4);
    for (int i = 0; i < windows.given.batches; i++) {
        windows.given.batch[i] = batch_full(check, config.V, 1, 256);
    }
    accumulate_same_bits(&windows, "tight");
}

GRADED(03_accumulate, gpu, "task 3: the same on the simulated GPU") {
    Windows windows = accumulate_new(check, 5, 3, 0.1f);
    windows.option[OPTION_GPU] = true;
    check_memory(check, 0);
    accumulate_judge(&windows, "epochs", EVERYTHING);
}
