#include "grader/labs/03_accumulate/more.h"

#include <math.h>

#include "grader/labs/03_accumulate/protocol.h"

void accumulate_want_more(Check *check) {
    check_want(check, "skipped", WIRE_U64, 2);
    check_want(check, "position", WIRE_U64, 2);
    check_want(check, "rest", WIRE_U64, MORE_REPORTS);
    check_want(check, "more.loss", WIRE_F32, MORE_RUNS);
    check_want(check, "more.tokens", WIRE_U64, MORE_RUNS);
    check_want(check, "more.passes", WIRE_U64, MORE_RUNS);
}

/* A hand-in that was begun with the former release knows no end but its own, and ticks. */
void accumulate_expect_skipped(const Windows *windows) {
    const uint64_t *got = check_got(windows->given.check, "skipped", WIRE_U64);
    const uint64_t right[] = {got[0], got[0] == 0 ? got[1] : 0}, ticked[] = {got[0], got[0]};
    ExactSuspect seen = {
        "the schedule ticks although the update was skipped: look at report.skipped",
        got[0] > 0 ? ticked : right};
    check_equal(windows->given.check, "skipped", right, 2, &seen, 1);
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

void accumulate_expect_long(Check *check) {
    MoreRun run = more_run(check, 0);
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
    ExactSuspect narrow = {"a window may have more targets than 32 bits count: they are a size_t",
                           (const uint64_t[]){(uint32_t)tokens}};
    if (!check_equal(check, "more.tokens", (const uint64_t[]){tokens, alone.tokens, alone.tokens},
                     1, &narrow, 1)) {
        return;
    }
    if (!check_compared(check, more_is(&alone, MORE_LOSS, MORE_MICROS),
                        "a window of %d micro-batches, with a loss of %d for each target, has a "
                        "loss of %g in the report of accumulator_step()",
                        MORE_MICROS, MORE_LOSS, (double)alone.loss)) {
        check_fail(check, isnan(alone.loss) ? "is accumulator->loss 0 when a window begins?"
                                            : "it is the mean over the window's valid targets");
    } else if (!check_compared(check,
                               more_is(&first, MORE_LOSS, MORE_MICROS) &&
                                   more_is(&next, MORE_LOSS + 1, MORE_MICROS),
                               "two accumulators have a window open at the same time, and are not "
                               "right side by side: losses %g and %g, not %d and %d",
                               (double)first.loss, (double)next.loss, MORE_LOSS, MORE_LOSS + 1)) {
        check_fail(check, "all that an accumulator knows stands in it: is something kept in a "
                          "`static`?");
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
        check_fail(check, "a second call of train_epoch() may have another `micros`: is something "
                          "kept from the first, in a `static`?");
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

/* From the second micro-batch on; then all of an epoch, after the last step of the schedule. */
void accumulate_expect_rest(const Windows *windows) {
    const uint64_t *skipped = check_got(windows->given.check, "skipped", WIRE_U64);
    uint64_t want[MORE_REPORTS] = {0}, by_row[MORE_REPORTS] = {0}, none[MORE_REPORTS] = {0};
    uint64_t to_max[MORE_REPORTS] = {0}, beyond_max[MORE_REPORTS] = {0};
    int first = 0, count = 0;
    rest_add(windows, 1, false, want, &first);
    for (int i = 0; i < first; i++) {
        to_max[i] = beyond_max[i] = want[i];
    }
    count = first;
    rest_add(windows, 0, false, want, &count);
    beyond_max[first] = want[first];
    count = 0;
    rest_add(windows, 1, true, by_row, &count);
    rest_add(windows, 0, true, by_row, &count);
    const uint64_t once[MORE_REPORTS] = {want[0], want[1], want[first]}; /* one in each call */
    bool ends = skipped[0] > 0; /* else no update was skipped */
    static const char stops[] = "training ends with the schedule: train_epoch() goes on until the "
                                "data end, or report() says stop";
    ExactSuspect suspects[] = {
        {"windows are counted from the start of the epoch: the first of a call begins where the "
         "data stand",
         by_row},
        {"a window whose update was skipped is not reported: report() is called after each window",
         ends ? none : want},
        {"the epoch ends with a window whose update was skipped: it goes on until the data end, or "
         "report() says stop",
         ends ? once : want},
        {stops, to_max},
        {stops, beyond_max}};
    check_equal(windows->given.check, "rest", want, MORE_REPORTS, suspects, 5);
}
