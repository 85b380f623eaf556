#include "grader/labs/05_fp16/scaler.h"

#include <math.h>
#include <string.h>

const char *const scaler_slip_sentence[SLIPS] = {
    [SLIP_NONE] = "",
    [SLIP_KEPT] = "a bad step must set good_steps back to 0: `interval` good steps in a row",
    [SLIP_LATE] = "the scale grows one step too late: with the good step that makes it `interval`",
    [SLIP_EARLY] = "the scale grows one step too early",
    [SLIP_SWAPPED] = "growth and backoff are swapped",
    [SLIP_FLOOR] = "the scale falls below the floor",
    [SLIP_GROWN] = "after the scale has grown, good_steps starts again at 0",
    [SLIP_NEVER] = "the scale never changes",
    [SLIP_EACH] =
        "the scale grows with every good step: it should after `interval` of them in a row",
    [SLIP_INF] = "the scale grows to infinity: where that is next, it stays",
    [SLIP_ONE] = "the floor is 1, whatever scaler->floor says",
    [SLIP_TWO] = "the scale is doubled and halved, whatever scaler->growth and backoff say",
};

void automaton_step(Automaton *a, bool bad, ScalerSlip slip) {
    if (slip == SLIP_NEVER) {
        return;
    }
    if (bad) {
        double smaller = a->scale * (slip == SLIP_SWAPPED ? a->growth
                                     : slip == SLIP_TWO   ? 0.5
                                                          : a->backoff);
        double floor = slip == SLIP_ONE ? 1 : a->floor;
        /* As a float holds it: what falls and falls becomes 0. */
        a->scale = slip == SLIP_FLOOR ? (double)(float)smaller : fmax(smaller, floor);
        a->good_steps = slip == SLIP_KEPT ? a->good_steps : 0;
        return;
    }
    int limit = slip == SLIP_EACH ? 1 : a->interval + (slip == SLIP_LATE) - (slip == SLIP_EARLY);
    if (++a->good_steps >= limit) {
        double larger = a->scale * (slip == SLIP_SWAPPED ? a->backoff
                                    : slip == SLIP_TWO   ? 2
                                                         : a->growth);
        a->scale = larger < 0x1p128 ? larger : slip == SLIP_INF ? HUGE_VAL : a->scale;
        a->good_steps = slip == SLIP_GROWN ? a->good_steps : 0;
    }
}

/* The scale after each step, by the bits: inf is a value too. */
static void scaler_expect_scale(Check *check, double (*scale)[MOST_STEPS], const char *script,
                                size_t n) {
    const float *got = check_got(check, "scale", WIRE_F32);
    size_t wrong = 0;
    while (wrong < n && (double)got[wrong] == scale[SLIP_NONE][wrong]) {
        wrong++;
    }
    size_t at = wrong < n ? wrong : n - 1;
    check_compared(check, wrong == n,
                   "after step %zu (%.*s; b is a bad one) the scale is %g, should be %g", at + 1,
                   (int)at + 1, script, (double)got[at], scale[SLIP_NONE][at]);
    for (int slip = SLIP_NONE + 1; slip < SLIPS; slip++) {
        size_t same = 0;
        while (same < n && (double)got[same] == scale[slip][same]) {
            same++;
        }
        check_suspect(check, scaler_slip_sentence[slip], same == n);
    }
}

void scaler_judge_script(Check *check, Automaton start, const char *script) {
    size_t n = strlen(script);
    int32_t found[MOST_STEPS], counts[] = {start.interval, start.good_steps};
    double scale[SLIPS][MOST_STEPS];
    uint64_t good[SLIPS][MOST_STEPS];
    ExactSuspect goods[SLIPS];
    CHECK(n <= MOST_STEPS, "a script of %zu steps", n);
    for (int slip = 0; slip < SLIPS; slip++) {
        Automaton a = start;
        for (size_t i = 0; i < n; i++) {
            found[i] = script[i] == 'b';
            automaton_step(&a, found[i], (ScalerSlip)slip);
            scale[slip][i] = a.scale;
            good[slip][i] = (uint64_t)a.good_steps;
        }
        goods[slip] = (ExactSuspect){scaler_slip_sentence[slip], good[slip]};
    }
    check_give(check, "scaler", WIRE_F32,
               (float[]){(float)start.scale, (float)start.growth, (float)start.backoff,
                         (float)start.floor},
               4);
    check_give(check, "counts", WIRE_I32, counts, 2);
    check_give(check, "found_inf", WIRE_I32, found, n);
    check_want(check, "scale", WIRE_F32, n);
    check_want(check, "good_steps", WIRE_U64, n);
    if (check_run(check, "script", 20)) {
        scaler_expect_scale(check, scale, script, n);
        check_equal(check, "good_steps", good[SLIP_NONE], n, goods + 1, SLIPS - 1);
    }
}
