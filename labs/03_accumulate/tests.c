/* Lab 03, judged: windows of micro-batches against a model in double. What a check gives is in
   grader/judges/03_case.h, what known mistakes would give in grader/judges/03_mistakes.h, how what
   comes back is compared in grader/judges/03_judge.h. */
#include "grader/judges/03_judge.h"

enum { EVERYTHING = WANT_GRADIENTS | WANT_UPDATE | WANT_LEFT };

/* A limit that clips: well below the norm of the first window. */
static float clipping_norm(Case *it) {
    Window window = work_out(it, 0);
    it->given.drawn = 0;
    return (float)(0.3 * norm_of(combine(it, &window, right), it->given.P));
}

GRADED(03_accumulate, by_hand, 15, "task 1: the gradient of one window, ragged, with dropout") {
    Case it = case_new(check, 4, 4, 0.1f);
    judge(&it, "by_hand", WANT_GRADIENTS);
}

GRADED(03_accumulate, by_hand_steps, 10, "task 1: three windows, clipped; weights, m and v") {
    Case it = case_new(check, 8, 3, 0);
    it.given.max_norm = clipping_norm(&it);
    judge(&it, "by_hand", EVERYTHING | WANT_REPORT);
}

/* What accumulator_open() knows of each window, and after which micro-batches the gradients sync.
 */
GRADED(03_accumulate, window, 8, "task 2: size and targets of each window, and where it ends") {
    Case it = case_new(check, check_int(check, 2, 3) * 3 + 2, 3, 0);
    uint64_t size[MOST_WINDOWS], steps[MOST_WINDOWS], tokens[MOST_WINDOWS], rest[MOST_WINDOWS];
    uint64_t first[MOST_WINDOWS], sync[MOST_BATCHES] = {0}, early[MOST_BATCHES], all[MOST_WINDOWS];
    prepare(&it, 0);
    if (check_run(check, "accumulator", SECONDS) && expect_windows(&it)) {
        for (int i = 0; i < windows_of(&it); i++) {
            Window w = work_out(&it, i);
            size[i] = (uint64_t)w.count;
            steps[i] = (uint64_t)w.steps;
            tokens[i] = (uint64_t)w.valid;
            rest[i] = (uint64_t)w.left;
            first[i] = (uint64_t)w.n[0];
            all[i] = (uint64_t)w.padded;
            sync[w.first + w.count - 1] = 1;
        }
        for (int i = 0; i < it.given.batches; i++) {
            early[i] = i % it.steps == 0;
        }
        size_t windows = (size_t)windows_of(&it);
        ExactSuspect sizes[] = {
            {"the last window has fewer micro-batches: data_batches_left()", steps}};
        ExactSuspect counts[] = {
            {"these are the targets of the whole rest of the epoch", rest},
            {"these are the targets of the window's first micro-batch", first},
            {"padding and masked targets are counted: data_window_tokens() knows the valid ones",
             all}};
        ExactSuspect syncs[] = {
            {"off by one: a window ends after its last micro-batch, not after the next one's first",
             early}};
        check_equal(check, "open.window", size, windows, sizes, 1);
        check_equal(check, "open.tokens", tokens, windows, counts, 3);
        check_equal(check, "sync_gradients", sync, (size_t)it.given.batches, syncs, 1);
    }
    reference_free(it.given.reference);
}

GRADED(03_accumulate, accumulate, 12, "task 2: gradients; one micro-batch has no valid target") {
    Case it = case_new(check, 5, 3, 0.1f);
    /* The last of all: to skip it is right, but gives those behind it other dropout masks. */
    it.given.batch[4] = all_masked(uneven_batch(check, it.given.config.V, 2, 9));
    judge(&it, "accumulator", EVERYTHING);
}

GRADED(03_accumulate, clip, 6, "task 2: one clip for each window, of the sum") {
    Case it = case_new(check, 6, 3, 0);
    it.given.max_norm = clipping_norm(&it);
    judge(&it, "accumulator", WANT_GRADIENTS | WANT_UPDATE);
}

GRADED(03_accumulate, update, 8, "task 2: weights, m and v: one step and one t for each window") {
    Case it = case_new(check, 7, 3, 0);
    judge(&it, "accumulator", EVERYTHING);
}

/* ---- bit for bit ----------------------------------------------------------------------------- */

/* The bits of all tensors of a kind, for comparison with another run. */
static float *bits_of(const Case *it, const char *what, int window) {
    float *values = check_normal(it->given.check, it->given.P, 0, F32), *to = values;
    for (int i = 0; i < it->given.reference->param_count; i++) {
        size_t count = it->given.reference->params[i].count;
        memcpy(to, got_param(&it->given, what, i, window), count * sizeof *to);
        to += count;
    }
    return values;
}

/* Gradients and weights are those of the kit's own plain step, to the last bit. */
static void expect_bits(const Case *it, float *const *gradient, float *const *weight) {
    for (int i = 0; i < windows_of(it); i++) {
        bool same_gradient =
            memcmp(bits_of(it, NAME_GRADIENT, i), gradient[i], it->given.P * sizeof(float)) == 0;
        bool same_weight =
            memcmp(bits_of(it, NAME_WEIGHT, i), weight[i], it->given.P * sizeof(float)) == 0;
        if (!same_gradient || !same_weight) {
            check_fail(it->given.check,
                       "%s after window %d are not those of the plain step, bit for bit",
                       same_gradient ? "weights" : "gradients", i + 1);
            return;
        }
    }
    check_good(it->given.check);
}

/* Runs the plain step first; then the submission, which must give the same bits. */
static void same_bits(Case *it, const char *probe_case) {
    Check *check = it->given.check;
    float *gradient[MOST_WINDOWS], *weight[MOST_WINDOWS];
    uint64_t arena = 0;
    prepare(it, WANT_GRADIENTS | WANT_UPDATE);
    if (check_run_kit(check, "plain", SECONDS)) {
        for (int i = 0; i < windows_of(it); i++) {
            gradient[i] = bits_of(it, NAME_GRADIENT, i);
            weight[i] = bits_of(it, NAME_WEIGHT, i);
        }
        /* A little more than the plain step needs, and much less than two micro-batches. */
        enum { SLACK = 256 << 10 };
        arena = *(const uint64_t *)check_got(check, "peak", WIRE_U64) + SLACK;
        check_give(check, "arena", WIRE_U64, &arena, 1);
        if (check_run(check, probe_case, SECONDS) && expect_windows(it)) {
            expect_bits(it, gradient, weight);
        }
    }
    reference_free(it->given.reference);
}

/* Dividing by a power of two is exact, so every right order of scaling gives the same bits. */
GRADED(03_accumulate, one, 6,
       "task 2: windows of one micro-batch are the plain step, bit for bit") {
    Case it = case_new(check, 3, 1, 0.1f);
    for (int i = 0; i < it.given.batches; i++) {
        it.given.batch[i] = full_batch(check, it.given.config.V, 8, 8);
    }
    same_bits(&it, "accumulator");
}

/* ---- task 3 ---------------------------------------------------------------------------------- */

GRADED(03_accumulate, epoch, 8, "task 3: two epochs whose last window is short, with dropout") {
    Case it = case_new(check, 5, 3, 0.1f);
    it.epochs = 2;
    judge(&it, "epochs", EVERYTHING);
}

GRADED(03_accumulate, empty, 5,
       "task 3: micro-batches and windows with no valid target, and with one") {
    Case it = case_new(check, 6, 2, 0);
    it.given.batch[0] = all_masked(uneven_batch(check, it.given.config.V, 2, 7));
    it.given.batch[1] = one_target(uneven_batch(check, it.given.config.V, 2, 6));
    it.given.batch[2] = all_masked(uneven_batch(check, it.given.config.V, 1, 5));
    it.given.batch[3] = all_masked(uneven_batch(check, it.given.config.V, 3, 4));
    judge(&it, "epochs", EVERYTHING);
    const float *loss = check_got(check, "loss", WIRE_F32);
    if (!(loss[1] == 0)) {
        check_fail(check, "the loss of a window without any valid target is 0, not %g",
                   (double)loss[1]);
    }
}

GRADED(03_accumulate, longer, 3, "task 3: a window that is longer than the data") {
    Case it = case_new(check, 3, 9, 0);
    it.epochs = 2;
    judge(&it, "epochs", EVERYTHING);
}

GRADED(03_accumulate, schedule, 4, "task 3: one tick of the schedule for each window") {
    Case it = case_new(check, 7, 2, 0);
    it.given.schedule.warmup_steps = 2;
    it.given.schedule.max_steps = 6;
    prepare(&it, 0);
    if (check_run(check, "epochs", SECONDS) && expect_windows(&it)) {
        enum { WINDOWS = 4 };
        uint64_t ticks[WINDOWS], micros[WINDOWS], none[WINDOWS] = {0}, late[WINDOWS],
                                                  twice[WINDOWS];
        const float *got = check_got(check, "learning_rate", WIRE_F32);
        double rate[WINDOWS], next[WINDOWS], by_micro[WINDOWS], zero[WINDOWS] = {0}, first[WINDOWS];
        for (int i = 0; i < WINDOWS; i++) {
            ticks[i] = (uint64_t)i + 1;
            late[i] = (uint64_t)i;
            twice[i] = 2 * ticks[i];
            micros[i] = (uint64_t)(i < WINDOWS - 1 ? 2 * (i + 1) : 7);
            rate[i] = rate_of(&it.given, i);
            next[i] = rate_of(&it.given, i + 1);
            by_micro[i] = rate_of(&it.given, 2 * i);
            first[i] = (double)got[0];
        }
        ExactSuspect counts[] = {
            {"the schedule ticks for each micro-batch: it ticks once for each window", micros},
            {"schedule_tick() is missing: one tick for each window", none},
            {"the tick comes after report(), which wants to see it", late},
            {"the schedule ticks twice for each window", twice}};
        check_equal(check, "schedule.step", ticks, WINDOWS, counts, 4);
        Suspect rates[] = {
            {"this is the rate of the next window: tick after the update", next},
            {"the schedule has ticked for each micro-batch", by_micro},
            {"learning_rate is not set in the report", zero},
            {"this is one rate for all windows: ask schedule_rate() in each window", first}};
        check_close(check, "learning_rate", rate, WINDOWS, tolerance_of_op(F32, 1), rates, 4);
    }
    reference_free(it.given.reference);
}

GRADED(03_accumulate, report, 5, "task 3: loss, norm, targets of each window; report() can stop") {
    Case it = case_new(check, 8, 2, 0.1f);
    it.stop = 3;
    it.given.max_norm = clipping_norm(&it);
    judge(&it, "epochs", WANT_UPDATE | WANT_REPORT);
}

/* ---- the order of calls ---------------------------------------------------------------------- */

/* What is wrong with the order of a window, or NULL. Any order that is right passes. */
static const char *wrong_order(const uint64_t *trace, int first, int count) {
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
            if (!norm || backwards != count) {
                return "optimizer_clip() comes after the last backward and before optimizer_step()";
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

static void expect_order(const Case *it) {
    const uint64_t *trace = check_got(it->given.check, "trace", WIRE_U64);
    const char *wrong = NULL;
    for (int i = 0; i < windows_of(it) && wrong == NULL; i++) {
        wrong = wrong_order(trace + i * TRACE_LENGTH, first_of(it, i), count_of(it, i));
    }
    if (wrong != NULL) {
        check_fail(it->given.check, "%s", wrong);
    } else {
        check_good(it->given.check);
    }
}

/* Micro-batches of one shape: one that is used in place of another gives no other sign. */
GRADED(03_accumulate, order, 3, "task 3: each micro-batch once, then clip, step, zero, once") {
    Case it = case_new(check, 5, 2, 0);
    for (int i = 0; i < it.given.batches; i++) {
        it.given.batch[i] = uneven_batch(check, it.given.config.V, 3, 8);
    }
    prepare(&it, WANT_GRADIENTS | WANT_UPDATE);
    if (check_run(check, "epochs", SECONDS) && expect_windows(&it)) {
        for (int i = 0; i < windows_of(&it); i++) {
            Window window = work_out(&it, i);
            expect_gradients(&it, &window);
            go_on(&it.given, i);
        }
        expect_order(&it);
    }
    reference_free(it.given.reference);
}

/* ---- memory, and the other device ------------------------------------------------------------ */

GRADED(03_accumulate, memory, 4, "task 3: four micro-batches where memory has room for one") {
    ModelConfig config = {.V = 256, .T = 256, .L = 4, .NH = 4, .C = 64};
    Case it = case_of(check, config, 4, 4);
    for (int i = 0; i < it.given.batches; i++) {
        it.given.batch[i] = full_batch(check, config.V, 1, 256);
    }
    same_bits(&it, "tight");
}

GRADED(03_accumulate, gpu, 3, "task 3: the same on the simulated GPU") {
    Case it = case_new(check, 3, 2, 0.1f);
    it.gpu = true;
    check_memory(check, 0);
    judge(&it, "epochs", EVERYTHING);
}
