/* Lab 06, judged: plans against all plans of a small model, whose bytes are counted by running the
   kit's own step (grader/labs/06_fit/space.c); what known mistakes give is in mistakes.c beside it,
   how a choice is asked for and judged in choice.c. Budgets come from the secret seed. */
#include <math.h>
#include <stdlib.h>

#include "grader/labs/06_fit/choice.h"
#include "grader/labs/06_fit/train.h"

static const double WITHIN_BYTES = 0.01;

/* ---- task 1 ---------------------------------------------------------------------------------- */

static void space_expect_bytes(const Space *space, const char *name, const Plan *plan) {
    enum { MOST = 16 };
    const uint64_t *got = check_got(space->check, name, WIRE_U64);
    uint64_t want[MEMORY_KINDS], values[MOST][MEMORY_KINDS];
    ExactSuspect suspects[MOST];
    const char *sentences[MOST];
    MemoryUse right = space_counted(space, plan), uses[MOST];
    bool close = true;
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        want[kind] = right.bytes[kind];
        close &= fabs((double)got[kind] - (double)want[kind]) <= WITHIN_BYTES * (double)want[kind];
    }
    if (close) {
        check_good(space->check);
        return;
    }
    int count = space_bytes_mistakes(space, plan, right, sentences, uses);
    for (int i = 0; i < count; i++) {
        for (int kind = 0; kind < MEMORY_KINDS; kind++) {
            values[i][kind] = uses[i].bytes[kind];
        }
        suspects[i] = (ExactSuspect){sentences[i], values[i]};
    }
    check_equal(space->check, name, want, MEMORY_KINDS, suspects, count);
    check_fail(space->check,
               "the kinds are, from 0 on: weights, gradients, optimizer, activations, "
               "workspace, data");
}

static void check_plan_bytes(Check *check, const Plan *plans, int count) {
    Space *space = space_without_plans(check, false);
    int32_t numbers[MOST_ASKED * PLAN_NUMBERS];
    char names[MOST_ASKED][WIRE_NAME] = {{0}};
    Plan asked[MOST_ASKED];
    for (int i = 0; i < count; i++) {
        asked[i] = plans[i];
        asked[i].micro_batch = i % 2 ? space->batch / 2 : 2;
        asked[i].window = space->batch / asked[i].micro_batch;
        plan_numbers(&asked[i], numbers + i * PLAN_NUMBERS);
        check_want(check, plan_text(&asked[i], names[i]), WIRE_U64, MEMORY_KINDS);
    }
    space_give(space, 0);
    check_give(check, "plans", WIRE_I32, numbers, (size_t)(count * PLAN_NUMBERS));
    check_give(check, "names", WIRE_BYTES, names, (size_t)count * WIRE_NAME);
    for (int i = 0, good = check_run(check, "bytes", SECONDS); i < count && good; i++) {
        space_expect_bytes(space, names[i], &asked[i]);
    }
    space_free(space);
}

GRADED(06_fit, bytes_float, "task 1: bytes by kind of plans in float, within 1 %") {
    check_plan_bytes(check,
                     (Plan[]){{.attention = ATTENTION_PLAIN}, {.attention = ATTENTION_FLASH}}, 2);
}

GRADED(06_fit, bytes_half, "task 1: the same in f16 and bf16") {
    check_plan_bytes(
        check, (Plan[]){{.precision = F16}, {.precision = BF16, .attention = ATTENTION_FLASH}}, 2);
}

GRADED(06_fit, bytes_checkpoint, "task 1: the same with blocks that run again") {
    check_plan_bytes(
        check,
        (Plan[]){{.checkpoint = {.segment = 1}, .precision = F16},
                 {.checkpoint = {.segment = 2}, .attention = ATTENTION_FLASH},
                 {.checkpoint = {.attention_only = true}},
                 {.checkpoint = {.segment = 1, .attention_only = true}, .precision = BF16}},
        4);
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

static void check_choose_roomy(Check *check, bool gpu) {
    Space *space = space_new(check, gpu);
    Budgets budgets = {.count = 0};
    budgets_ask(&budgets, space->front[space->fronts - 1]->bytes);
    budgets_ask(&budgets, (size_t)1 << 40);
    choices_expect(space, &budgets);
    space_free(space);
}

/* Budgets that the best plan takes to the byte. */
static void check_choose_exact(Check *check, bool gpu) {
    Space *space = space_new(check, gpu);
    Budgets budgets = {.count = 0};
    budgets_ask_at_cliffs(&budgets, space, 0);
    budgets_ask_at_worst(&budgets, space);
    budgets_ask(&budgets, space->front[0]->bytes);
    budgets_ask(&budgets, space->front[space->fronts - 1]->bytes);
    choices_expect(space, &budgets);
    space_free(space);
}

GRADED(06_fit, choose_roomy, "task 2: everything fits: the least cost of all") {
    check_choose_roomy(check, true);
}

GRADED(06_fit, choose_exact, "task 2: budgets that the best plan takes to the byte") {
    check_choose_exact(check, true);
}

GRADED(06_fit, choose_short, "task 2: one byte less: that plan does not fit any more") {
    Space *space = space_new(check, true);
    Budgets budgets = {.count = 0};
    budgets_ask_at_cliffs(&budgets, space, -1);
    budgets_ask(&budgets, space->front[space->fronts - 1]->bytes - 1);
    choices_expect(space, &budgets);
    space_free(space);
}

GRADED(06_fit, choose_cpu, "task 2: where half is slower, and its workspace large") {
    check_choose_exact(check, false);
}

GRADED(06_fit, nothing_fits, "task 2: -1 where nothing fits, and a plan where just one does") {
    Space *space = space_new(check, false);
    Budgets budgets = {.count = 0};
    budgets_ask(&budgets, space->front[0]->bytes - 1);
    budgets_ask(&budgets, 0);
    budgets_ask(&budgets, space->front[0]->bytes);
    if (choices_run(space, &budgets)) {
        choice_expect_nothing(space, &budgets, 0);
        choice_expect_nothing(space, &budgets, 1);
        choice_expect(space, &budgets, 2);
    }
    space_free(space);
}

/* ---- the chosen plan at work ----------------------------------------------------------------- */

static void check_trains(Check *check, bool gpu) {
    Space *space = space_new(check, gpu);
    Budgets budgets = {.count = 0};
    char text[PLAN_TEXT];
    const Measured *chosen = choice_one(space, &budgets);
    Reference *reference = reference_new(&space->config);
    if (chosen != NULL) {
        Batch rows = train_rows(space);
        train_weights(check, reference);
        check_tell(check, "%s in %zu bytes", plan_text(&chosen->plan, text),
                   (size_t)budgets.budget[0]);
        if (train_run(space, reference, &chosen->plan, budgets.budget[0])) {
            train_expect_gradients(space, reference, &chosen->plan, rows);
        } else {
            choice_expect(space, &budgets, 0); /* says why it ran out of memory */
        }
    }
    reference_free(reference);
    space_free(space);
}

GRADED(06_fit, trains, "task 2: an update by your plan, in that budget: right gradients") {
    check_trains(check, false);
}

GRADED(06_fit, trains_gpu, "task 2: the same on the (simulated) GPU, where half is faster") {
    check_trains(check, true);
}

/* ---- task 3 ---------------------------------------------------------------------------------- */

/* Asks for a budget that `most` sequences take, and `spare` more bytes. */
static void largest_ask(const Space *space, Plan *plan, int sequences, size_t spare,
                        int32_t *numbers, uint64_t *budget) {
    plan->micro_batch = sequences;
    plan->window = 1;
    *budget = space_counted_bytes(space, plan) + spare;
    plan->micro_batch = plan->window = check_int(space->check, 1, 40); /* means nothing */
    plan_numbers(plan, numbers);
}

static void largest_expect(const Space *space, const uint64_t *budgets, const uint64_t *want,
                           int count, int most) {
    uint64_t less[MOST_ASKED], doubled[MOST_ASKED], more[MOST_ASKED];
    const uint64_t *got = check_got(space->check, "largest", WIRE_U64);
    for (int i = 0; i < count; i++) {
        less[i] = want[i] - (i % 2 == 0 && want[i] > 0); /* every other one is exact */
        more[i] = want[i] + 1;
        for (doubled[i] = want[i] > 0; doubled[i] > 0 && doubled[i] * 2 <= want[i];) {
            doubled[i] *= 2;
        }
    }
    ExactSuspect suspects[] = {
        {"one more would still fit: a budget that is taken to the byte is enough", less},
        {"only powers of two are tried", doubled},
        {"one more than fits: the last that fits is asked for, not the first that does not", more}};
    check_equal(space->check, "largest", want, (size_t)count, suspects, 3);
    for (int i = 0; i < count; i++) {
        if (got[i] > (uint64_t)most) {
            check_fail(space->check, "the answer is at most `most`, %d, and 0 or more", most);
        } else if (got[i] != want[i]) {
            check_fail(space->check, "in a budget of %zu bytes, %d sequences fit",
                       (size_t)budgets[i], (int)want[i]);
        }
    }
}

static void check_largest(Check *check, bool ends) {
    enum { COUNT = 4, MOST = 37 };
    Space *space = space_without_plans(check, false);
    Plan plans[COUNT] = {{.precision = F32},
                         {.precision = F16, .attention = ATTENTION_FLASH},
                         {.precision = BF16, .checkpoint = {.segment = 1}},
                         {.precision = F32, .checkpoint = {.segment = 2, .attention_only = true}}};
    int32_t numbers[COUNT * PLAN_NUMBERS];
    uint64_t budgets[COUNT], want[COUNT];
    for (int i = 0; i < COUNT; i++) {
        want[i] = !ends ? (uint64_t)check_int(check, 2 + 2 * i, MOST - 2) : i % 2 ? MOST : 1;
        if (!ends && (want[i] & (want[i] - 1)) == 0) {
            want[i]++; /* no power of two */
        }
        largest_ask(space, &plans[i], (int)want[i], 0, numbers + i * PLAN_NUMBERS, &budgets[i]);
        if (!ends && i % 2) { /* most of one sequence is left over, and too little for it */
            Plan next = plans[i];
            next.micro_batch = (int)want[i] + 1;
            budgets[i] = space_counted_bytes(space, &next) - 1;
        } else if (ends) { /* one byte too few for the first, and far too much */
            budgets[i] = i % 2 ? (uint64_t)1 << 40 : budgets[i] - 1;
            want[i] = i % 2 ? MOST : 0;
        }
    }
    space_give(space, MOST);
    check_give(check, "plans", WIRE_I32, numbers, COUNT * PLAN_NUMBERS);
    check_give(check, "budgets", WIRE_U64, budgets, COUNT);
    check_want(check, "largest", WIRE_U64, COUNT);
    if (check_run(check, "largest", SECONDS)) {
        largest_expect(space, budgets, want, COUNT, MOST);
    }
    space_free(space);
}

GRADED(06_fit, largest, "task 3: the most sequences that fit, in four ways to run a step") {
    check_largest(check, false);
}

GRADED(06_fit, largest_ends, "task 3: 0 where not even one fits, and never more than `most`") {
    check_largest(check, true);
}

/* ---- shown, without points ------------------------------------------------------------------- */

/* One step away from the plan, in the direction `way`; false if there is nothing. */
static bool plan_step_away(const Space *space, int way, Plan *plan) {
    int micro = plan->micro_batch, by = way == 0 ? 1 : -1;
    switch (way) {
    case 0:
    case 1:
        for (micro += by; micro >= 1 && micro <= space->batch && space->batch % micro != 0;) {
            micro += by;
        }
        plan->micro_batch = micro;
        plan->window = micro > 0 ? space->batch / micro : 0;
        return micro >= 1 && micro <= space->batch;
    case 2:
    case 3:
        plan->checkpoint.segment += way == 2 ? 1 : -1;
        return true;
    case 4:
        plan->checkpoint.attention_only = !plan->checkpoint.attention_only;
        return plan->attention == ATTENTION_PLAIN;
    case 5:
        plan->attention = plan->attention == ATTENTION_PLAIN ? ATTENTION_FLASH : ATTENTION_PLAIN;
        return true;
    default:
        plan->precision = (Precision)(((int)plan->precision + way) % 3);
        return true;
    }
}

GRADED(06_fit, neighbours, "your plan and its neighbours, counted") {
    enum { WAYS = 8 };
    Space *space = space_new(check, true);
    Budgets budgets = {.count = 0};
    char text[PLAN_TEXT];
    const Measured *chosen = choice_one(space, &budgets);
    if (chosen != NULL) {
        size_t budget = budgets.budget[0];
        check_tell(check, "%-44s %8zu bytes of %zu: chosen\n", plan_text(&chosen->plan, text),
                   chosen->bytes, budget);
        for (int way = 0; way < WAYS; way++) {
            Plan plan = chosen->plan;
            const Measured *near =
                plan_step_away(space, way, &plan) ? space_find(space, &plan) : NULL;
            if (near != NULL && near != chosen) {
                check_tell(check, "%-44s %8zu bytes, %s, cost %+.0f %%\n",
                           plan_text(&near->plan, text), near->bytes,
                           near->bytes <= budget ? "fits" : "too many",
                           100 * (near->cost / chosen->cost - 1));
            }
        }
        choice_expect(space, &budgets, 0);
    }
    space_free(space);
}

GRADED(06_fit, own, "the same with your own labs 01 to 05 (OWN=1 CHECK=own)") {
    if (getenv("OWN") != NULL && getenv("OWN")[0] != '\0') {
        check_trains(check, true);
    } else {
        check_not_run(check, "make grade06 OWN=1 CHECK=own");
    }
}
