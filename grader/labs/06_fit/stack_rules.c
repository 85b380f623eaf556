/* The choices of known mistakes. The contract is in stack.h. */
#include <string.h>

#include "grader/labs/06_fit/stack.h"

/* More bytes than there are, and their sums are none too many for a size_t. */
static const size_t WITHOUT_END = SIZE_MAX / 64;

/* ---- mistakes about a block: the exact search of a changed stack ----------------------------- */

static void stack_change(const Stack *stack, const StackRule *rule, Stack *changed) {
    *changed = *stack;
    for (int i = 0; i < changed->count; i++) {
        memcpy(changed->block[i], stack->option[i].block, sizeof changed->block[i]);
        changed->option[i].block = changed->block[i];
        rule->change(&changed->option[i], changed->block[i]);
    }
}

/* A way that is never taken: it would keep more than there is. */
static void never(PlanOption *option, PlanBlock *block, PlanWay way) {
    for (int i = 0; i < option->blocks; i++) {
        block[i].kept[way] = block[i].working[way] = WITHOUT_END;
    }
}
static void without_attention(PlanOption *option, PlanBlock *block) {
    never(option, block, WAY_ATTENTION);
}
static void without_again(PlanOption *option, PlanBlock *block) {
    never(option, block, WAY_AGAIN);
}
static void without_keeping(PlanOption *option, PlanBlock *block) {
    never(option, block, WAY_KEEP);
}
static void with_free_again(PlanOption *option, PlanBlock *block) {
    for (int i = 0; i < option->blocks; i++) {
        block[i].seconds[WAY_AGAIN] = block[i].seconds[WAY_KEEP];
    }
}
static void without_working(PlanOption *option, PlanBlock *block) {
    for (int i = 0; i < option->blocks; i++) {
        for (int way = 0; way < PLAN_WAYS; way++) {
            block[i].working[way] = block[i].kept[way];
        }
    }
}
static void kept_twice(PlanOption *option, PlanBlock *block) {
    for (int i = 0; i < option->blocks; i++) {
        for (int way = 0; way < PLAN_WAYS; way++) {
            block[i].working[way] += block[i].kept[way];
        }
    }
}
static void without_head(PlanOption *option, PlanBlock *block) {
    (void)block;
    option->head = 0;
}
static void without_bytes(PlanOption *option, PlanBlock *block) {
    (void)block;
    option->bytes = 0;
}
static void without_seconds(PlanOption *option, PlanBlock *block) {
    (void)block;
    option->seconds = 0;
}
static void only_float(PlanOption *option, PlanBlock *block) {
    (void)block;
    option->bytes = option->plan.precision == F32 ? option->bytes : WITHOUT_END;
}

static Priced choose_one_byte_more(const Stack *stack, size_t budget) {
    return stack_best(stack, budget < SIZE_MAX ? budget + 1 : budget);
}
static Priced choose_one_byte_less(const Stack *stack, size_t budget) {
    return budget > 0 ? stack_best(stack, budget - 1) : (Priced){.found = false};
}

/* ---- mistakes in the search ------------------------------------------------------------------ */

static bool fits_cheaper(const Priced *a, const Priced *b, size_t budget) {
    return a->peak <= budget &&
           (!b->found || a->cost < b->cost || (a->cost == b->cost && a->peak < b->peak));
}

/* Calls a search for each option, and takes the best. */
typedef Priced option_search_fn(const Stack *stack, int option, size_t budget);

static Priced each_option(const Stack *stack, size_t budget, option_search_fn *search) {
    Priced best = {.found = false};
    for (int i = 0; i < stack->count; i++) {
        Priced one = search(stack, i, budget);
        best = one.found && fits_cheaper(&one, &best, budget) ? one : best;
    }
    return best;
}

static Priced alike(const Stack *stack, int option, size_t budget) {
    Priced best = {.found = false};
    for (int way = 0; way < PLAN_WAYS; way++) {
        PlanChoice choice = {.option = option};
        memset(choice.way, way, sizeof choice.way);
        Priced one = stack_price(stack, &choice);
        best = fits_cheaper(&one, &best, budget) ? one : best;
    }
    return best;
}

/* Blocks from the first, or from the last, run again until it fits. */
static Priced by_count(const Stack *stack, int option, size_t budget, bool from_last) {
    int L = stack->option[option].blocks;
    PlanChoice choice = {.option = option};
    for (int n = 0; n <= L; n++) {
        Priced one = stack_price(stack, &choice);
        if (one.peak <= budget) {
            return one;
        }
        if (n < L) {
            choice.way[from_last ? L - 1 - n : n] = WAY_AGAIN;
        }
    }
    return (Priced){.found = false};
}
static Priced first_again(const Stack *stack, int option, size_t budget) {
    return by_count(stack, option, budget, false);
}
static Priced last_again(const Stack *stack, int option, size_t budget) {
    return by_count(stack, option, budget, true);
}

/* One step at a time until it fits: the one with the most bytes, or the most for its seconds. */
static Priced greedy(const Stack *stack, int option, size_t budget, bool ratio) {
    const PlanOption *o = &stack->option[option];
    PlanChoice choice = {.option = option};
    for (;;) {
        Priced now = stack_price(stack, &choice);
        double most = 0;
        int at = -1, to = 0;
        if (now.peak <= budget) {
            return now;
        }
        for (int i = 0; i < o->blocks; i++) {
            for (int way = choice.way[i] + 1; way < PLAN_WAYS; way++) {
                const PlanBlock *b = &o->block[i];
                double bytes = (double)b->kept[choice.way[i]] - (double)b->kept[way];
                double seconds = b->seconds[way] - b->seconds[choice.way[i]];
                double worth = ratio ? bytes / (seconds + 1e-30) : bytes;
                if (bytes > 0 && worth > most) {
                    most = worth;
                    at = i;
                    to = way;
                }
            }
        }
        if (at < 0) {
            return (Priced){.found = false};
        }
        choice.way[at] = (unsigned char)to;
    }
}
static Priced by_bytes(const Stack *stack, int option, size_t budget) {
    return greedy(stack, option, budget, false);
}
static Priced by_ratio(const Stack *stack, int option, size_t budget) {
    return greedy(stack, option, budget, true);
}

#define SEARCHED(search)                                                                           \
    static Priced choose_##search(const Stack *stack, size_t budget) {                             \
        return each_option(stack, budget, search);                                                 \
    }
SEARCHED(alike)
SEARCHED(first_again)
SEARCHED(last_again)
SEARCHED(by_bytes)
SEARCHED(by_ratio)

/* The best plan of one option. */
static Priced best_of_option(const Stack *stack, int option, size_t budget) {
    Stack one = *stack;
    one.option[0] = stack->option[option];
    one.count = 1;
    Priced best = stack_best(&one, budget);
    best.choice.option = option;
    return best;
}

/* Of the options in which something fits the first, with its best plan. */
static Priced choose_first_option(const Stack *stack, size_t budget) {
    Priced best = {.found = false};
    for (int i = 0; i < stack->count && !best.found; i++) {
        best = best_of_option(stack, i, budget);
    }
    return best;
}

static Priced choose_dearest_option(const Stack *stack, size_t budget) {
    Priced dearest = {.found = false};
    for (int i = 0; i < stack->count; i++) {
        Priced one = best_of_option(stack, i, budget);
        dearest = one.found && (!dearest.found || one.cost > dearest.cost) ? one : dearest;
    }
    return dearest;
}

static Priced choose_fewest_bytes(const Stack *stack, size_t budget) {
    size_t least = stack_least(stack);
    return least <= budget ? stack_best(stack, least) : (Priced){.found = false};
}

const StackRule stack_rules[] = {
    {"a way for each block: all blocks have the same", choose_alike, NULL, SHOWS_ANYWHERE},
    {"the first blocks run again, as many as it takes: which blocks they are decides, not how many",
     choose_first_again, NULL, SHOWS_ANYWHERE},
    {"the last blocks run again, as many as it takes: which blocks they are decides, not how many",
     choose_last_again, NULL, SHOWS_ANYWHERE},
    {"the block that gives most bytes runs again first, until it fits: its seconds count too",
     choose_by_bytes, NULL, SHOWS_ANYWHERE},
    {"the block that gives most bytes for a second comes first, until it fits: one that gives "
     "fewer may be enough, and cost less",
     choose_by_ratio, NULL, SHOWS_ANYWHERE},
    {"WAY_ATTENTION is never taken", NULL, without_attention, SHOWS_ANYWHERE},
    {"WAY_AGAIN is never taken", NULL, without_again, SHOWS_ANYWHERE},
    {"WAY_KEEP is never taken", NULL, without_keeping, SHOWS_ANYWHERE},
    {"what runs again costs nothing: count seconds[WAY_AGAIN]", NULL, with_free_again,
     SHOWS_ANYWHERE},
    {"while a block runs backward it takes working[], not kept[]", NULL, without_working,
     SHOWS_ANYWHERE},
    {"what a block has kept is among its working[] already: it counts once", NULL, kept_twice,
     false},
    {"the head comes on top of what all blocks have kept", NULL, without_head, SHOWS_ANYWHERE},
    {"option->bytes are there all the time", NULL, without_bytes, SHOWS_ANYWHERE},
    {"option->seconds are part of the cost: options differ in them", NULL, without_seconds,
     SHOWS_ANYWHERE},
    {"only options in float are taken", NULL, only_float, SHOWS_ANYWHERE},
    {"a plan whose peak is exactly the budget fits", choose_one_byte_less, NULL, SHOWS_EXACTLY},
    {"the first option in which something fits is taken: others may cost less", choose_first_option,
     NULL, SHOWS_ANYWHERE},
    {"it has the lowest peak of all; the task asks for the least cost of what fits",
     choose_fewest_bytes, NULL, SHOWS_ANYWHERE},
    {"of the options the one whose best plan costs most is taken", choose_dearest_option, NULL,
     false},
    {"a plan takes the budget and not one byte more", choose_one_byte_more, NULL, SHOWS_SHORT},
    {NULL, NULL, NULL, SHOWS_ANYWHERE},
};

/* ---- all of them ----------------------------------------------------------------------------- */

/* The best of a changed stack, at the price that it has there. */
static Priced changed_best(const StackRule *rule, const Stack *stack, size_t budget,
                           Stack *changed) {
    stack_change(stack, rule, changed);
    return stack_best(changed, budget < WITHOUT_END / 2 ? budget : WITHOUT_END / 2);
}

Priced rule_choose(const StackRule *rule, const Stack *stack, size_t budget) {
    if (rule->choose != NULL) {
        return rule->choose(stack, budget);
    }
    Stack changed;
    Priced best = changed_best(rule, stack, budget, &changed);
    return best.found ? stack_price(stack, &best.choice) : best;
}

bool rule_explains(const StackRule *rule, const Stack *stack, size_t budget, const Priced *chosen) {
    Stack changed;
    Priced own = *chosen, best;
    if (rule->choose != NULL) {
        best = rule->choose(stack, budget);
    } else {
        best = changed_best(rule, stack, budget, &changed);
        own = own.found ? stack_price(&changed, &own.choice) : own;
    }
    return best.found == own.found &&
           (!own.found || (own.cost == best.cost && own.peak == best.peak));
}
