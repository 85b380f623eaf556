#include "grader/labs/07_optimizers/eight.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/labs/07_optimizers/agree.h"
#include "grader/labs/07_optimizers/eight_step.h"
#include "grader/labs/07_optimizers/gradient.h"

/* ---- giving ---------------------------------------------------------------------------------- */

static void eight_want_step(Eight *eight, int step) {
    static const struct {
        const char *name;
        WireType type;
        bool blocks;
    } kinds[] = {{"weight", WIRE_F32, false},   {"m_code", WIRE_BYTES, false},
                 {"m_absmax", WIRE_F32, true},  {"m_value", WIRE_F32, false},
                 {"v_code", WIRE_BYTES, false}, {"v_absmax", WIRE_F32, true},
                 {"v_value", WIRE_F32, false}};
    char name[WIRE_NAME];
    if (step < STEP_AGAIN) {
        check_want(eight->check, step_name(name, "grad", step), WIRE_F32, eight->all);
    }
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        check_want(eight->check, step_name(name, kinds[k].name, step), kinds[k].type,
                   kinds[k].blocks ? eight->blocks : eight->all);
    }
}

void eight_plan(Eight *eight, int resume) {
    Check *check = eight->check;
    int32_t head[HEAD_NUMBERS] = {[HEAD_TENSORS] = eight->tensors,
                                  [HEAD_STEPS] = eight->steps,
                                  [HEAD_T] = eight->t,
                                  [HEAD_RESUME] = resume};
    size_t count = (size_t)eight->tensors;
    check_memory(check, 0);
    check_give(check, "head", WIRE_I32, head, HEAD_NUMBERS);
    check_give(check, "flags", WIRE_I32, eight->flags, count);
    check_give(check, "sizes", WIRE_I32, eight->n, count);
    check_give(check, "numbers", WIRE_F32, &eight->adamw, sizeof(AdamW) / sizeof(float));
    check_give(check, "rates", WIRE_F32, eight->rate, EIGHT_STEPS);
    check_give(check, "books", WIRE_F32, eight->books, BOOKS * sizeof(Codebooks) / sizeof(float));
    check_give(check, "weight", WIRE_F32, eight->start.weight, eight->all);
    check_give(check, "m_code", WIRE_BYTES, eight->start.m.code, eight->all);
    check_give(check, "m_absmax", WIRE_F32, eight->start.m.absmax, eight->blocks);
    check_give(check, "m_value", WIRE_F32, eight->start.m.value, eight->all);
    check_give(check, "v_code", WIRE_BYTES, eight->start.v.code, eight->all);
    check_give(check, "v_absmax", WIRE_F32, eight->start.v.absmax, eight->blocks);
    check_give(check, "v_value", WIRE_F32, eight->start.v.value, eight->all);
    check_give(check, "grad", WIRE_F32, eight->grad, (size_t)eight->steps * eight->all);
    for (int step = 0; step < eight->steps; step++) {
        eight_want_step(eight, step);
    }
    if (resume > 0) {
        eight_want_step(eight, eight->steps - 1 + STEP_AGAIN);
    }
}

double eight_bytes(const Eight *eight) {
    return 16.0 * eight->steps * (double)eight->all;
}

size_t eight_fetched(const Eight *eight, bool again) {
    size_t each = eight->all * (3 * sizeof(float) + 2) + 2 * eight->blocks * sizeof(float);
    size_t gradients = eight->all * sizeof(float) * (size_t)eight->steps;
    return each * (size_t)(eight->steps + again) + gradients;
}

/* ---- what came back -------------------------------------------------------------------------- */

static EightMoment got_moment(const Check *check, char first, int step) {
    char name[WIRE_NAME], kind[16];
    EightMoment moment;
    snprintf(kind, sizeof kind, "%c_code", first);
    moment.code = check_got(check, step_name(name, kind, step), WIRE_BYTES);
    snprintf(kind, sizeof kind, "%c_absmax", first);
    moment.absmax = check_got(check, step_name(name, kind, step), WIRE_F32);
    snprintf(kind, sizeof kind, "%c_value", first);
    moment.value = check_got(check, step_name(name, kind, step), WIRE_F32);
    return moment;
}

static EightState eight_state(const Check *check, int step) {
    char name[WIRE_NAME];
    return (EightState){check_got(check, step_name(name, "weight", step), WIRE_F32),
                        got_moment(check, 'm', step), got_moment(check, 'v', step)};
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool weights_agree(const Eight *eight, const float *got, const EightStep *want,
                          Agreement *a) {
    Tolerance tolerance = tolerance_of_op(F32, 1);
    tolerance.scaled *= 4;
    size_t first = 0;
    for (int k = 0; k < eight->tensors; first += (size_t)eight->n[k++]) {
        if (!tensor_agrees(a, got + first, want->weight + first, want->before + first,
                           (size_t)eight->n[k], tolerance, "weight", k)) {
            return false;
        }
    }
    return true;
}

static bool codes_agree(const EightMoment *got, const EightMoments *want, size_t first,
                        size_t block, size_t n, const char *name, int tensor, Agreement *a) {
    for (size_t b = 0; b < adam8_blocks(n); b++) {
        double absmax = (double)got->absmax[block + b], right = want->absmax[block + b];
        double limit = want->slack[block + b] + 2 * EIGHT_EPSILON * fabs(right);
        if (!agrees(a, absmax, right, limit)) {
            snprintf(a->seen, sizeof a->seen,
                     "%s.absmax of tensor %d (%zu numbers), block %zu: got %.9g, want %.9g", name,
                     tensor, n, b, absmax, right);
            return false;
        }
        for (size_t i = b * ADAM8_BLOCK; i < n && i < (b + 1) * ADAM8_BLOCK; i++) {
            int code = got->code[first + i], low = want->low[first + i];
            if (!want->hidden[block + b] && (code < low || code > want->high[first + i])) {
                snprintf(
                    a->seen, sizeof a->seen,
                    "%s.code of tensor %d (%zu numbers) [%zu]: got %d, want %d, of %.9g / %.9g",
                    name, tensor, n, i, code, low, want->x[first + i], right);
                return false;
            }
        }
    }
    return true;
}

static bool values_agree(const EightMoment *got, const EightMoments *want, size_t first, size_t n,
                         const char *name, int tensor, Agreement *a) {
    for (size_t i = first; i < first + n; i++) {
        if (!agrees(a, (double)got->value[i], want->x[i],
                    want->error[i] + 2 * EIGHT_EPSILON * fabs(want->x[i]))) {
            snprintf(a->seen, sizeof a->seen,
                     "%s of tensor %d (in floats) [%zu]: got %.9g, want %.9g", name, tensor,
                     i - first, (double)got->value[i], want->x[i]);
            return false;
        }
    }
    return true;
}

static bool moments_agree(const Eight *eight, const EightMoment *got, const EightMoments *want,
                          const char *name, Agreement *a) {
    size_t first = 0, block = 0;
    for (int k = 0; k < eight->tensors; k++) {
        size_t n = (size_t)eight->n[k];
        bool bytes = (eight->flags[k] & FLAG_BYTES) != 0;
        if (bytes ? !codes_agree(got, want, first, block, n, name, k, a)
                  : !values_agree(got, want, first, n, name, k, a)) {
            return false;
        }
        first += n;
        block += adam8_blocks(n);
    }
    return true;
}

/* Weights, first moments, second moments. */
enum { PARTS_OF_STEP = 3 };

static bool part_agrees(const Eight *eight, const EightState *got, const EightStep *want, int part,
                        Agreement *a) {
    return part == 0   ? weights_agree(eight, got->weight, want, a)
           : part == 1 ? moments_agree(eight, &got->m, &want->m, "m", a)
                       : moments_agree(eight, &got->v, &want->v, "v", a);
}

static bool eight_judge_step(Eight *eight, const EightState *from, int k, EightStep *steps) {
    EightState got = eight_state(eight->check, k);
    bool right = true;
    for (EightMistake mistake = RIGHT; mistake < MISTAKES; mistake++) {
        eight_step_as(eight, from, k, mistake, &steps[mistake]);
    }
    for (int part = 0; part < PARTS_OF_STEP; part++) {
        Agreement a = {.seen = ""}, other = a;
        bool good = part_agrees(eight, &got, &steps[RIGHT], part, &a);
        check_compared(eight->check, good, "step %d: %s", eight->t + k, a.seen);
        check_near(eight->check, a.nearest);
        for (EightMistake mistake = RIGHT + 1; mistake < MISTAKES; mistake++) {
            check_suspect(eight->check, eight_sentence[mistake],
                          part_agrees(eight, &got, &steps[mistake], part, &other));
        }
        right = right && good;
    }
    return right;
}

/* All steps, also after one that is wrong: a mistake is named only if it explains each of them. */
bool eight_judge(Eight *eight) {
    EightStep steps[MISTAKES];
    EightState from = eight->start;
    bool right = true;
    for (int i = 0; i < MISTAKES; i++) {
        steps[i] = eight_step_new(eight);
    }
    for (int k = 0; k < eight->steps; k++) {
        right = eight_judge_step(eight, &from, k, steps) && right;
        from = eight_state(eight->check, k);
    }
    return right;
}

static const char many_sentence[] =
    "the last blocks of 256 numbers are as they were: a grid with fewer blocks than the list has "
    "goes through them in a loop";

/* From which number on all weights are as they were. */
static size_t untouched_from(const Eight *eight, const float *weight) {
    size_t i = eight->all;
    while (i > 0 && weight[i - 1] == eight->start.weight[i - 1]) {
        i--;
    }
    return i;
}

bool eight_judge_large(Eight *eight) {
    EightStep right = eight_step_new(eight);
    EightState got = eight_state(eight->check, 0);
    Agreement a = {.seen = ""};
    bool good = true;
    eight_step_as(eight, &eight->start, 0, RIGHT, &right);
    for (int part = 0; part < PARTS_OF_STEP && good; part++) {
        good = part_agrees(eight, &got, &right, part, &a);
    }
    /* The last block, which is not full, may be forgotten by a launch of any size. */
    size_t touched = untouched_from(eight, got.weight), left = eight->all - touched;
    bool blocks = touched > 0 && touched % ADAM8_BLOCK == 0 && left > ADAM8_BLOCK;
    check_compared(eight->check, good, "%zu numbers, step %d: %s", eight->all, eight->t, a.seen);
    check_near(eight->check, a.nearest);
    check_suspect(eight->check, many_sentence, blocks);
    return good;
}

bool eight_judge_gradient(Eight *eight) {
    return gradient_expect_kept(eight->check, eight->grad, eight->all, 0, eight->t);
}

static bool eight_same(const Eight *eight, const EightMoment *a, const EightMoment *b) {
    return memcmp(a->code, b->code, eight->all) == 0 &&
           memcmp(a->absmax, b->absmax, eight->blocks * sizeof(float)) == 0 &&
           memcmp(a->value, b->value, eight->all * sizeof(float)) == 0;
}

bool eight_judge_again(Eight *eight) {
    EightState a = eight_state(eight->check, eight->steps - 1);
    EightState b = eight_state(eight->check, eight->steps - 1 + STEP_AGAIN);
    return check_compared(eight->check,
                          memcmp(a.weight, b.weight, eight->all * sizeof(float)) == 0 &&
                              eight_same(eight, &a.m, &b.m) && eight_same(eight, &a.v, &b.v),
                          "adam8, from the states of a checkpoint: other bits than without a "
                          "stop. Does the op keep "
                          "something that is not in its states?");
}
