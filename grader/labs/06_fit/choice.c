/* Budgets, and what is chosen for them. The contract is in choice.h. */
#include "grader/labs/06_fit/choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/labs/06_fit/protocol.h"

/* Of the contract; and how far every known mistake is beyond it in one of the budgets. */
static const double WITHIN_COST = 0.02, BEYOND_COST = 0.03;

/* ---- asking ---------------------------------------------------------------------------------- */

void budgets_ask(const Stack *stack, Budgets *budgets, size_t budget) {
    for (int i = 0; i < budgets->count; i++) {
        if (budgets->budget[i] == budget) {
            return;
        }
    }
    if (budgets->count < MOST_ASKED) {
        budgets->best[budgets->count] = stack_best(stack, budget);
        budgets->budget[budgets->count++] = budget;
    }
}

/* How much more than the best it costs; without end where it does not fit, or finds nothing. */
static double harm(const Priced *chosen, const Priced *best, size_t budget) {
    return chosen->found && chosen->peak <= budget ? chosen->cost / best->cost - 1
                                                   : (double)INFINITY;
}

bool budgets_ask_at_worst(const Stack *stack, Budgets *budgets, size_t less) {
    enum { PLACES = 24 };
    size_t least = stack_least(stack), most = stack_most(stack), place[PLACES];
    Priced best[PLACES];
    bool all = true;
    for (int i = 0; i < PLACES; i++) {
        double share = (double)i / (PLACES - 1);
        place[i] = least + (size_t)((double)(most - least) * share);
        place[i] = stack_best(stack, place[i]).peak - (i > 0 ? less : 0);
        best[i] = stack_best(stack, place[i]);
    }
    for (const StackRule *rule = stack_rules; rule->sentence != NULL; rule++) {
        int worst = 0;
        double worst_harm = -1;
        for (int i = 0; i < PLACES; i++) {
            Priced chosen = rule->choose(stack, place[i]);
            double h = harm(&chosen, &best[i], place[i]);
            if (h > worst_harm) {
                worst_harm = h;
                worst = i;
            }
        }
        budgets_ask(stack, budgets, place[worst]);
        all = all && worst_harm > BEYOND_COST;
    }
    return all;
}

/* Lays options side by side, each with room for PLAN_BLOCKS blocks. */
static void options_give(Check *check, const PlanOption *options, int count) {
    size_t room = (size_t)count * PLAN_BLOCKS * sizeof(PlanBlock) / sizeof(double);
    PlanBlock *blocks = (PlanBlock *)check_doubles(check, room);
    PlanOption *copy =
        (PlanOption *)check_doubles(check, (size_t)count * sizeof(PlanOption) / sizeof(double) + 1);
    for (int i = 0; i < count; i++) {
        copy[i] = options[i];
        copy[i].block = NULL; /* an address of this process means nothing there */
        for (int k = 0; k < options[i].blocks; k++) {
            blocks[i * PLAN_BLOCKS + k] = options[i].block[k];
        }
    }
    check_give(check, "options", WIRE_BYTES, copy, (size_t)count * sizeof *copy);
    check_give(check, "blocks", WIRE_BYTES, blocks, room * sizeof(double));
}

void stack_give(const Stack *stack) {
    options_give(stack->check, stack->option, stack->count);
}

static bool choices_run(Check *check, const uint64_t *budgets, int count) {
    check_give(check, "budgets", WIRE_U64, budgets, (size_t)count);
    check_want(check, "results", WIRE_I32, (size_t)count);
    check_want(check, "choices", WIRE_I32, (size_t)count * CHOICE_NUMBERS);
    return check_run(check, "choose", QUICKLY);
}

/* ---- what was chosen ------------------------------------------------------------------------- */

/* Reads choice i; false if it is none, and the check has failed. */
static bool choice_read(const Stack *stack, int i, Priced *chosen) {
    Check *check = stack->check;
    int32_t result = ((const int32_t *)check_got(check, "results", WIRE_I32))[i];
    const int32_t *n = (const int32_t *)check_got(check, "choices", WIRE_I32) + i * CHOICE_NUMBERS;
    *chosen = (Priced){.found = false};
    if (result == -1 && n[0] == CHOICE_UNTOUCHED) {
        return true;
    }
    if (result != 0) {
        check_fail(check, "%d was returned: 0 is a plan, and -1, with *choice left alone, none",
                   result);
        return false;
    }
    if (n[0] < 0 || n[0] >= stack->count) {
        check_fail(check, "choice->option is %d; there are %d options", n[0], stack->count);
        return false;
    }
    PlanChoice choice = {.option = n[0]};
    for (int k = 0; k < stack->option[n[0]].blocks; k++) {
        if (n[1 + k] < 0 || n[1 + k] >= PLAN_WAYS) {
            check_fail(check, "choice->way[%d] is %d: it is 0, 1 or 2", k, n[1 + k]);
            return false;
        }
        choice.way[k] = (unsigned char)n[1 + k];
    }
    *chosen = stack_price(stack, &choice);
    return true;
}

static bool priced_alike(const Priced *a, const Priced *b) {
    return a->found == b->found && (!a->found || (a->cost == b->cost && a->peak == b->peak));
}

/* The one known mistake that makes all of these choices; "" where none does, or several. */
static const char *choices_mistake(const Stack *stack, const Budgets *budgets) {
    const char *found = "";
    for (const StackRule *rule = stack_rules; rule->sentence != NULL; rule++) {
        int i = 0;
        for (; i < budgets->count; i++) {
            Priced chosen = rule->choose(stack, budgets->budget[i]);
            if (!priced_alike(&chosen, &budgets->chosen[i])) {
                break;
            }
        }
        if (i == budgets->count) {
            if (found[0] != '\0') {
                return "";
            }
            found = rule->sentence;
        }
    }
    return found;
}

/* The mistake in choice i, or "". */
static const char *choice_wrong(const Stack *stack, const Budgets *budgets, int i,
                                char what[SENTENCE]) {
    const Priced *best = &budgets->best[i], *chosen = &budgets->chosen[i];
    char text[100], other[100];
    what[0] = '\0';
    if (!chosen->found) {
        if (best->found) {
            snprintf(what, SENTENCE, "nothing was found; %s takes %zu",
                     stack_text(stack, &best->choice, other), best->peak);
        }
        return what;
    }
    stack_text(stack, &chosen->choice, text);
    if (chosen->peak > budgets->budget[i]) {
        snprintf(what, SENTENCE, "%s takes %zu: it does not fit%s", text, chosen->peak,
                 best->found ? "" : ", and nothing does");
    } else if (!(chosen->cost <= (1 + WITHIN_COST) * best->cost)) {
        snprintf(what, SENTENCE, "%s costs %.1f %% more than %s, which fits too", text,
                 100 * (chosen->cost / best->cost - 1), stack_text(stack, &best->choice, other));
    } else if (chosen->cost == best->cost && chosen->peak > best->peak) {
        snprintf(what, SENTENCE, "%s costs the same as %s and has a peak of %zu bytes, not %zu",
                 text, stack_text(stack, &best->choice, other), chosen->peak, best->peak);
    }
    return what;
}

void choices_expect(const Stack *stack, Budgets *budgets) {
    char what[SENTENCE];
    stack_give(stack);
    if (!choices_run(stack->check, budgets->budget, budgets->count)) {
        return;
    }
    for (int i = 0; i < budgets->count; i++) {
        if (!choice_read(stack, i, &budgets->chosen[i])) {
            return;
        }
    }
    for (int i = 0; i < budgets->count; i++) {
        if (choice_wrong(stack, budgets, i, what)[0] == '\0') {
            check_good(stack->check);
            continue;
        }
        const char *mistake = choices_mistake(stack, budgets);
        check_fail(stack->check, "in a budget of %zu bytes %s%s%s", (size_t)budgets->budget[i],
                   what, mistake[0] != '\0' ? "; likely: " : "", mistake);
        return;
    }
}

int choice_option(Check *check, const PlanOption *options, int count, uint64_t budget) {
    options_give(check, options, count);
    if (!choices_run(check, &budget, 1)) {
        return -1;
    }
    int32_t result = *(const int32_t *)check_got(check, "results", WIRE_I32);
    int32_t option = *(const int32_t *)check_got(check, "choices", WIRE_I32);
    if (result != 0 || option < 0 || option >= count) {
        check_fail(check, "in a budget of %zu bytes nothing was chosen; plans fit", (size_t)budget);
        return -1;
    }
    if (options[option].bytes > budget) {
        check_fail(check, "in a budget of %zu bytes a plan that takes %zu was chosen",
                   (size_t)budget, options[option].bytes);
        return -1;
    }
    double least = (double)INFINITY;
    for (int i = 0; i < count; i++) {
        least = options[i].bytes <= budget ? fmin(least, options[i].seconds) : least;
    }
    if (!(options[option].seconds <= (1 + WITHIN_COST) * least)) {
        check_fail(check, "in a budget of %zu bytes a plan was chosen that costs %.1f %% too much",
                   (size_t)budget, 100 * (options[option].seconds / least - 1));
        return -1;
    }
    return option;
}
