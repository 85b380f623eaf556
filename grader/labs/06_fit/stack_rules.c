/* The choices of known mistakes. The contract is in stack.h. */
#include <string.h>

#include "grader/labs/06_fit/stack.h"

/* ---- mistakes about a block: the exact search of a changed stack ----------------------------- */

typedef void change_fn(PlanOption *option, PlanBlock *block);

/* The best of a changed stack, at the price that it really has. */
static Priced best_of_changed(const Stack *stack, size_t budget, change_fn *change) {
    Stack changed = *stack;
    for (int i = 0; i < changed.count; i++) {
        memcpy(changed.block[i], stack->option[i].block, sizeof changed.block[i]);
        changed.option[i].block = changed.block[i];
        change(&changed.option[i], changed.block[i]);
    }
    Priced best = stack_best(&changed, budget);
    return best.found ? stack_price(stack, &best.choice) : best;
}

/* A way that is never taken: it would keep more than there is. */
static void never(PlanOption *option, PlanBlock *block, PlanWay way) {
    for (int i = 0; i < option->blocks; i++) {
        block[i].kept[way] = block[i].working[way] = SIZE_MAX / 64;
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
    option->bytes = option->plan.precision == F32 ? option->bytes : SIZE_MAX / 64;
}

#define CHANGED(change)                                                                            \
    static Priced choose_##change(const Stack *stack, size_t budget) {                             \
        return best_of_changed(stack, budget, change);                                             \
    }
CHANGED(without_attention)
CHANGED(without_again)
CHANGED(without_keeping)
CHANGED(with_free_again)
CHANGED(without_working)
CHANGED(kept_twice)
CHANGED(without_head)
CHANGED(without_bytes)
CHANGED(without_seconds)
CHANGED(only_float)

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

/* Of the options in which something fits the first, with its best plan. */
static Priced choose_first_option(const Stack *stack, size_t budget) {
    Stack one = *stack;
    Priced best = {.found = false};
    for (int i = 0; i < stack->count && !best.found; i++) {
        one.option[0] = stack->option[i];
        one.count = 1;
        best = stack_best(&one, budget);
        best.choice.option = i;
    }
    return best;
}

static Priced choose_fewest_bytes(const Stack *stack, size_t budget) {
    size_t least = stack_least(stack);
    return least <= budget ? stack_best(stack, least) : (Priced){.found = false};
}

const StackRule stack_rules[] = {
    {"a way for each block: all blocks have the same", choose_alike},
    {"the first blocks run again, as many as it takes: which blocks they are decides, not how many",
     choose_first_again},
    {"the last blocks run again, as many as it takes: which blocks they are decides, not how many",
     choose_last_again},
    {"the block that gives most bytes runs again first, until it fits: its seconds count too",
     choose_by_bytes},
    {"the block that gives most bytes for a second comes first, until it fits: one that gives "
     "fewer "
     "may be enough, and cost less",
     choose_by_ratio},
    {"WAY_ATTENTION is never taken", choose_without_attention},
    {"WAY_AGAIN is never taken", choose_without_again},
    {"WAY_KEEP is never taken", choose_without_keeping},
    {"what runs again costs nothing: count seconds[WAY_AGAIN]", choose_with_free_again},
    {"while a block runs backward it takes working[], not kept[]", choose_without_working},
    {"what a block has kept is among its working[] already: it counts once", choose_kept_twice},
    {"the head comes on top of what all blocks have kept", choose_without_head},
    {"option->bytes are there all the time", choose_without_bytes},
    {"option->seconds are part of the cost: options differ in them", choose_without_seconds},
    {"only options in float are taken", choose_only_float},
    {"a plan whose peak is exactly the budget fits", choose_one_byte_less},
    {"the first option in which something fits is taken: others may cost less",
     choose_first_option},
    {"it has the lowest peak of all; the task asks for the least cost of what fits",
     choose_fewest_bytes},
    {NULL, NULL},
};
