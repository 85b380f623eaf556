/**
 * @file 04_expect.h
 * @brief The judge's part of lab 04: is a run what the plain step is, and if not, why?
 * @ingroup grader
 */
#ifndef GRADER_JUDGES_04_EXPECT_H
#define GRADER_JUDGES_04_EXPECT_H

#include <stdio.h>

#include "grader/judges/04_mistakes.h"
#include "grader/judges/04_run.h"

/* ---- what is right --------------------------------------------------------------------------- */

static const float *got_gradient(const Run *run, int step, int i) {
    char name[WIRE_NAME];
    return check_got(run->check, param_name(name, NAME_GRADIENT, &run->params[i], "step", step),
                     WIRE_F32);
}

/* What the plain step left, before the table is used again. */
static inline void keep_plain(Run *run) {
    int steps = run->passes / run->window;
    size_t bytes = (size_t)run->passes * sizeof(uint64_t);
    run->plain = (float **)check_doubles(run->check, (size_t)(steps * run->param_count));
    for (int at = 0; at < steps * run->param_count; at++) {
        int step = at / run->param_count, i = at % run->param_count;
        size_t count = run->params[i].count;
        run->plain[at] = (float *)check_doubles(run->check, count / 2 + 1);
        memcpy(run->plain[at], got_gradient(run, step, i), count * sizeof(float));
    }
    memcpy(run->loss, check_got(run->check, "loss", WIRE_U64), bytes);
    memcpy(run->stream, check_got(run->check, "stream", WIRE_U64), bytes);
}

/* Where a budget was too small: what lay on the stack says why. */
static inline void advise(Run *run) {
    const Checkpoint *c = &run->checkpoint;
    const char *line = strstr(check_text(run->check), "held: ");
    int blocks, probs, inputs, L = run->config.L;
    int S = c->segment > 0 && c->segment < L ? c->segment : L;
    if (line == NULL || sscanf(line, HELD, &blocks, &probs, &inputs) != 3) {
        return;
    }
    if (c->attention_only && probs > 1) {
        check_fail(run->check,
                   "the probabilities of %d blocks are kept: only the one that is being "
                   "worked on needs its own",
                   probs);
    } else if (blocks > S) {
        check_fail(run->check,
                   "what %d blocks keep is in memory at once, a segment has %d: release "
                   "what a block has kept when forward leaves it, and when its backward "
                   "is done",
                   blocks, S);
    } else {
        check_fail(run->check,
                   "no more blocks than allowed are in memory (%d of %d), but %d outputs "
                   "of blocks: one for each segment is enough",
                   blocks, S, inputs);
    }
}

static inline bool run_both(Run *run) {
    if (run->gpu) {
        check_memory(run->check, 0);
    }
    give_run(run);
    want_run(run);
    if (!check_run_kit(run->check, "plain", SECONDS)) {
        return false;
    }
    keep_plain(run);
    bool good = check_run(run->check, "checkpointed", SECONDS);
    check_picture(run->check, "memory of one micro-batch", run->budget);
    if (!good) {
        advise(run);
    }
    return good;
}

/* Whether a gradient is what a mistake would give: not to the bit, for there are many ways. */
static inline bool matches(const Run *run, float *const *mistaken) {
    for (int i = 0; i < run->param_count; i++) {
        size_t count = run->params[i].count;
        double *values = check_doubles(run->check, count);
        for (size_t j = 0; j < count; j++) {
            values[j] = (double)mistaken[i][j];
        }
        if (!compare(got_gradient(run, 0, i), values, count, tolerance_of_model(F32)).pass) {
            return false;
        }
    }
    return true;
}

static inline bool finite_all(const Run *run) {
    for (int i = 0; i < run->param_count; i++) {
        const float *got = got_gradient(run, 0, i);
        for (size_t j = 0; j < run->params[i].count; j++) {
            if ((float_bits(got[j]) & 0x7f800000u) == 0x7f800000u) {
                return false;
            }
        }
    }
    return true;
}

/* Names the mistake that the gradients of the first step are those of. */
static inline void diagnose(const Run *run) {
    if (!finite_all(run)) {
        check_fail(run->check, "likely: something is read after it was released, or before it was "
                               "written (such memory is NaN here)");
        return;
    }
    float **values = (float **)check_doubles(run->check, (size_t)run->param_count);
    for (int i = 0; i < run->param_count; i++) {
        values[i] = (float *)check_doubles(run->check, run->params[i].count / 2 + 1);
    }
    for (int mistake = 0; mistake < MISTAKES; mistake++) {
        mistaken_step(&run->config, run->checkpoint.segment, run->seed, run->batch, run->window,
                      (float)SHARE, (Mistake)mistake, values);
        if (matches(run, values)) {
            check_fail(run->check, "likely: %s", mistake_sentence[mistake]);
            return;
        }
    }
}

/* Bit for bit: where the first step is right and a later one is not, something stayed behind. */
static inline bool expect_gradients(const Run *run) {
    char name[WIRE_NAME];
    for (int at = 0; at < run->passes / run->window * run->param_count; at++) {
        int step = at / run->param_count, i = at % run->param_count;
        size_t count = run->params[i].count;
        const float *got = got_gradient(run, step, i);
        if (memcmp(got, run->plain[at], count * sizeof *got) == 0) {
            continue;
        }
        double *want_values = check_doubles(run->check, count);
        for (size_t j = 0; j < count; j++) {
            want_values[j] = (double)run->plain[at][j];
        }
        check_close(run->check, param_name(name, NAME_GRADIENT, &run->params[i], "step", step),
                    want_values, count, (Tolerance){0, 0, 0}, NULL, 0);
        if (step > 0) {
            check_fail(run->check, "the first step is right, a later one is not: something of the "
                                   "pass before is still used, or the dropout stream was not left "
                                   "where a plain step leaves it");
        } else {
            diagnose(run);
        }
        check_fail(run->check, "the bits of a plain step are wanted: what runs again must run on "
                               "the same input, with the same ops and masks");
        return false;
    }
    check_good(run->check);
    return true;
}

/* The losses of the first `passes`, bit for bit. */
static inline bool expect_losses(const Run *run, int passes) {
    const uint64_t *got = check_got(run->check, "loss", WIRE_U64);
    int i = 0, L = run->config.L, S = run->checkpoint.segment;
    while (i < passes && got[i] == run->loss[i]) {
        i++;
    }
    if (i == passes) {
        check_good(run->check);
        return true;
    }
    double loss, right;
    memcpy(&loss, &got[i], sizeof loss);
    memcpy(&right, &run->loss[i], sizeof right);
    const char *why =
        "forward itself is not the same; does every block run, once, on the output of "
        "the one before?";
    if (isnan(loss)) {
        why = "something is read after it was released (such memory is NaN here); does x[end] lie "
              "below the mark that run_segment() goes back to?";
    } else if (fabs(loss - 2 * right) < 1e-6 * fabs(right)) {
        why = "it is counted twice";
    } else if (i == 0 && S > 0 && L % S != 0 &&
               fabs(loss - short_loss(&run->config, run->seed, &run->batch[0], L / S * S)) <
                   1e-6 * fabs(loss)) {
        why = "not all blocks run: where segments do not divide them, the last segment is short";
    }
    check_fail(run->check, "pass %d: the loss is %.9g, a plain step's is %.9g: %s", i + 1, loss,
               right, why);
    return false;
}

/* Where the stream stands after each pass; what known mistakes would make of it. */
static inline void expect_stream(const Run *run) {
    int L = run->config.L, S = run->checkpoint.segment, again = (L - 1) / S * S;
    uint64_t rewound[MOST_PASSES], twice[MOST_PASSES], to_start[MOST_PASSES];
    uint64_t at[3] = {0};
    for (int i = 0; i < run->passes; i++) {
        const Batch *batch = &run->batch[i];
        uint64_t mask = dropout_counters((size_t)(batch->B * batch->T * run->config.C));
        rewound[i] = at[0] += mask + 2 * mask * (uint64_t)S;
        twice[i] = at[1] += mask + 2 * mask * (uint64_t)(L + again);
        to_start[i] = at[2] += mask;
    }
    ExactSuspect suspects[] = {
        {"the stream is left where the segment ended that ran again last: the next pass would draw "
         "masks that were drawn before. Put back what it was before anything ran again",
         rewound},
        {"the stream has moved on for the blocks that ran again: they must draw what was drawn, "
         "and leave no trace",
         twice},
        {"the stream is left where the first segment began", to_start}};
    check_equal(run->check, "stream", run->stream, (size_t)run->passes, suspects, 3);
}

/* At most `most` runs of a block in each pass; fewer are welcome. */
static inline void expect_forwards(const Run *run, int most) {
    const uint64_t *got = check_got(run->check, "forwards", WIRE_U64);
    for (int i = 0; i < run->passes; i++) {
        uint64_t ran = got[i] - (i > 0 ? got[i - 1] : 0);
        if (!(ran <= (uint64_t)most)) {
            check_fail(
                run->check,
                "blocks run forward %llu times in a pass, and %d are enough for %d "
                "blocks%s",
                (unsigned long long)ran, most, run->config.L,
                run->checkpoint.attention_only
                    ? ": attention alone runs again, not the whole block"
                    : ": a segment runs again once, not for each of its blocks, and the last "
                      "need not run again at all");
            return;
        }
    }
    check_good(run->check);
}

/* Forward of the first pass, then all gradients, then what the passes after it saw. */
static inline bool same_as_plain(Run *run) {
    return run_both(run) && expect_losses(run, 1) && expect_gradients(run) &&
           expect_losses(run, run->passes);
}

#endif
