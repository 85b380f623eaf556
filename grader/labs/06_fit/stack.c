/* Draws models whose blocks differ, and prices plans of them. The contract is in stack.h. */
#include "grader/labs/06_fit/stack.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/crossentropy.h"

/* ---- drawing --------------------------------------------------------------------------------- */

/* A model with blocks of different widths, on a machine. */
typedef struct Drawn {
    int V, T, C, L, batch;
    int heads[PLAN_BLOCKS], hidden[PLAN_BLOCKS]; /* heads of 64 channels; channels of the MLP */
    double speed[PLAN_BLOCKS];                   /* of a block, beside that of the machine */
    double rate, half, flash, rows, stream;
} Drawn;

/* Sums of such numbers are exact. */
static double whole_units(double seconds) {
    const double unit = 1 << 30;
    return ceil(seconds * unit) / unit;
}

static Drawn stack_draw_model(Check *check, StackSize size) {
    bool wide = size == STACK_WIDE;
    Drawn m = {.V = wide ? 50257 : check_int(check, 2500, 5000),
               .T = wide ? 1024 : 64 * check_int(check, 6, 12),
               .C = wide ? 1600 : 64 * check_int(check, 6, 9),
               .L = wide ? PLAN_BLOCKS : check_int(check, 6, 8),
               .batch = 8,
               .rate = 1e9 * check_int(check, wide ? 20000 : 50, wide ? 80000 : 200),
               .half = 0.1 * check_int(check, 14, 20),
               .flash = 0.1 * check_int(check, 20, 30),
               .rows = 0.1 * check_int(check, 1, 4)};
    m.stream = m.rate / check_int(check, 10, 40);
    for (int i = 0; i < m.L; i++) {
        m.heads[i] = check_int(check, 2, m.C / 64);
        m.hidden[i] = m.C * check_int(check, 1, 6);
        m.speed[i] = 0.1 * check_int(check, 2, 15);
    }
    return m;
}

/* FLOP per second of a micro-batch: few rows cannot keep a machine busy. */
static double drawn_rate(const Drawn *m, const Plan *plan) {
    double busy = plan->micro_batch / (plan->micro_batch + m->rows);
    return m->rate * busy * (plan->precision == F32 ? 1 : m->half);
}

static PlanBlock drawn_block(const Drawn *m, const Plan *plan, int i) {
    size_t N = (size_t)plan->micro_batch * (size_t)m->T, number = precision_bytes(plan->precision);
    size_t C = (size_t)m->C, A = 64 * (size_t)m->heads[i], F = (size_t)m->hidden[i];
    bool plain = plan->attention == ATTENTION_PLAIN;
    size_t output = N * C * number;
    size_t probs = plain ? N * (size_t)m->heads[i] * (size_t)m->T * number : 0;
    size_t inside = N * ((3 * C + 4 * A + 2 * F) * number + 4 * sizeof(float)) + probs;
    size_t mlp = C + F, attention = 2 * C + 3 * A, more = mlp > attention ? mlp : attention;
    size_t gradients = N * more * number;
    PlanBlock block = {.kept = {output + inside, output + inside - probs, output}};
    for (int way = 0; way < PLAN_WAYS; way++) {
        block.working[way] = output + inside + gradients;
    }
    double tokens = (double)m->batch * m->T, rate = drawn_rate(m, plan) * m->speed[i];
    double squares = tokens * m->T * (double)A * 2;
    double forward = tokens * 2.0 * (double)C * (4.0 * (double)A + 2.0 * (double)F) / rate +
                     squares * (plain ? 1 : m->flash) / rate;
    double again = plain ? squares / rate + tokens * m->heads[i] * m->T * 4 / m->stream : 0;
    block.seconds[WAY_KEEP] = whole_units(3 * forward);
    block.seconds[WAY_ATTENTION] = whole_units(3 * forward) + whole_units(again);
    block.seconds[WAY_AGAIN] = whole_units(3 * forward) + whole_units(forward);
    return block;
}

static void add_option(Stack *stack, const Drawn *m, Plan plan) {
    PlanOption *option = &stack->option[stack->count];
    PlanBlock *block = stack->block[stack->count++];
    size_t N = (size_t)plan.micro_batch * (size_t)m->T, number = precision_bytes(plan.precision);
    size_t C = (size_t)m->C, row = (size_t)logits_stride(m->V),
           P = ((size_t)m->V + (size_t)m->T) * C;
    for (int i = 0; i < m->L; i++) {
        block[i] = drawn_block(m, &plan, i);
        P += 4 * C * 64 * (size_t)m->heads[i] + 2 * C * (size_t)m->hidden[i];
    }
    *option = (PlanOption){.plan = plan, .blocks = m->L, .block = block};
    option->bytes = P * (plan.precision == F32 ? 16 : 18) + 2 * N * C * number + 8 * N;
    option->bytes |= 1; /* a search that counts in larger units than bytes is seen */
    option->head = 2 * N * C * number + N * (row * number + 4 * sizeof(float));
    double tokens = (double)m->batch * m->T;
    double head = tokens * 6 * (double)C * m->V / drawn_rate(m, &plan);
    option->seconds = whole_units(head * (1 + 0.1 * check_int(stack->check, 0, 30)));
}

static void fill(Stack *stack, const Drawn *m) {
    for (int micro = m->batch / 2; micro >= 1; micro /= 2) {
        Plan plan = {.micro_batch = micro, .window = m->batch / micro};
        add_option(stack, m, plan);
        plan.precision = F16;
        add_option(stack, m, plan);
        plan.attention = ATTENTION_FLASH;
        add_option(stack, m, plan);
    }
}

static Stack *stack_new(Check *check) {
    Stack *stack = (Stack *)check_doubles(check, sizeof(Stack) / sizeof(double) + 1);
    stack->check = check;
    return stack;
}

/* Puts the option that is best where everything fits after all others: a search may end one too
   early. */
static void put_best_last(Stack *stack) {
    int best = stack_best(stack, SIZE_MAX).choice.option;
    PlanOption last = stack->option[stack->count - 1];
    stack->option[stack->count - 1] = stack->option[best];
    stack->option[best] = last;
}

/* The last of as many blocks as there may be works in so much that its way decides what fits: a
   search may have forgotten that one. */
static void burden_last_block(Stack *stack) {
    for (int i = 0; i < stack->count; i++) {
        size_t *working = stack->block[i][PLAN_BLOCKS - 1].working, head = stack->option[i].head;
        working[WAY_KEEP] += head + head / 2;
        working[WAY_ATTENTION] += head + head / 4;
        working[WAY_AGAIN] += head;
    }
}

Stack *stack_draw(Check *check, StackSize size) {
    Stack *stack = stack_new(check);
    Drawn m = stack_draw_model(check, size);
    fill(stack, &m);
    if (size == STACK_WIDE) {
        burden_last_block(stack);
    }
    put_best_last(stack);
    return stack;
}

enum { TIES = 5, TIES_PLANS = 243 }; /* blocks, and the plans of an option: 3^5 */

/* One of the plans of an option with TIES blocks. */
static PlanChoice ties_plan(int option, int plan) {
    PlanChoice choice = {.option = option};
    for (int k = 0; k < TIES; k++, plan /= PLAN_WAYS) {
        choice.way[k] = (unsigned char)(plan % PLAN_WAYS);
    }
    return choice;
}

static size_t kept_by(const Stack *stack, const PlanChoice *choice) {
    size_t kept = 0;
    for (int i = 0; i < TIES; i++) {
        kept += stack->option[choice->option].block[i].kept[choice->way[i]];
    }
    return kept;
}

/* Whether a plan of the same option costs the same as the best one, fits too, and keeps less, so
   that a search that forgets what another beats forgets the best one. */
static bool less_is_kept(const Stack *stack, const Priced *best, size_t budget) {
    for (int plan = 0; plan < TIES_PLANS; plan++) {
        PlanChoice choice = ties_plan(best->choice.option, plan);
        Priced one = stack_price(stack, &choice);
        if (one.cost == best->cost && one.peak <= budget && one.peak > best->peak &&
            kept_by(stack, &choice) < kept_by(stack, &best->choice)) {
            return true;
        }
    }
    return false;
}

static bool ties_show(const Stack *stack) {
    size_t least = stack_least(stack), most = stack_most(stack);
    for (size_t i = 0; i < TIES_BUDGETS; i++) {
        Priced best = stack_best(stack, least + (most - least) / TIES_BUDGETS * i);
        if (less_is_kept(stack, &best, stack_before_cheaper(stack, &best))) {
            return true;
        }
    }
    return false;
}

/* The last but one keeps a quarter more than the one before it, and works in so much that of the
   two it is better kept. */
static void ties_apart(PlanBlock block[TIES]) {
    PlanBlock *late = &block[TIES - 2];
    size_t kept = late->kept[WAY_KEEP];
    for (int way = 0; way < PLAN_WAYS; way++) {
        late->kept[way] += way == WAY_AGAIN ? 0 : kept / 4;
        late->working[way] += kept / 4 * 3;
    }
}

static Stack *stack_with_ties(Check *check) {
    Stack *stack = stack_new(check);
    Drawn m = stack_draw_model(check, STACK_SMALL);
    m.L = TIES;
    for (int i = 2; i < m.L - 1; i++) { /* the last three cost the same */
        m.heads[i + 1] = m.heads[2];
        m.hidden[i + 1] = m.hidden[2];
        m.speed[i + 1] = m.speed[2];
    }
    fill(stack, &m);
    /* Each of three comes three times, the one with most bytes first. */
    enum { ALL = 9, TIMES = 3 };
    for (int i = ALL - 1; i >= 0; i--) {
        stack->option[i] = stack->option[i / TIMES];
        stack->option[i].head = 0; /* so that it matters where bytes are kept */
    }
    stack->count = ALL;
    for (int i = ALL - 2; i >= 0; i--) {
        size_t more = i % TIMES < TIMES - 1 ? 4096 * (size_t)check_int(check, 1, 9) : 0;
        stack->option[i].bytes =
            more > 0 ? stack->option[i + 1].bytes + more : stack->option[i].bytes;
    }
    for (int i = 0; i < ALL / TIMES; i++) { /* the blocks of all nine */
        ties_apart(stack->block[i]);
    }
    return stack;
}

Stack *stack_draw_ties(Check *check) {
    enum { TRIES = 200 };
    for (int i = 0; i < TRIES; i++) {
        Stack *stack = stack_with_ties(check);
        if (ties_show(stack)) {
            return stack;
        }
    }
    CHECK(false, "no model in %d whose equals keep less than the best", TRIES);
    return NULL;
}

/* Cost in floats: the option's seconds first and then blocks from the first, or the other way. */
static float cost_in_floats(const PlanOption *option, const unsigned char *way, bool from_last) {
    float sum = from_last ? 0 : (float)option->seconds;
    for (int k = 0; k < option->blocks; k++) {
        int i = from_last ? option->blocks - 1 - k : k;
        sum = (float)((double)sum + option->block[i].seconds[way[i]]);
    }
    return from_last ? (float)((double)sum + option->seconds) : sum;
}

bool stack_floats_prefer(const Stack *stack, const PlanChoice *choice, const PlanChoice *other,
                         bool from_last) {
    return cost_in_floats(&stack->option[choice->option], choice->way, from_last) <=
           cost_in_floats(&stack->option[other->option], other->way, from_last);
}

/* The plan that floats take for the cheapest, and of equals that with the lowest peak. */
static Priced best_in_floats(const Stack *stack, size_t budget, bool from_last) {
    Priced best = {.found = false};
    float least = 0;
    for (int plan = 0; plan < TIES_PLANS; plan++) {
        PlanChoice choice = ties_plan(0, plan);
        Priced one = stack_price(stack, &choice);
        float cost = cost_in_floats(stack->option, choice.way, from_last);
        if (one.peak <= budget &&
            (!best.found || cost < least || (cost == least && one.peak < best.peak))) {
            best = one;
            least = cost;
        }
    }
    return best;
}

static bool floats_fail(const Stack *stack, bool from_last) {
    size_t least = stack_least(stack), most = stack_most(stack);
    for (size_t i = 0; i < TIES_BUDGETS; i++) {
        Priced best = stack_best(stack, least + (most - least) / TIES_BUDGETS * i);
        size_t budget = stack_before_cheaper(stack, &best);
        Priced chosen = best_in_floats(stack, budget, from_last);
        if (chosen.cost == best.cost && chosen.peak > best.peak) {
            return true;
        }
    }
    return false;
}

/* Between 1 and 2, with all the digits that seconds may have. */
static double many_digits(Check *check) {
    return 1 + (2.0 * check_int(check, 0, (1 << 29) - 1) + 1) / (1 << 30);
}

Stack *stack_draw_alike(Check *check) {
    enum { TRIES = 200 };
    Stack *stack = stack_new(check);
    stack->count = 1;
    for (int tries = 0; tries < TRIES; tries++) {
        double keep = many_digits(check), again = keep + many_digits(check);
        for (int i = 0; i < TIES; i++) {
            stack->block[0][i] = (PlanBlock){.kept = {4096, 4000, 512},
                                             .working = {6000, 6000, 4500},
                                             .seconds = {keep, again + 1, again}};
        }
        stack->option[0] = (PlanOption){.plan = {.micro_batch = 1, .window = 1},
                                        .bytes = 4096,
                                        .seconds = 4 * many_digits(check),
                                        .blocks = TIES,
                                        .block = stack->block[0]};
        if (floats_fail(stack, false) && floats_fail(stack, true)) {
            return stack;
        }
    }
    CHECK(false, "no blocks in %d whose costs floats take for different", TRIES);
    return NULL;
}

Stack *stack_draw_endless(Check *check, Priced *best) {
    Stack *stack = stack_new(check);
    PlanChoice choice = {.option = 0};
    stack->count = 1;
    for (int i = 0; i < PLAN_BLOCKS; i++) {
        PlanBlock *block = &stack->block[0][i];
        choice.way[i] = (unsigned char)check_int(check, 0, PLAN_WAYS - 1);
        for (int way = 0; way < PLAN_WAYS; way++) {
            int units = (PLAN_WAYS - way) * (1 << 26) + check_int(check, 0, 1 << 26);
            block->kept[way] = block->working[way] = (size_t)units;
            block->seconds[way] = 1 - (double)units / (1 << 30);
        }
    }
    stack->option[0] = (PlanOption){.plan = {.micro_batch = 1, .window = 1},
                                    .bytes = 4096,
                                    .seconds = 1,
                                    .blocks = PLAN_BLOCKS,
                                    .block = stack->block[0]};
    *best = stack_price(stack, &choice);
    return stack;
}

Stack *stack_turned(const Stack *stack) {
    Stack *turned = stack_new(stack->check);
    turned->count = stack->count;
    for (int i = 0; i < stack->count; i++) {
        turned->option[i] = stack->option[stack->count - 1 - i];
    }
    return turned;
}

Stack *stack_smaller(const Stack *stack) {
    enum { BY = 4096 };
    Stack *small = stack_new(stack->check);
    small->count = stack->count;
    for (int i = 0; i < stack->count; i++) {
        PlanOption *option = &small->option[i];
        *option = stack->option[i];
        option->bytes /= BY;
        option->head /= BY;
        option->block = small->block[i];
        for (int k = 0; k < option->blocks; k++) {
            PlanBlock *block = &small->block[i][k];
            *block = stack->option[i].block[k];
            for (int way = 0; way < PLAN_WAYS; way++) {
                block->kept[way] /= BY;
                block->working[way] /= BY;
            }
        }
    }
    return small;
}

/* ---- prices ---------------------------------------------------------------------------------- */

Priced stack_price(const Stack *stack, const PlanChoice *choice) {
    const PlanOption *option = &stack->option[choice->option];
    Priced priced = {true, *choice, option->seconds, 0};
    size_t kept = option->bytes;
    for (int i = 0; i < option->blocks; i++) {
        kept += option->block[i].kept[choice->way[i]];
        priced.cost += option->block[i].seconds[choice->way[i]];
    }
    priced.peak = kept + option->head;
    for (int i = option->blocks - 1; i >= 0; i--) { /* as backward goes */
        kept -= option->block[i].kept[choice->way[i]];
        size_t here = kept + option->block[i].working[choice->way[i]];
        priced.peak = here > priced.peak ? here : priced.peak;
    }
    return priced;
}

const char *stack_text(const Stack *stack, const PlanChoice *choice, char text[100]) {
    const PlanOption *option = &stack->option[choice->option];
    char ways[PLAN_BLOCKS + 1] = "";
    for (int i = 0; i < option->blocks; i++) {
        ways[i] = "KPA"[choice->way[i]];
    }
    snprintf(text, 100, "%d x %d %s %s %s", option->plan.window, option->plan.micro_batch,
             precision_name(option->plan.precision),
             option->plan.attention == ATTENTION_PLAIN ? "plain" : "flash", ways);
    return text;
}
