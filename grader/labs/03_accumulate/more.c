#include "grader/labs/03_accumulate/more.h"

#include <math.h>
#include <string.h>

#include "grader/labs/03_accumulate/accumulate.h"
#include "grader/labs/03_accumulate/protocol.h"

static const char more_mean[] = "it is the mean over the window's valid targets";

void accumulate_want_more(Check *check) {
    check_want(check, "skipped", WIRE_U64, 3);
    check_want(check, "reused", WIRE_U64, MORE_REUSED);
    check_want(check, "position", WIRE_U64, 2);
    check_want(check, "rest", WIRE_U64, MORE_REPORTS);
    check_want(check, "more.loss", WIRE_F32, MORE_RUNS);
    check_want(check, "more.tokens", WIRE_U64, MORE_RUNS);
    check_want(check, "more.passes", WIRE_U64, MORE_RUNS);
}

/* A hand-in that was begun with the former release knows no end but its own, and ticks. */
void accumulate_expect_skipped(const Windows *windows) {
    const uint64_t *got = check_got(windows->given.check, "skipped", WIRE_U64);
    const uint64_t right[] = {got[0], got[0] == 0 ? got[1] : 0, got[0] == 0 ? got[2] : 0};
    const uint64_t ticked[] = {got[0], got[0], 0}, early[] = {got[0], got[0], 1},
                   undone[] = {got[0], 0, 1};
    static const char before[] = "the schedule ticks before the window has ended: "
                                 "trainer->update() still asks for the rate of this window";
    ExactSuspect seen[] = {
        {"the schedule ticks although the update was skipped: look at report.skipped",
         got[0] > 0 ? ticked : right},
        {before, got[0] > 0 ? early : right},
        {before, got[0] > 0 ? undone : right}};
    check_equal(windows->given.check, "skipped", right, 3, seen, 3);
}

/* ---- levels 1 and 2 -------------------------------------------------------------------------- */

/* The results of a run. */
typedef struct MoreRun {
    float loss;
    uint64_t tokens, passes;
} MoreRun;

static MoreRun more_run(const Check *check, int i) {
    return (MoreRun){((const float *)check_got(check, "more.loss", WIRE_F32))[i],
                     ((const uint64_t *)check_got(check, "more.tokens", WIRE_U64))[i],
                     ((const uint64_t *)check_got(check, "more.passes", WIRE_U64))[i]};
}

static bool more_is(const MoreRun *run, float loss, uint64_t passes) {
    return fabsf(run->loss - loss) < 1e-4f && run->passes == passes;
}

static const char more_narrow[] =
    "a window may have more targets than 32 bits count: they are a size_t";

void accumulate_expect_long(Check *check) {
    const uint64_t tokens = (uint64_t)MORE_LONG * MORE_SIDE * MORE_SIDE;
    MoreRun run = more_run(check, 0);
    float rounded = 0;
    for (int i = 0; i < MORE_LONG; i++) {
        rounded += (float)(MORE_SIDE * MORE_SIDE);
    }
    ExactSuspect narrow[] = {
        {"the targets are counted in a float, which knows each whole number up to 2^24 alone: they "
         "are a size_t",
         (const uint64_t[]){(uint64_t)rounded}},
        {more_narrow, (const uint64_t[]){(uint32_t)tokens}},
        {more_narrow, (const uint64_t[]){(uint64_t)(int32_t)tokens}},
        {"the targets of a window are reported even where its update is skipped",
         (const uint64_t[]){0}}};
    if (!check_equal(check, "more.tokens", (const uint64_t[]){tokens, run.tokens, run.tokens}, 1,
                     narrow, 4)) {
        return;
    }
    if (!check_compared(check, more_is(&run, MORE_LOSS, MORE_LONG),
                        "in a window of %d micro-batches %llu run forward, with a loss of %d for "
                        "each target, and the window's loss is %g",
                        MORE_LONG, (unsigned long long)run.passes, MORE_LOSS, (double)run.loss)) {
        check_fail(check, "a window may have any number of micro-batches, and its loss is that of "
                          "all of them");
    }
}

void accumulate_expect_pair(Check *check) {
    const uint64_t tokens = (uint64_t)MORE_MICROS * INT32_MAX;
    MoreRun alone = more_run(check, 0), first = more_run(check, 1), next = more_run(check, 2);
    ExactSuspect narrow = {more_narrow, (const uint64_t[]){(uint32_t)tokens}};
    if (!check_equal(check, "more.tokens", (const uint64_t[]){tokens, alone.tokens, alone.tokens},
                     1, &narrow, 1)) {
        return;
    }
    if (!check_compared(check, more_is(&alone, MORE_LOSS, MORE_MICROS),
                        "a window of %d micro-batches, with a loss of %d for each target, has a "
                        "loss of %g in the report of accumulator_step()",
                        MORE_MICROS, MORE_LOSS, (double)alone.loss)) {
        check_fail(check,
                   isnan(alone.loss) ? "is accumulator->loss 0 when a window begins?" : more_mean);
    } else if (!check_compared(check,
                               more_is(&first, MORE_LOSS, MORE_MICROS) &&
                                   more_is(&next, MORE_LOSS + 1, MORE_MICROS),
                               "two accumulators have a window open at the same time, and are not "
                               "right side by side: losses %g and %g where %d and %d are right, or "
                               "calls with the trainer of the other one",
                               (double)first.loss, (double)next.loss, MORE_LOSS, MORE_LOSS + 1)) {
        check_fail(check, "all that an accumulator knows stands in it: is something kept in a "
                          "`static`?");
    }
}

/* Windows of at most MORE_MICROS: of four micro-batches, of the same in another epoch, and of two
   others. */
void accumulate_expect_reused(Check *check) {
    enum { FOUR = MORE_MICROS + 1, TWO = MORE_MICROS - 1 };
    const uint64_t want[MORE_REUSED] = {MORE_MICROS, FOUR - MORE_MICROS, MORE_MICROS,
                                        FOUR - MORE_MICROS, TWO};
    const uint64_t shrunk[MORE_REUSED] = {MORE_MICROS, 1, 1, 1, 1};
    const uint64_t once[MORE_REUSED] = {MORE_MICROS, FOUR - MORE_MICROS};
    ExactSuspect suspects[] = {
        {"a short window changes accumulator->micros: it is the size of a full one, and the next "
         "epoch begins with one",
         shrunk},
        {"an accumulator serves any number of epochs: where nothing is left, accumulator_open() "
         "leaves no window open, and opens one when there is more",
         once}};
    MoreRun run = more_run(check, MORE_RUNS - 2), last = more_run(check, MORE_RUNS - 1);
    if (!check_equal(check, "reused", want, MORE_REUSED, suspects, 2)) {
        return;
    }
    bool last_is_right = more_is(&last, MORE_LOSS, 0);
    if (!check_compared(check, last_is_right,
                        "window %d of an accumulator whose updates are all skipped has a loss of "
                        "%g, and %d is right",
                        MORE_REUSED, (double)last.loss, MORE_LOSS)) {
        check_fail(check, last.loss > MORE_LOSS
                              ? "is the loss of the windows before still in? Each begins with 0, "
                                "after a skipped update as well"
                              : more_mean);
    } else if (!check_compared(check, more_is(&run, MORE_LOSS, 0),
                               "accumulator_init() is called once more while a window is open, "
                               "and the next window's loss is %g, and %d is right",
                               (double)run.loss, MORE_LOSS)) {
        check_fail(check, "accumulator_init() sets all of an accumulator, whatever was in it");
    }
}

/* ---- level 3 --------------------------------------------------------------------------------- */

/* After the window at which report() said stop, and after one more call, which asks for windows of
   one micro-batch and stops after the first. */
bool accumulate_expect_position(const Windows *windows) {
    Check *check = windows->given.check;
    const uint64_t *got = check_got(check, "position", WIRE_U64);
    int last = windows->stop - 1;
    uint64_t want = (uint64_t)(windows_first(windows, last) + windows_size(windows, last));
    if (!check_compared(
            check, got[0] == want,
            "report() has said stop after %llu micro-batches, and the data stand at %llu",
            (unsigned long long)want, (unsigned long long)got[0])) {
        check_fail(check, "micro-batches are taken after report() has said stop: they are those of "
                          "the next call");
        return false;
    }
    if (!check_compared(check, got[1] == 1,
                        "called with micros = 1, and stopped after the first window, it has taken "
                        "%llu micro-batches",
                        (unsigned long long)got[1])) {
        check_fail(check, got[1] == (uint64_t)windows->given.batches
                              ? "report() says stop by returning false, where windows have one "
                                "micro-batch as well"
                              : "a second call of train_epoch() may have another `micros`: is "
                                "something kept from the first, in a `static`?");
        return false;
    }
    return true;
}

/* Adds where the data stand after each window from micro-batch `at` to the end of the epoch; by
   row: windows end at multiples of their size. */
static void rest_add(const Windows *windows, int at, bool by_row, uint64_t *rest, int *count) {
    int batches = windows->given.batches;
    while (at < batches && *count < MORE_REPORTS) {
        int next = by_row ? (at / MORE_MICROS + 1) * MORE_MICROS : at + MORE_MICROS;
        at = next < batches ? next : batches;
        rest[(*count)++] = (uint64_t)at;
    }
}

/* From the second micro-batch on; then all of an epoch, after the last step of the schedule; then
   an epoch that is one window. */
void accumulate_expect_rest(const Windows *windows) {
    const uint64_t *skipped = check_got(windows->given.check, "skipped", WIRE_U64);
    uint64_t want[MORE_REPORTS] = {0}, by_row[MORE_REPORTS] = {0}, none[MORE_REPORTS] = {0};
    uint64_t to_max[MORE_REPORTS] = {0}, beyond_max[MORE_REPORTS] = {0}, no_last[MORE_REPORTS];
    int first = 0, count = 0;
    rest_add(windows, 1, false, want, &first);
    for (int i = 0; i < first; i++) {
        to_max[i] = beyond_max[i] = want[i];
    }
    count = first;
    rest_add(windows, 0, false, want, &count);
    beyond_max[first] = want[first];
    memcpy(no_last, want, sizeof no_last);
    /* One in each call; the last call has no more. */
    const uint64_t whole = (uint64_t)windows->given.batches;
    const uint64_t once[MORE_REPORTS] = {want[0], want[1], want[first], whole};
    beyond_max[first + 1] = want[count] = whole;
    count = 0;
    rest_add(windows, 1, true, by_row, &count);
    rest_add(windows, 0, true, by_row, &count);
    by_row[count] = whole;
    bool ends = skipped[0] > 0; /* else no update was skipped */
    const char *stops = accumulate_stops;
    ExactSuspect suspects[] = {
        {"windows are counted from the start of the epoch: the first of a call begins where the "
         "data stand",
         by_row},
        {"a window whose update was skipped is not reported: report() is called after each window",
         ends ? none : want},
        {stops, ends ? once : want},
        {stops, to_max},
        {stops, beyond_max},
        {"with the largest `micros` there is no window: a sum with `micros` does not fit into an "
         "int",
         no_last}};
    CHECK(want[MORE_REPORTS - 1] == 0, "more than %d windows", MORE_REPORTS);
    check_equal(windows->given.check, "rest", want, MORE_REPORTS, suspects, 6);
}
