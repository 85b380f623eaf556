/* Lab 06, judged: bytes against what the kit counts, costs against a formula of the judge's own and
   against machines that were measured, choices against an exact search. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grader/draws.h"
#include "grader/labs/06_fit/choice.h"
#include "grader/labs/06_fit/costs.h"
#include "grader/labs/06_fit/mistakes.h"
#include "grader/labs/06_fit/quote.h"
#include "grader/labs/06_fit/train.h"

/* ---- task 1 ---------------------------------------------------------------------------------- */

static bool uses_equal(const uint64_t *got, const MemoryUse *use) {
    bool same = true;
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        same = same && got[kind] == use->bytes[kind];
    }
    return same;
}

static void space_expect_bytes(const Space *space, const char *name, const Plan *plan) {
    enum { MOST = 16 };
    const uint64_t *got = check_got(space->check, name, WIRE_U64);
    MemoryUse right = space_counted(space, plan), uses[MOST];
    const char *sentences[MOST];
    int wrong = 0;
    while (wrong < MEMORY_KINDS && got[wrong] == right.bytes[wrong]) {
        wrong++;
    }
    int kind = wrong < MEMORY_KINDS ? wrong : 0;
    check_compared(space->check, wrong == MEMORY_KINDS, "%s: %llu bytes of %s, and %llu are right",
                   name, (unsigned long long)got[kind], memory_kind_name((MemoryKind)kind),
                   (unsigned long long)right.bytes[kind]);
    int count = space_bytes_mistakes(space, plan, right, sentences, uses);
    for (int i = 0; i < count; i++) {
        check_suspect(space->check, sentences[i], uses_equal(got, &uses[i]));
    }
}

static void check_plan_bytes(Check *check, const Plan *plans, int count) {
    Space *space = space_without_plans(check, false);
    if (plans[0].precision == F32) { /* the plan's are always others */
        space->config.precision = BF16;
        space->config.attention = ATTENTION_FLASH;
    }
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
    space_give(space);
    check_give(check, "plans", WIRE_I32, numbers, (size_t)(count * PLAN_NUMBERS));
    check_give(check, "names", WIRE_BYTES, names, (size_t)count * WIRE_NAME);
    for (int i = 0, good = check_run(check, "bytes", SECONDS); i < count && good; i++) {
        space_expect_bytes(space, names[i], &asked[i]);
    }
    space_free(space);
}

GRADED(06_fit, bytes_float, "task 1: bytes by kind of plans in float, to the byte") {
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
                 {.checkpoint = {.segment = 1, .attention_only = true}, .precision = BF16},
                 {.checkpoint = {.segment = 3}, .precision = BF16}, /* 2 or 3 leaves a short one */
                 {.checkpoint = {.segment = 4}}, /* as many as there are blocks, or more */
                 {.checkpoint = {.attention_only = true}, .attention = ATTENTION_FLASH}},
        7);
}

GRADED(06_fit, bytes_large, "task 1: GPT-2 XL's own shape: more than 2^32 bytes") {
    quote_bytes(check);
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

GRADED(06_fit, cost_parts, "task 2: seconds on machines that are slow in one thing or another") {
    quote_costs(check, false);
}

GRADED(06_fit, cost_again, "task 2: the same with blocks and probabilities that run again") {
    quote_costs(check, true);
}

GRADED(06_fit, cost_measured, "task 2: seconds on machines that were measured, within 50 %") {
    if (quote_measured(check)) {
        quote_expect_near(check);
    }
}

GRADED(06_fit, cost_order,
       "task 2: which of two plans is faster there, where much lies between them") {
    if (quote_measured(check)) {
        quote_expect_order(check);
    }
}

/* ---- tasks 3 and 4 --------------------------------------------------------------------------- */

GRADED(06_fit, peak, "task 3: the peak of a plan with a way for each block") {
    peaks_ask(check);
}

GRADED(06_fit, choose_roomy, "task 4: everything fits: the least cost of all") {
    Stack *stack = stack_draw(check, STACK_SMALL);
    Budgets budgets = {.count = 0};
    budgets_ask(stack, &budgets, stack_most(stack));
    budgets_ask(stack, &budgets, (size_t)1 << 40);
    budgets_ask(stack, &budgets, SIZE_MAX);
    choices_expect_turned(stack, &budgets);
}

/* Draws until each known mistake costs more than is allowed in one of the budgets. */
static Stack *stack_draw_apart(Check *check, Budgets *budgets, size_t less) {
    enum { TRIES = 200 };
    for (int i = 0; i < TRIES; i++) {
        Stack *stack = stack_draw(check, STACK_SMALL);
        budgets->count = 0;
        if (budgets_ask_at_worst(stack, budgets, less)) {
            return stack;
        }
    }
    CHECK(false, "no model in %d shows every mistake", TRIES);
    return NULL;
}

GRADED(06_fit, choose_exact, "task 4: budgets that the best plan takes to the byte") {
    Budgets budgets = {.count = 0};
    Stack *stack = stack_draw_apart(check, &budgets, 0);
    budgets_ask(stack, &budgets, stack_least(stack));
    choices_expect(stack, &budgets);
}

GRADED(06_fit, choose_short, "task 4: one byte less: that plan does not fit any more") {
    Budgets budgets = {.count = 0};
    Stack *stack = stack_draw_apart(check, &budgets, 1);
    choices_expect_endless(stack, &budgets);
}

GRADED(06_fit, choose_wide, "task 4: 24 blocks as wide as GPT-2's, more than 2^32 bytes") {
    Budgets budgets = {.count = 0};
    Stack *stack = stack_draw(check, STACK_WIDE);
    budgets_ask_at_worst(stack, &budgets, 0);
    choices_expect_wide(stack, &budgets);
}

GRADED(06_fit, choose_ties, "task 4: of plans that cost the same the one with the lowest peak") {
    Stack *stack = stack_draw_ties(check);
    Budgets budgets = {.count = 0};
    size_t least = stack_least(stack), most = stack_most(stack);
    for (size_t i = 0; i < TIES_BUDGETS; i++) {
        Priced best = stack_best(stack, least + (most - least) / TIES_BUDGETS * i);
        /* just below the next cheaper plan, so that all plans of one cost fit */
        budgets_ask(stack, &budgets, stack_before_cheaper(stack, &best));
    }
    choices_expect_alike(stack, &budgets);
}

GRADED(06_fit, nothing_fits, "task 4: -1 where nothing fits, and a plan where just one does") {
    Stack *stack = stack_draw(check, STACK_SMALL);
    Budgets budgets = {.count = 0};
    size_t most = stack_most(stack);
    /* One that costs nothing, and is nothing but a head that hardly ever fits; one without blocks
       and head that costs as little as a head, and takes a little more than the rest; and one that
       costs half of that, and takes more again. */
    PlanOption *head = &stack->option[0], *bytes = &stack->option[1], *more = &stack->option[3];
    *head = (PlanOption){.plan = head->plan, .head = (size_t)1 << 50, .block = head->block};
    *bytes = (PlanOption){.plan = bytes->plan,
                          .bytes = most + 4096,
                          .seconds = bytes->seconds,
                          .block = bytes->block};
    *more = *bytes;
    more->bytes += 4096;
    more->seconds /= 2;
    budgets_ask(stack, &budgets, most + 4096);
    budgets_ask(stack, &budgets, stack_least(stack) - 1);
    budgets_ask(stack, &budgets, 0);
    budgets_ask(stack, &budgets, stack_least(stack));
    budgets_ask(stack, &budgets, most); /* or one that never finds a plan is taken for another */
    budgets_ask(stack, &budgets, (size_t)1 << 51); /* then it fits, and nothing is cheaper */
    choices_expect(stack, &budgets);
}

/* ---- the chosen plan at work ----------------------------------------------------------------- */

/* The plan of the kit's own blocks that is chosen for a budget; NULL where the check has failed. */
static const Measured *space_ask(Space *space, size_t budget) {
    PlanOption options[MOST_PLANS];
    for (int i = 0; i < space->count; i++) {
        const double unit = 1 << 30;
        options[i] = (PlanOption){.plan = space->plan[i].plan,
                                  .bytes = space->plan[i].bytes,
                                  .seconds = ceil(space->plan[i].cost * unit) / unit};
    }
    space_give(space);
    int chosen = choice_option(space->check, options, space->count, budget);
    return chosen < 0 ? NULL : &space->plan[chosen];
}

static void check_trains(Check *check, bool gpu) {
    Space *space = space_new(check, gpu);
    size_t budget = space->front[space->fronts / 2]->bytes + 64;
    char text[PLAN_TEXT];
    const Measured *chosen = space_ask(space, budget);
    Reference *reference = reference_new(&space->config);
    if (chosen != NULL) {
        Batch rows = train_rows(space);
        train_weights(check, reference);
        check_tell(check, "%s in %zu bytes", plan_text(&chosen->plan, text), budget);
        if (train_run(space, reference, &chosen->plan, budget)) {
            train_expect_gradients(space, reference, &chosen->plan, rows);
        }
    }
    reference_free(reference);
    space_free(space);
}

GRADED(06_fit, trains, "task 4: an update by your plan, in that budget: right gradients") {
    check_trains(check, false);
}

GRADED(06_fit, trains_gpu, "task 4: the same on the (simulated) GPU, where half is faster") {
    check_trains(check, true);
}

/* ---- task 5 ---------------------------------------------------------------------------------- */

enum { LARGEST_MOST = 37 };

/* Of plan->micro_batch sequences, run in this way. */
typedef size_t LargestBytes(const Space *space, const Plan *plan);

static size_t large_bytes(const Space *space, const Plan *plan) {
    MemoryUse use = space_large(space, plan);
    return memory_total(&use);
}

static size_t largest_takes(const Space *space, Plan plan, int sequences, LargestBytes *bytes) {
    plan.micro_batch = sequences;
    plan.window = 1;
    return bytes(space, &plan);
}

/* Some way to run a step, a budget, the most that is asked for, and how many sequences fit. */
typedef struct LargestAsk {
    Plan plan;
    uint64_t budget, want;
    int most;
} LargestAsk;

static void largest_expect(const Space *space, const LargestAsk *asks, int count,
                           const uint64_t *divided) {
    uint64_t want[MOST_ASKED], less[MOST_ASKED], doubled[MOST_ASKED], more[MOST_ASKED],
        one[MOST_ASKED];
    const uint64_t *got = check_got(space->check, "largest", WIRE_U64);
    for (int i = 0; i < count; i++) {
        want[i] = asks[i].want;
        less[i] = want[i] - (i % 2 == 0 && want[i] > 0); /* every other one is exact */
        more[i] = want[i] + 1;
        one[i] = want[i] > 0 ? want[i] : 1;
        for (doubled[i] = want[i] > 0; doubled[i] > 0 && doubled[i] * 2 <= want[i];) {
            doubled[i] *= 2;
        }
    }
    ExactSuspect suspects[] = {
        {"one more would still fit: a budget that is taken to the byte is enough, or plan_bytes() "
         "says too much",
         less},
        {"only powers of two are tried", doubled},
        {"one more than fits: the last that fits is asked for, not the first that does not", more},
        {"it is 0 where not even one sequence fits", one},
        {"the budget is divided by the bytes of one sequence: weights and their states are there "
         "once",
         divided}};
    check_equal(space->check, "largest", want, (size_t)count, suspects, 5);
    for (int i = 0; i < count; i++) {
        if (got[i] > (uint64_t)asks[i].most) {
            check_fail(space->check, "the answer is at most `most`, %d, and 0 or more",
                       asks[i].most);
        } else if (got[i] != want[i]) {
            check_fail(space->check, "in a budget of %zu bytes, %d sequences fit",
                       (size_t)asks[i].budget, (int)want[i]);
        }
    }
}

static void largest_run(Space *space, const LargestAsk *asks, int count, LargestBytes *bytes) {
    int32_t numbers[MOST_ASKED * PLAN_NUMBERS], most[MOST_ASKED];
    uint64_t budgets[MOST_ASKED], divided[MOST_ASKED];
    Check *check = space->check;
    for (int i = 0; i < count; i++) {
        Plan plan = asks[i].plan;
        plan.micro_batch = plan.window = check_int(check, 1, 40); /* means nothing */
        plan_numbers(&plan, numbers + (ptrdiff_t)i * PLAN_NUMBERS);
        budgets[i] = asks[i].budget;
        most[i] = asks[i].most;
        divided[i] = budgets[i] / largest_takes(space, plan, 1, bytes);
    }
    check_after(check, "bytes_float bytes_half bytes_checkpoint");
    space_give(space);
    check_give(check, "plans", WIRE_I32, numbers, (size_t)(count * PLAN_NUMBERS));
    check_give(check, "budgets", WIRE_U64, budgets, (size_t)count);
    check_give(check, "most", WIRE_I32, most, (size_t)count);
    check_want(check, "largest", WIRE_U64, (size_t)count);
    if (check_run(check, "largest", SECONDS)) {
        largest_expect(space, asks, count, divided);
    }
    space_free(space);
}

GRADED(06_fit, largest, "task 5: the most sequences that fit, in four ways to run a step") {
    Space *space = space_without_plans(check, false);
    enum { WAYS = 4 };
    LargestAsk asks[WAYS] = {
        {.plan = {.precision = F32}},
        {.plan = {.precision = F16, .attention = ATTENTION_FLASH}},
        {.plan = {.precision = BF16, .checkpoint = {.segment = 1}}},
        {.plan = {.precision = F32, .checkpoint = {.segment = 2, .attention_only = true}}}};
    for (int i = 0; i < WAYS; i++) {
        int fit = check_int(check, 2 + 2 * i, LARGEST_MOST - 2);
        fit += (fit & (fit - 1)) == 0; /* no power of two */
        asks[i].want = (uint64_t)fit;
        asks[i].most = LARGEST_MOST;
        /* Most of one sequence is left over in every other one, and too little for it. */
        asks[i].budget = i % 2
                             ? largest_takes(space, asks[i].plan, fit + 1, space_counted_bytes) - 1
                             : largest_takes(space, asks[i].plan, fit, space_counted_bytes);
    }
    largest_run(space, asks, WAYS, space_counted_bytes);
}

GRADED(06_fit, largest_ends,
       "task 5: a large model: 0 where not even one fits, never more than `most`") {
    Space *space = space_large_new(check);
    int fit = check_int(check, 6, LARGEST_MOST - 2), most = (1 << 30) / space->T;
    enum { ENDS = 5 };
    LargestAsk asks[ENDS] = {
        {.plan = {.precision = F32}, .most = most}, /* one byte too few for the first */
        {{.precision = F16, .attention = ATTENTION_FLASH}, UINT64_MAX, (uint64_t)most, most},
        {{.precision = BF16, .checkpoint = {.segment = 1}}, 0, 0, most},
        {{.precision = F32, .checkpoint = {.segment = 2}}, .want = (uint64_t)fit, .most = most},
        {{.precision = F32}, UINT64_MAX, 1, 1}}; /* all but one would fit */
    asks[0].budget = largest_takes(space, asks[0].plan, 1, large_bytes) - 1;
    asks[3].budget = largest_takes(space, asks[3].plan, fit, large_bytes);
    check_size(check, "budgets beyond 2^32 bytes", asks[3].budget > UINT32_MAX);
    largest_run(space, asks, ENDS, large_bytes);
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
    size_t budget = space->front[space->fronts / 2]->bytes + 64;
    char text[PLAN_TEXT];
    const Measured *chosen = space_ask(space, budget);
    if (chosen != NULL) {
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
        check_good(check);
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
