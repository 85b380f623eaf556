#include <stdio.h>
#include <string.h>

#include "grader/labs/09_fusion/compare.h"

static const char *const sentences[STEPS_MISTAKES] = {
    [STEPS_RATE_FROZEN] =
        "replays use the learning rate of the capture: kernel arguments are copied "
        "when a graph is captured, so it must be read from the control block",
    [STEPS_T_FROZEN] = "replays use the t of the capture: its corrections must be those of each "
                       "step, from the control block",
    [STEPS_OFFSET_FROZEN] = "replays draw the masks of the capture: the stream's place must be in "
                            "device memory, model->dropout_base, and move on with each step",
    [STEPS_NEVER_SKIPPED] =
        "a step with a gradient that is not finite is not skipped: the device must "
        "see that found is not 0",
    [STEPS_T_WHEN_SKIPPED] = "t goes on in a skipped step: only a step that learned is one",
    [STEPS_IDS_FROZEN] = "replays learn from the window that was captured: the ids must be copied "
                         "in the graph, from pinned memory that is filled before each launch",
    [STEPS_SCALE_FROZEN] =
        "replays use share and loss scale of the capture: where these differ, the "
        "step must be captured anew",
    [STEPS_NOT_CLIPPED] = "the gradient is not clipped",
    [STEPS_NOT_ZEROED] = "gradients are left for the next window: they must be zeroed in the graph",
    [STEPS_TICK_SKIPPED] = "the schedule ticks in a skipped step",
    [STEPS_NO_SCALER] = "the scaler is not updated after a step",
    [STEPS_SKIP_NOT_TOLD] = "the host is not told of a skipped step: report, scaler, t and "
                            "schedule follow result->found",
    [STEPS_STREAM_STANDS] = "the dropout stream does not move on with a replay: the next one draws "
                            "the same masks",
    [STEPS_NOT_WRITTEN] = "the masters are updated, and the weights in half are not written anew",
    [STEPS_SCALER_ALWAYS] = "the scaler is updated where the scale is fixed, as in bf16: only if "
                            "mixed->dynamic",
    [STEPS_NOT_UNSCALED] = "gradients keep the loss scale: unscale() takes 1 / scale",
    [STEPS_NORM_SCALED] = "the norm is that of gradients which have the loss scale: unscale first",
    [STEPS_NEVER_GROWS] = "the scaler learns of skipped steps alone: good ones let the scale grow",
    [STEPS_FOUND_IN_F16] = "inf and NaN are looked for only where the scale is dynamic: in bf16, "
                           "too, such a step is skipped",
    [STEPS_NO_FACTOR] = "where there is no limit nothing gives norm and factor, and both are 0: "
                        "control_clip() has to run even so",
    [STEPS_SCALED_TWICE] = "the loss has its scale twice: trainer_backward() takes the share, and "
                           "multiplies it by the scale",
};

const char *steps_sentence(StepsMistake mistake) {
    return sentences[mistake];
}

static const char *const numbers[STEP_NUMBERS] = {"weights",
                                                  "moments",
                                                  "gradients that are left",
                                                  "the loss",
                                                  "the norm",
                                                  "the rate",
                                                  "valid targets",
                                                  "skipped",
                                                  "t",
                                                  "ticks of the schedule",
                                                  "the dropout stream",
                                                  "the scale"};

StepsScript steps_script(Check *check, Precision precision, int count, int micros) {
    ModelConfig config = {.V = check_int(check, 256, 262),
                          .T = 8,
                          .L = precision == BF16 ? 2 : 1,
                          .NH = 2,
                          .C = 8,
                          .dropout = 0.3f,
                          .precision = precision};
    StepsScript script = {.given = given_new(check, config, "step"), .count = count};
    Given *given = &script.given;
    int B = 1, T = check_int(check, 5, 8);
    given->max_norm = 0.5f;
    given->schedule.step = 0;
    given->batches = 5 * micros;
    CHECK(given->batches <= MOST_BATCHES, "%d micro-batches", given->batches);
    for (int i = 0; i < given->batches; i++) {
        given->batch[i] = batch_full(check, config.V, B, T);
    }
    for (int i = 0; i < count; i++) {
        script.window[i] = (StepsWindow){.first = i % 5 * micros, .count = micros};
    }
    script.option[STEPS_COUNT] = count;
    script.option[STEPS_MICROS] = micros;
    return script;
}

static void steps_planned(StepsScript *script) {
    Check *check = script->given.check;
    given_give(&script->given);
    check_give(check, "options", WIRE_I32, script->option, STEPS_OPTIONS);
    check_give(check, "windows", WIRE_BYTES, script->window,
               (size_t)script->count * sizeof script->window[0]);
    check_want(check, "steps", WIRE_U64, (size_t)script->count * STEP_NUMBERS);
    if (script->option[STEPS_RECORDED]) {
        check_want(check, "launches", WIRE_U64, (size_t)script->count * LAUNCH_NUMBERS);
    }
    profile_want(check);
    profile_want_once(check);
    check_memory(check, 0);
}

/* (count * STEP_NUMBERS) what came back; freed with the check. */
static uint64_t *steps_copy(const StepsScript *script) {
    size_t n = (size_t)script->count * STEP_NUMBERS;
    uint64_t *copy = (uint64_t *)check_doubles(script->given.check, n);
    return memcpy(copy, check_got(script->given.check, "steps", WIRE_U64), n * sizeof *copy);
}

/* The first number that differs, in words. */
static void steps_tell(const StepsScript *script, const uint64_t *got, const uint64_t *right,
                       char *text, size_t size) {
    size_t at = 0, n = (size_t)script->count * STEP_NUMBERS;
    while (at < n && got[at] == right[at]) {
        at++;
    }
    int step = (int)(at / STEP_NUMBERS), k = (int)(at % STEP_NUMBERS);
    bool plain =
        k == STEP_TOKENS || k == STEP_SKIPPED || k == STEP_T || k == STEP_TICKS || k == STEP_STREAM;
    if (plain && at < n) {
        snprintf(text, size, "window %d (%s): %s: %llu, and %llu in an eager run", step + 1,
                 step == 0 ? "the one that runs as it is" : "captured", numbers[k],
                 (unsigned long long)got[at], (unsigned long long)right[at]);
    } else if (at < n) {
        snprintf(text, size, "window %d (%s): %s: other bits than in an eager run", step + 1,
                 step == 0 ? "the one that runs as it is" : "captured", numbers[k]);
    }
}

static bool steps_judge(StepsScript *script) {
    Check *check = script->given.check;
    char name[40], text[200] = "";
    uint64_t *got = steps_copy(script);
    if (!check_run_kit(check, "steps 0", RUN_SECONDS)) {
        return false;
    }
    size_t bytes = (size_t)script->count * STEP_NUMBERS * sizeof *got;
    uint64_t *right = steps_copy(script);
    bool same = memcmp(got, right, bytes) == 0;
    steps_tell(script, got, right, text, sizeof text);
    check_compared(check, same, "%s", text);
    for (int k = 1; k < STEPS_MISTAKES && !same; k++) {
        snprintf(name, sizeof name, "steps %d", k);
        if (check_run_kit(check, name, RUN_SECONDS)) {
            uint64_t *wrong = steps_copy(script);
            bool differs = memcmp(right, wrong, bytes) != 0;
            check_suspect(check, sentences[k], differs && memcmp(got, wrong, bytes) == 0);
        }
    }
    return same;
}

bool steps_grade(StepsScript *script) {
    steps_planned(script);
    return check_run(script->given.check, "steps", RUN_SECONDS) && steps_judge(script);
}

/* ---- launches -------------------------------------------------------------------------------- */

/* Of window i, with that many bytes of ids. */
static void launches_expect(Check *check, int i, const uint64_t *step, size_t ids) {
    bool good = step[LAUNCH_GRAPHS] == 1 && step[LAUNCH_OTHERS] == 0 &&
                step[LAUNCH_UPLOADED] <= ids + 64 && step[LAUNCH_WAITS] == 1;
    bool eager = step[LAUNCH_GRAPHS] == 0 && step[LAUNCH_OTHERS] > 0;
    check_compared(check, good,
                   "window %d%s: the host launches %llu graphs, gives %llu kernels, copies "
                   "and fills to streams itself, uploads %lld bytes beside the ids, and "
                   "waits %llu times; 1, 0, at most 64 and 1 are needed",
                   i + 1,
                   i == LAUNCHES_SHARE        ? ", with another share"
                   : i == LAUNCHES_RAGGED + 1 ? ", after one of several shapes"
                   : i == LAUNCHES_ANEW + 1   ? ", the second of another Graphed"
                                              : "",
                   (unsigned long long)step[LAUNCH_GRAPHS], (unsigned long long)step[LAUNCH_OTHERS],
                   (long long)step[LAUNCH_UPLOADED] - (long long)ids,
                   (unsigned long long)step[LAUNCH_WAITS]);
    check_suspect(check, "no window is captured: each runs as it is", eager);
    check_suspect(check,
                  "a window with another share runs as it is: it is captured anew, without another "
                  "eager one",
                  eager ? i == LAUNCHES_SHARE : good);
    check_suspect(check,
                  "after a window whose micro-batches differ in shape the next one runs as it is: "
                  "the graph stays for it",
                  eager ? i == LAUNCHES_RAGGED + 1 : good);
    check_suspect(check,
                  "something is given to a stream beside the graph: all that a step "
                  "launches belongs into the capture",
                  step[LAUNCH_GRAPHS] == 1 && step[LAUNCH_OTHERS] > 0);
}

void steps_grade_launches(StepsScript *script) {
    Check *check = script->given.check;
    script->option[STEPS_RECORDED] = 1;
    script->option[STEPS_ANEW] = LAUNCHES_ANEW;
    steps_planned(script);
    if (!check_run(check, "steps", RUN_SECONDS)) {
        return;
    }
    size_t n = (size_t)script->count * LAUNCH_NUMBERS;
    uint64_t *counted = (uint64_t *)check_doubles(check, n);
    memcpy(counted, check_got(check, "launches", WIRE_U64), n * sizeof *counted);
    const Batch *batch = &script->given.batch[0];
    size_t ids = 2 * sizeof(int32_t) * (size_t)batch->B * (size_t)batch->T;
    ids *= (size_t)script->option[STEPS_MICROS];
    if (!steps_judge(script)) {
        return;
    }
    for (int i = 1; i < script->count; i++) {
        if (i != LAUNCHES_RAGGED && i != LAUNCHES_ANEW) {
            launches_expect(check, i, counted + (size_t)i * LAUNCH_NUMBERS, ids);
        }
    }
}
