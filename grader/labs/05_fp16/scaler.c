#include "grader/labs/05_fp16/scaler.h"

#include <math.h>
#include <string.h>

#include "grader/draws.h"
#include "grader/labs/05_fp16/term.h"
#include "kernels/half.h"

const char *const scaler_slip_sentence[SLIPS] = {
    [SLIP_NONE] = "",
    [SLIP_KEPT] = "a bad step must set good_steps back to 0: `interval` good steps in a row",
    [SLIP_LATE] =
        "the scale grows one step too late: it grows with the good step that completes `interval`",
    [SLIP_EARLY] = "the scale grows one step too early",
    [SLIP_SWAPPED] = "growth and backoff are swapped",
    [SLIP_TURNED] = "a good step is taken for a bad one, and a bad one for a good one: found_inf "
                    "is true where a gradient was not finite",
    [SLIP_FLOOR] = "the scale falls below the floor",
    [SLIP_GROWN] = "after the scale has grown, good_steps starts again at 0",
    [SLIP_ONCE] = "the scale grows once and never again: good_steps starts again at 0 when it has "
                  "grown",
    [SLIP_TIMES] =
        "the scale grows where good_steps is a multiple of `interval`, and the count goes "
        "on: after the scale has grown it starts again at 0",
    [SLIP_NEVER] = "scaler_update() changes nothing",
    [SLIP_EACH] =
        "the scale grows with every good step: it should after `interval` of them in a row",
    [SLIP_INF] = "the scale grows to infinity: where that is next, it stays",
    [SLIP_ONE] = "the floor is 1, whatever scaler->floor says",
    [SLIP_TWO] = "the scale is doubled and halved, whatever scaler->growth and backoff say",
    [SLIP_DOUBLE] = "the scale is doubled, whatever scaler->growth says",
    [SLIP_HALF] = "the scale is halved, whatever scaler->backoff says",
    [SLIP_DIVIDES] = "a bad step divides the scale by growth: it multiplies it by backoff",
    [SLIP_STAYS] = "a scale that would fall below the floor stays as it is: it becomes the floor",
};

static const char hidden_state[] =
    "two scalers with equal numbers take the same step in two ways: something is kept outside of "
    "Scaler, in a `static` or a global";

/* A scale as a float holds it: what falls and falls becomes 0. */
static double automaton_times(const Automaton *a, double factor) {
    return (double)(float)fmin(a->scale * factor, HUGE_VAL);
}

static double automaton_backoff(const Automaton *a, ScalerSlip slip) {
    return slip == SLIP_SWAPPED                    ? a->growth
           : slip == SLIP_TWO || slip == SLIP_HALF ? 0.5
           : slip == SLIP_DIVIDES                  ? 1 / a->growth
                                                   : a->backoff;
}

static void automaton_lower(Automaton *a, ScalerSlip slip) {
    double smaller = automaton_times(a, automaton_backoff(a, slip));
    double floor = slip == SLIP_ONE ? 1 : a->floor;
    if (slip == SLIP_FLOOR || smaller >= floor) {
        a->scale = smaller;
    } else if (slip != SLIP_STAYS) {
        a->scale = floor;
    }
    a->good_steps = slip == SLIP_KEPT ? a->good_steps : 0;
}

static void automaton_raise(Automaton *a, ScalerSlip slip) {
    double larger = automaton_times(a, slip == SLIP_SWAPPED                      ? a->backoff
                                       : slip == SLIP_TWO || slip == SLIP_DOUBLE ? 2
                                                                                 : a->growth);
    a->scale = isfinite(larger) || slip == SLIP_INF ? larger : a->scale;
    bool goes_on = slip == SLIP_GROWN || slip == SLIP_ONCE || slip == SLIP_TIMES;
    a->good_steps = goes_on ? a->good_steps : 0;
}

void automaton_step(Automaton *a, bool bad, ScalerSlip slip) {
    if (slip == SLIP_NEVER) {
        return;
    }
    if (bad != (slip == SLIP_TURNED)) {
        automaton_lower(a, slip);
        return;
    }
    int limit = slip == SLIP_EACH ? 1 : a->interval + (slip == SLIP_LATE) - (slip == SLIP_EARLY);
    a->good_steps++;
    if (slip == SLIP_ONCE    ? a->good_steps == limit
        : slip == SLIP_TIMES ? a->good_steps % limit == 0
                             : a->good_steps >= limit) {
        automaton_raise(a, slip);
    }
}

/* ---- a script -------------------------------------------------------------------------------- */

/* A script, and what each mistake makes of it. */
typedef struct Script {
    const char *steps;
    size_t n;
    Automaton start;
    double scale[SLIPS][MOST_STEPS];
    uint64_t good[SLIPS][MOST_STEPS];
} Script;

static Script script_worked_out(Automaton start, const char *steps) {
    Script script = {.steps = steps, .n = strlen(steps), .start = start};
    CHECK(script.n <= MOST_STEPS, "a script of %zu steps", script.n);
    for (int slip = 0; slip < SLIPS; slip++) {
        Automaton a = start;
        for (size_t i = 0; i < script.n; i++) {
            automaton_step(&a, steps[i] == 'b', (ScalerSlip)slip);
            script.scale[slip][i] = a.scale;
            script.good[slip][i] = (uint64_t)a.good_steps;
        }
    }
    return script;
}

static bool script_agrees(const Script *script, int a, int b) {
    for (size_t i = 0; i < script->n; i++) {
        if (script->scale[a][i] != script->scale[b][i] ||
            script->good[a][i] != script->good[b][i]) {
            return false;
        }
    }
    return true;
}

/* Two mistakes that a script cannot tell apart would both be named. */
static void script_expect_distinct(const Script *script) {
    for (int a = SLIP_NONE + 1; a < SLIPS; a++) {
        for (int b = SLIP_NONE + 1; b < a && !script_agrees(script, a, SLIP_NONE); b++) {
            CHECK(!script_agrees(script, a, b), "'%s' and '%s' are the same in %s",
                  scaler_slip_sentence[a], scaler_slip_sentence[b], script->steps);
        }
    }
}

/* One step of one of the two scalers, as it came back. */
typedef struct ScalerStep {
    uint32_t scale; /* its bits */
    uint64_t good_steps;
    bool bad;
    uint32_t then_scale;
    uint64_t then_good_steps;
} ScalerStep;

static ScalerStep script_step(const Check *check, const Script *script, size_t i) {
    bool other = i >= script->n;
    size_t at = other ? i - script->n : i;
    const float *scale = check_got(check, other ? "other scale" : "scale", WIRE_F32);
    const uint64_t *good = check_got(check, other ? "other good_steps" : "good_steps", WIRE_U64);
    return (ScalerStep){
        .scale = float_bits(at > 0 ? scale[at - 1] : (float)script->start.scale),
        .good_steps = at > 0 ? good[at - 1] : (uint64_t)script->start.good_steps,
        .bad = script->steps[other ? script->n - 1 - at : at] == 'b',
        .then_scale = float_bits(scale[at]),
        .then_good_steps = good[at],
    };
}

/* Whether a step has changed more than the scale and good_steps. */
static bool script_changes_settings(const Check *check) {
    return *(const uint64_t *)check_got(check, "changed", WIRE_U64) == 1;
}

/* Whether equal scalers have taken equal steps in two ways. */
static bool script_has_hidden_state(const Check *check, const Script *script) {
    for (size_t i = 0; i < 2 * script->n; i++) {
        ScalerStep a = script_step(check, script, i);
        for (size_t k = 0; k < i; k++) {
            ScalerStep b = script_step(check, script, k);
            if (a.scale == b.scale && a.good_steps == b.good_steps && a.bad == b.bad &&
                (a.then_scale != b.then_scale || a.then_good_steps != b.then_good_steps)) {
                return true;
            }
        }
    }
    return false;
}

/* The scale after each step, by the bits: inf is a value too. */
static bool script_expect_scale(Check *check, const Script *script, bool hidden) {
    if (draw_now() != NULL) {
        Suspect suspects[SLIPS];
        for (int slip = SLIP_NONE + 1; slip < SLIPS; slip++) {
            suspects[slip - 1] = (Suspect){scaler_slip_sentence[slip], script->scale[slip]};
        }
        draw_floats(draw_now(), script->scale[SLIP_NONE], script->n, (Tolerance){0, 0, 0}, suspects,
                    SLIPS - 1);
        return false;
    }
    const float *got = check_got(check, "scale", WIRE_F32);
    size_t wrong = 0;
    while (wrong < script->n && (double)got[wrong] == script->scale[SLIP_NONE][wrong]) {
        wrong++;
    }
    size_t at = wrong < script->n ? wrong : script->n - 1;
    bool right = wrong == script->n;
    check_compared(check, right,
                   "after step %zu (%.*s; b is a bad one) the scale is %g, should "
                   "be %g",
                   at + 1, (int)at + 1, script->steps, (double)got[at],
                   script->scale[SLIP_NONE][at]);
    for (int slip = SLIP_NONE + 1; slip < SLIPS; slip++) {
        size_t same = 0;
        while (same < script->n && (double)got[same] == script->scale[slip][same]) {
            same++;
        }
        check_suspect(check, scaler_slip_sentence[slip], same == script->n);
    }
    check_suspect(check, hidden_state, right || hidden);
    return right;
}

/* The same scaler with an interval of 1: every good step is enough. */
static void script_expect_quick(Check *check, const Script *script) {
    const float *got = check_got(check, "quick scale", WIRE_F32);
    Automaton a = script->start;
    a.interval = 1;
    a.good_steps = 0;
    for (size_t i = 0; i < script->n; i++) {
        automaton_step(&a, script->steps[i] == 'b', SLIP_NONE);
        if (!check_compared(check, (double)got[i] == a.scale,
                            "with an interval of 1, after step %zu (%.*s; b is a bad one) the "
                            "scale is %g, should be %g",
                            i + 1, (int)i + 1, script->steps, (double)got[i], a.scale)) {
            return;
        }
    }
}

static void script_expect_good_steps(Check *check, const Script *script, bool hidden) {
    ExactSuspect suspects[SLIPS];
    for (int slip = SLIP_NONE + 1; slip < SLIPS; slip++) {
        suspects[slip - 1] = (ExactSuspect){scaler_slip_sentence[slip], script->good[slip]};
    }
    suspects[SLIPS - 1] = (ExactSuspect){
        hidden_state, hidden ? check_got(check, "good_steps", WIRE_U64) : script->good[SLIP_NONE]};
    check_equal(check, "good_steps", script->good[SLIP_NONE], script->n, suspects,
                draw_now() != NULL ? SLIPS - 1 : SLIPS);
}

void scaler_judge_script(Check *check, Automaton start, const char *steps) {
    Script script = script_worked_out(start, steps);
    int32_t found[MOST_STEPS], counts[] = {start.interval, start.good_steps};
    script_expect_distinct(&script);
    for (size_t i = 0; i < script.n; i++) {
        found[i] = steps[i] == 'b';
    }
    check_give(check, "scaler", WIRE_F32,
               (float[]){(float)start.scale, (float)start.growth, (float)start.backoff,
                         (float)start.floor},
               4);
    check_give(check, "counts", WIRE_I32, counts, 2);
    check_give(check, "found_inf", WIRE_I32, found, script.n);
    check_want(check, "scale", WIRE_F32, script.n);
    check_want(check, "good_steps", WIRE_U64, script.n);
    check_want(check, "other scale", WIRE_F32, script.n);
    check_want(check, "quick scale", WIRE_F32, script.n);
    check_want(check, "other good_steps", WIRE_U64, script.n);
    check_want(check, "changed", WIRE_U64, 1);
    if (check_run(check, "script", 20)) {
        bool changes = draw_now() == NULL && script_changes_settings(check);
        bool hidden = !changes && script_has_hidden_state(check, &script);
        bool right = script_expect_scale(check, &script, hidden);
        script_expect_good_steps(check, &script, hidden);
        if (right) {
            script_expect_quick(check, &script);
        } else if (changes) {
            check_fail(check, "scaler_update() changes growth, backoff, floor or interval: a step "
                              "changes the scale and good_steps alone");
        }
    }
}

void scaler_judge_start(Check *check) {
    static const char *const names[] = {"scale", "growth",   "backoff",
                                        "floor", "interval", "good_steps"};
    static const double want[] = {65536, 2, 0.5, 1, TERM_INTERVAL_IS, 0};
    static const double interval[] = TERM_INTERVAL_EACH;
    enum { NUMBERS = sizeof want / sizeof *want };
    const Term term = TERM_INTERVAL;
    double other[TERM_MOST][NUMBERS];
    char text[TERM_MOST][TERM_TEXT];
    static const double exclusive_or[] = {18, 2, 0.5, 1, TERM_INTERVAL_IS, 0};
    Suspect suspects[TERM_MOST] = {
        {"2 ^ 16 is an exclusive or in C, which makes 18; 2^16 is 65536, or 0x1p16f",
         exclusive_or}};
    int count = 1;
    for (int k = 0; k < term.count; k++) {
        memcpy(other[k], want, sizeof want);
        other[k][4] = interval[k];
        if (k != term.now) {
            suspects[count++] = (Suspect){term_mistake(&term, k, text[k]), other[k]};
        }
    }
    check_want(check, "init", WIRE_F32, NUMBERS);
    if (check_run(check, "start", 20)) {
        const float *got = check_got(check, "init", WIRE_F32);
        check_close(check, "init", want, NUMBERS, (Tolerance){0, 0, 0}, suspects, count);
        for (int i = 0; i < NUMBERS; i++) {
            if (!((double)got[i] == want[i])) {
                check_fail(check, "%s starts as %g, and %g is right", names[i], (double)got[i],
                           want[i]);
            }
        }
    }
}
