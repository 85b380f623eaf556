#include "grader/labs/04_checkpoint/expect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what is right --------------------------------------------------------------------------- */

static const float *run_got_gradient(const CheckpointRun *run, int step, int i) {
    char name[WIRE_NAME];
    return check_got(run->check, param_name(name, NAME_GRADIENT, &run->params[i], "step", step),
                     WIRE_F32);
}

/* Keeps the plain step's results, before the table is used again. */
static void run_keep_plain(CheckpointRun *run) {
    int steps = run->passes / run->window;
    size_t bytes = (size_t)run->passes * sizeof(uint64_t);
    run->plain = (float **)check_doubles(run->check, (size_t)(steps * run->param_count));
    for (int at = 0; at < steps * run->param_count; at++) {
        int step = at / run->param_count, i = at % run->param_count;
        size_t count = run->params[i].count;
        run->plain[at] = (float *)check_doubles(run->check, count / 2 + 1);
        memcpy(run->plain[at], run_got_gradient(run, step, i), count * sizeof(float));
    }
    memcpy(run->loss, check_got(run->check, "loss", WIRE_U64), bytes);
    memcpy(run->stream, check_got(run->check, "stream", WIRE_U64), bytes);
    memcpy(run->other_result, check_got(run->check, "others", WIRE_U64),
           (size_t)run->others * OTHER_RESULTS * sizeof(uint64_t));
}

/* ---- other models ---------------------------------------------------------------------------- */

/* "of 24 blocks in f16, with flash attention, in segments of 2" */
static const char *other_text(const CheckpointRun *run, int i, char text[120]) {
    const ModelConfig *config = &run->other[i].config;
    const Checkpoint *checkpoint = &run->other[i].checkpoint;
    int at =
        snprintf(text, 120, "of %d blocks in %s%s%s", config->L, precision_name(config->precision),
                 config->attention == ATTENTION_FLASH ? ", with flash attention" : "",
                 checkpoint->attention_only ? ", attention only" : "");
    if (checkpoint->segment > 0) {
        at += snprintf(text + at, 120 - (size_t)at, ", in segments of %d", checkpoint->segment);
    }
    if (run->other[i].before.segment > 0) {
        snprintf(text + at, 120 - (size_t)at, " after a pass in segments of %d",
                 run->other[i].before.segment);
    } else if (other_changes(&run->other[i])) {
        snprintf(text + at, 120 - (size_t)at, " after a pass with attention only");
    }
    return text;
}

static void other_fails(const CheckpointRun *run, int i, const char *how) {
    char text[120];
    check_fail(run->check,
               "a second model in the same program, %s, %s. Is it right by itself? Then its "
               "shape, its precision and its segments are its own, from pass to pass; and a pass "
               "may have a dloss of 0",
               other_text(run, i, text), how);
}

static void other_fails_with_one_between(const CheckpointRun *run, int i) {
    char text[120];
    check_fail(
        run->check,
        "a second model in the same program, %s, has not the gradients of a plain step where "
        "a third model's pass comes between its forward and its backward: what a pass keeps "
        "stands in model->pass. Is something in a `static`?",
        other_text(run, i, text));
}

bool run_expect_others(const CheckpointRun *run) {
    enum { HOW = OTHER_RESULTS - 1 };
    static const char *const how[HOW] = {
        "has not the loss of a plain step", "has not the gradients of a plain step",
        "leaves the dropout stream where a plain step does not",
        "still takes the memory of that pass's segments",
        "makes probabilities again, although attention_only is not set any more"};
    const uint64_t *got = check_got(run->check, "others", WIRE_U64);
    for (int i = 0; i < run->others * OTHER_RESULTS; i++) {
        if (got[i] == run->other_result[i]) {
            continue;
        }
        if (i % OTHER_RESULTS < HOW) {
            other_fails(run, i / OTHER_RESULTS, how[i % OTHER_RESULTS]);
        } else {
            other_fails_with_one_between(run, i / OTHER_RESULTS);
        }
        return false;
    }
    return true;
}

/* Where a budget was too small: what lay on the stack says why. */
static void run_advise(CheckpointRun *run) {
    const Checkpoint *c = &run->checkpoint;
    const char *refused = strstr(check_text(run->check), "other model: ");
    int other = 0;
    if (refused != NULL && sscanf(refused, OTHER_REFUSED, &other) == 1 && other >= 0 &&
        other < run->others) {
        other_fails(run, other, "does not run in the memory that it should take");
        return;
    }
    const char *line = strstr(check_text(run->check), "held: ");
    int blocks, probs, inputs, L = run->config.L;
    int S = c->segment > 0 && c->segment < L ? c->segment : L;
    if (line == NULL || sscanf(line, HELD, &blocks, &probs, &inputs) != 3) {
        return;
    }
    bool wants_probs = strstr(check_text(run->check), "for \"attention.probs\"") != NULL;
    int with_next = probs + wants_probs;
    if (c->attention_only && with_next > 1) {
        check_fail(run->check,
                   "the probabilities of %d blocks are kept: only the one that is being "
                   "worked on needs its own",
                   with_next);
    } else if (c->attention_only && probs == 1 && blocks == S) {
        check_fail(run->check,
                   "the probabilities of a block are in memory: they are needed while that block "
                   "runs, not while the head does");
    } else if (!c->attention_only && probs == blocks && blocks <= S && wants_probs) {
        check_fail(run->check, "a block gets probabilities that it has already: they are made "
                               "again with attention_only alone");
    } else if (run->choose > 0 && blocks > S) {
        check_fail(
            run->check,
            "what %d blocks keep is in memory at once; with the best segment for %zu bytes it is "
            "what %d keep",
            blocks, run->choose, S);
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

bool run_both(CheckpointRun *run) {
    if (run->gpu) {
        check_memory(run->check, 0);
    }
    run_give(run);
    run_want(run);
    if (!check_run_kit(run->check, "plain", SECONDS)) {
        return false;
    }
    run_keep_plain(run);
    bool good = check_run(run->check, "checkpointed", SECONDS);
    check_picture(run->check, "memory of one micro-batch", run->budget);
    if (!good) {
        run_advise(run);
    }
    return good;
}

/* Whether the gradients of the first step are these: not to the bit, for there are many ways. */
static bool run_near(const CheckpointRun *run, const float *const *got, float *const *given) {
    for (int i = 0; i < run->param_count; i++) {
        size_t count = run->params[i].count;
        double *values = check_doubles(run->check, count);
        for (size_t j = 0; j < count; j++) {
            values[j] = (double)given[i][j];
        }
        if (!compare(got[i], values, count, tolerance_of_model(F32)).pass) {
            return false;
        }
    }
    return true;
}

static bool run_finite(const CheckpointRun *run) {
    for (int i = 0; i < run->param_count; i++) {
        const float *got = run_got_gradient(run, 0, i);
        for (size_t j = 0; j < run->params[i].count; j++) {
            if ((float_bits(got[j]) & 0x7f800000u) == 0x7f800000u) {
                return false;
            }
        }
    }
    return true;
}

/* Names the mistake that the gradients of the first step are those of. */
static void run_diagnose(const CheckpointRun *run) {
    if (!run_finite(run)) {
        check_fail(run->check, "likely: something is read after it was released, or before it was "
                               "written (such memory is NaN here)");
        return;
    }
    const float **got = (const float **)check_doubles(run->check, (size_t)run->param_count);
    float **values = (float **)check_doubles(run->check, (size_t)run->param_count);
    for (int i = 0; i < run->param_count; i++) {
        got[i] = run_got_gradient(run, 0, i);
        values[i] = (float *)check_doubles(run->check, run->params[i].count / 2 + 1);
    }
    if (run_near(run, got, run->plain)) { /* every mistake without consequences here would fit */
        check_fail(run->check,
                   "the bits of a plain step are wanted, and the last ones differ: what "
                   "runs again must run with the same ops and masks");
        return;
    }
    for (int mistake = 0; mistake < CHECKPOINT_MISTAKES; mistake++) {
        mistaken_step(&run->config, run->checkpoint.segment, run->seed, run->batch, run->window,
                      (float)RUN_SHARE, (CheckpointMistake)mistake, values);
        if (run_near(run, got, values)) {
            check_fail(run->check, "likely: %s", checkpoint_mistake_sentence[mistake]);
            return;
        }
    }
    check_fail(run->check, "the bits of a plain step are wanted: what runs again must run on "
                           "the same input, with the same ops and masks, and leave the dropout "
                           "stream where a plain step leaves it");
}

/* Bit for bit: where the first step is right and a later one is not, something was left over. */
static bool run_expect_gradients(const CheckpointRun *run) {
    char name[WIRE_NAME];
    for (int at = 0; at < run->passes / run->window * run->param_count; at++) {
        int step = at / run->param_count, i = at % run->param_count;
        size_t count = run->params[i].count;
        const float *got = run_got_gradient(run, step, i);
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
            check_fail(run->check,
                       "the first step is right, a later one is not: something of the "
                       "previous pass is still used, or the dropout stream was not left "
                       "where a plain step leaves it");
        } else {
            run_diagnose(run);
        }
        return false;
    }
    check_good(run->check);
    return true;
}

/* The losses of the first `passes`, bit for bit. */
static bool run_expect_losses(const CheckpointRun *run, int passes) {
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
        "the one before, with its dropout?";
    if (isnan(loss)) {
        why = "something is read after it was released, or before it was written (such memory is "
              "NaN here): does x[end] lie below the mark that run_segment() goes back to, and is "
              "x[L] computed?";
    } else if (fabs(loss - right) < 1e-12 * fabs(right)) {
        why = "its last bits differ: it is the double that model_head_forward() gives, as it is";
    } else if (fabs(loss - 2 * right) < 1e-6 * fabs(right)) {
        why = "it is counted twice";
    } else if (loss == (double)(float)right) {
        why = "it is rounded to a float: a sum of losses is a double, and comes back as it is";
    } else if (i == 0 && S > 0 && L % S != 0 &&
               fabs(loss - mistaken_short_loss(&run->config, run->seed, &run->batch[0],
                                               L / S * S)) < 1e-6 * fabs(loss)) {
        why = "not all blocks run: where segments do not divide them, the last segment is short";
    }
    check_fail(run->check, "pass %d: the loss is %.17g, a plain step's is %.17g: %s", i + 1, loss,
               right, why);
    return false;
}

void run_expect_stream(const CheckpointRun *run) {
    int L = run->config.L, S = run->checkpoint.segment, again = (L - 1) / S * S;
    uint64_t rewound[MOST_PASSES], twice[MOST_PASSES], to_start[MOST_PASSES], cut[MOST_PASSES];
    uint64_t at[3] = {DROPOUT_DRAWN, DROPOUT_DRAWN, DROPOUT_DRAWN};
    for (int i = 0; i < run->passes; i++) {
        const Batch *batch = &run->batch[i];
        uint64_t mask = dropout_counters((size_t)(batch->B * batch->T * run->config.C));
        rewound[i] = at[0] += mask + 2 * mask * (uint64_t)S;
        twice[i] = at[1] += mask + 2 * mask * (uint64_t)(L + again);
        to_start[i] = at[2] += mask;
        cut[i] = (uint32_t)run->stream[i];
    }
    ExactSuspect suspects[] = {
        {"the stream is left where the segment ended that ran again last: the next pass would draw "
         "masks that were drawn before. Put back its state from before anything ran again",
         rewound},
        {"the stream has moved on for the blocks that ran again: they must draw what was drawn, "
         "and leave no trace",
         twice},
        {"the stream is left where the first segment began", to_start},
        {"a place in the stream has 64 bits: keep the whole Rng", cut}};
    check_equal(run->check, "stream", run->stream, (size_t)run->passes, suspects, 4);
}

/* The runs in a pass. */
typedef struct Ran {
    int block[TOLD_BLOCKS]; /* of each */
    int blocks, attentions; /* of all */
} Ran;

/* Counted as they ran. In a pass each block runs at least once: a submission that shuts the pipe is
   one whose blocks were not counted. */
static bool run_count(const CheckpointRun *run, Ran ran[MOST_PASSES]) {
    const char *events = check_events(run->check);
    int pass = 0;
    memset(ran, 0, MOST_PASSES * sizeof *ran);
    for (size_t i = 0; events[i] != '\0'; i++) {
        int layer = events[i] - TOLD_BLOCK;
        if (pass == run->passes) {
            return false;
        }
        if (layer >= 0 && layer < TOLD_BLOCKS) {
            ran[pass].block[layer]++;
            ran[pass].blocks++;
        }
        ran[pass].attentions += events[i] == TOLD_ATTENTION;
        if (events[i] == TOLD_PASS && ran[pass++].blocks < run->config.L) {
            return false;
        }
    }
    return pass == run->passes;
}

/* The first block that runs more than twice; -1 if none does. */
static int ran_too_often(const Ran *ran) {
    for (int layer = 0; layer < TOLD_BLOCKS; layer++) {
        if (ran->block[layer] > 2) {
            return layer;
        }
    }
    return -1;
}

/* The blocks at the end that run once. */
static int ran_once_at_the_end(const Ran *ran, int L) {
    int count = 0;
    while (count < L && ran->block[L - 1 - count] == 1) {
        count++;
    }
    return count;
}

static void ran_tell_block(const CheckpointRun *run, const Ran *ran, int layer) {
    check_fail(run->check,
               "block %d runs forward %d times in a pass: no block runs more than twice", layer,
               ran->block[layer]);
}

/* One block that runs too often is not a segment that does. And where the submission chooses the
   segment, another one may be chosen and run as it should. */
static void ran_too_many(const CheckpointRun *run, const Ran *ran, int most) {
    int L = run->config.L, once = ran_once_at_the_end(ran, L);
    int often = ran_too_often(ran), blocks = 0;
    for (int layer = 0; layer < L; layer++) {
        blocks += ran->block[layer] > 2;
    }
    if (blocks == 1) {
        ran_tell_block(run, ran, often);
        return;
    }
    if (run->choose > 0 && once > 0 && often < 0) {
        check_fail(run->check,
                   "blocks run forward %d times in a pass, and %d are enough for %d blocks: the "
                   "last %d run once; with the best segment for %zu bytes %d do",
                   ran->blocks, most, L, once, run->choose, 2 * L - most);
        return;
    }
    const char *rule = ": a segment runs again once, not for each of its blocks, and the last need "
                       "not run again at all";
    if (run->checkpoint.attention_only) {
        rule = run->checkpoint.segment == 0
                   ? ": attention alone runs again, not the whole block"
                   : ": a segment runs again once, then attention alone of each of its blocks";
    }
    check_fail(run->check,
               "blocks run forward %d times in a pass, and %d are enough for %d blocks%s",
               ran->blocks, most, L, rule);
}

static bool ran_expect(const CheckpointRun *run, const Ran *ran, int most) {
    bool only = run->checkpoint.attention_only;
    int L = run->config.L, often = ran_too_often(ran);
    if (ran->blocks > most) {
        ran_too_many(run, ran, most);
    } else if (often >= 0) {
        ran_tell_block(run, ran, often);
    } else if (ran->attentions > ran->blocks + (only ? L : 0)) {
        check_fail(run->check,
                   "attention runs forward %d times in a pass, and blocks do %d times: its "
                   "probabilities are made again %s",
                   ran->attentions, ran->blocks,
                   only ? "once for each block" : "with attention_only alone");
    } else {
        return true;
    }
    return false;
}

void run_expect_forwards(const CheckpointRun *run, int most) {
    Ran ran[MOST_PASSES];
    if (!run_count(run, ran)) {
        check_fail(run->check, "the probe did not report %d whole passes", run->passes);
        return;
    }
    for (int i = 0; i < run->passes; i++) {
        if (!ran_expect(run, &ran[i], most)) {
            return;
        }
    }
    check_good(run->check);
}

bool run_same_as_plain(CheckpointRun *run) {
    return run_both(run) && run_expect_losses(run, 1) && run_expect_gradients(run) &&
           run_expect_losses(run, run->passes) && run_expect_others(run);
}
