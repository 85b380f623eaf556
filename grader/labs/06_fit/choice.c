/* Budgets, and what is chosen for them. The contract is in choice.h. */
#include "grader/labs/06_fit/choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/draws.h"
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
            Priced chosen = rule_choose(rule, stack, place[i]);
            double h = harm(&chosen, &best[i], place[i]);
            if (h > worst_harm) {
                worst_harm = h;
                worst = i;
            }
        }
        budgets_ask(stack, budgets, place[worst]);
        all = all && (worst_harm > BEYOND_COST ||
                      rule->shows == (less == 0 ? SHOWS_SHORT : SHOWS_EXACTLY));
    }
    return all;
}

/* "budgets", or of the second stack of a run "budgets, second". */
static const char *name_of(const char *what, bool second, char name[WIRE_NAME]) {
    snprintf(name, WIRE_NAME, "%s%s", what, second ? CHOICE_SECOND : "");
    return name;
}

/* After the blocks of an option: a search that reads on finds that nothing fits. */
static const PlanBlock nobodys = {.kept = {(size_t)1 << 52, (size_t)1 << 52, (size_t)1 << 52},
                                  .working = {(size_t)1 << 52, (size_t)1 << 52, (size_t)1 << 52}};

/* Lays options side by side, each with room for PLAN_BLOCKS blocks. */
static void options_give(Check *check, const PlanOption *options, int count, bool second) {
    char name[WIRE_NAME];
    size_t room = (size_t)count * PLAN_BLOCKS * sizeof(PlanBlock) / sizeof(double);
    PlanBlock *blocks = (PlanBlock *)check_doubles(check, room);
    PlanOption *copy =
        (PlanOption *)check_doubles(check, (size_t)count * sizeof(PlanOption) / sizeof(double) + 1);
    for (int i = 0; i < count; i++) {
        copy[i] = options[i];
        copy[i].block = NULL; /* an address of this process means nothing there */
        for (int k = 0; k < PLAN_BLOCKS; k++) {
            blocks[i * PLAN_BLOCKS + k] = k < options[i].blocks ? options[i].block[k] : nobodys;
        }
    }
    check_give(check, name_of("options", second, name), WIRE_BYTES, copy,
               (size_t)count * sizeof *copy);
    check_give(check, name_of("blocks", second, name), WIRE_BYTES, blocks, room * sizeof(double));
}

void stack_give(const Stack *stack) {
    options_give(stack->check, stack->option, stack->count, false);
}

static void choices_want(Check *check, const uint64_t *budgets, int count, bool second) {
    char name[WIRE_NAME];
    check_give(check, name_of("budgets", second, name), WIRE_U64, budgets, (size_t)count);
    check_want(check, name_of("results", second, name), WIRE_I32, (size_t)count);
    check_want(check, name_of("choices", second, name), WIRE_I32, (size_t)count * CHOICE_NUMBERS);
}

/* ---- what was chosen ------------------------------------------------------------------------- */

static bool choice_untouched(const int32_t n[CHOICE_NUMBERS]) {
    bool same = n[0] == CHOICE_UNTOUCHED;
    for (int k = 1; k < CHOICE_NUMBERS; k++) {
        same = same && n[k] == WAY_UNTOUCHED;
    }
    return same;
}

/* Reads choice i; false if it is none, and the check has failed. */
static bool choice_read(const Stack *stack, int i, bool second, Priced *chosen) {
    char name[WIRE_NAME];
    Check *check = stack->check;
    const int32_t *results = check_got(check, name_of("results", second, name), WIRE_I32);
    const int32_t *n = check_got(check, name_of("choices", second, name), WIRE_I32);
    int32_t result = results[i];
    n += i * CHOICE_NUMBERS;
    *chosen = (Priced){.found = false};
    if (result == -1 && choice_untouched(n)) {
        return true;
    }
    if (result != 0) {
        check_fail(check, "%d was returned: 0 is a plan, and -1, with *choice left alone, none",
                   result);
        return false;
    }
    if (n[0] < 0 || n[0] >= stack->count) {
        check_fail(check, "choice->option is %d; the %d options are numbered from 0", n[0],
                   stack->count);
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

/* Whether a known mistake makes all of these choices. */
static bool choices_explained(const Stack *stack, const Budgets *budgets, const StackRule *rule) {
    bool found = false; /* nothing in any budget says nothing about why */
    for (int i = 0; i < budgets->count; i++) {
        found = found || budgets->chosen[i].found;
        if (!rule_explains(rule, stack, budgets->budget[i], &budgets->chosen[i])) {
            return false;
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
        snprintf(what, SENTENCE,
                 "%s, option %d, costs the same as %s, option %d, and has a peak of %zu bytes; "
                 "that one has %zu",
                 text, chosen->choice.option, stack_text(stack, &best->choice, other),
                 best->choice.option, chosen->peak, best->peak);
    }
    return what;
}

/* False where one that came back cannot be read, and the check has failed. */
static bool choices_read(const Stack *stack, Budgets *budgets, bool second) {
    for (int i = 0; i < budgets->count; i++) {
        if (!choice_read(stack, i, second, &budgets->chosen[i])) {
            return false;
        }
    }
    return true;
}

/* The first wrong choice, and what is wrong; `count` where there is none. */
static int choices_wrong(const Stack *stack, const Budgets *budgets, char what[SENTENCE]) {
    int i = 0;
    while (i < budgets->count && choice_wrong(stack, budgets, i, what)[0] == '\0') {
        i++;
    }
    return i;
}

/* Compares all choices; false where one is wrong. */
static bool choices_compare(const Stack *stack, const Budgets *budgets) {
    char what[SENTENCE] = "";
    int wrong = choices_wrong(stack, budgets, what);
    bool right = wrong == budgets->count;
    check_compared(stack->check, right, "in a budget of %zu bytes %s",
                   (size_t)budgets->budget[right ? 0 : wrong], what);
    for (const StackRule *rule = stack_rules; !right && rule->sentence != NULL; rule++) {
        check_suspect(stack->check, rule->sentence, choices_explained(stack, budgets, rule));
    }
    return right;
}

void choices_expect(const Stack *stack, Budgets *budgets) {
    stack_give(stack);
    choices_want(stack->check, budgets->budget, budgets->count, false);
    if (check_run(stack->check, "choose", QUICKLY) && choices_read(stack, budgets, false)) {
        choices_compare(stack, budgets);
    }
}

/* Asks about two stacks in one run, and reads what was chosen of both. */
static bool choices_run_both(const Stack *stack, Budgets *budgets, const Stack *second,
                             Budgets *of_second) {
    Check *check = stack->check;
    stack_give(stack);
    options_give(check, second->option, second->count, true);
    check_give(check, "second", WIRE_I32, (const int32_t[]){1}, 1);
    choices_want(check, budgets->budget, budgets->count, false);
    choices_want(check, of_second->budget, of_second->count, true);
    return check_run(check, "choose", QUICKLY) && choices_read(stack, budgets, false) &&
           choices_read(second, of_second, true);
}

void choices_expect_turned(const Stack *stack, Budgets *budgets) {
    Stack *turned = stack_turned(stack);
    Budgets of_turned = {.count = 0};
    for (int i = budgets->count; i-- > 0;) { /* the last once more: it has another answer now */
        budgets_ask(turned, &of_turned, (size_t)budgets->budget[i]);
    }
    if (choices_run_both(stack, budgets, turned, &of_turned) && choices_compare(stack, budgets)) {
        choices_compare(turned, &of_turned);
    }
}

void choices_expect_wide(const Stack *stack, Budgets *budgets) {
    enum { ASKED = 5 };
    Check *check = stack->check;
    Stack *small = stack_smaller(stack);
    Budgets few = {.count = 0};
    char what[SENTENCE];
    size_t least = stack_least(small), most = stack_most(small);
    check_size(check, "blocks beyond 2^32 bytes", stack_most(stack) > UINT32_MAX);
    for (size_t i = 0; i < ASKED; i++) {
        budgets_ask(small, &few, least + (most - least) / ASKED * i);
    }
    if (choices_run_both(stack, budgets, small, &few) && !choices_compare(stack, budgets)) {
        check_suspect(check, "with few bytes it is right: more than 2^32 do not fit into 32 bits",
                      choices_wrong(small, &few, what) == few.count);
    }
}

/* Whether each plan that was chosen costs what the best one does, and in floats no more. */
static bool floats_explain(const Stack *stack, const Budgets *budgets, bool from_last) {
    for (int i = 0; i < budgets->count; i++) {
        const Priced *chosen = &budgets->chosen[i], *best = &budgets->best[i];
        if (!chosen->found || chosen->cost != best->cost || chosen->peak > budgets->budget[i] ||
            !stack_floats_prefer(stack, &chosen->choice, &best->choice, from_last)) {
            return false;
        }
    }
    return true;
}

void choices_expect_alike(const Stack *stack, Budgets *budgets) {
    Stack *alike = stack_draw_alike(stack->check);
    Budgets few = {.count = 0};
    size_t least = stack_least(alike), most = stack_most(alike);
    for (size_t i = 0; i < TIES_BUDGETS; i++) {
        Priced best = stack_best(alike, least + (most - least) / TIES_BUDGETS * i);
        budgets_ask(alike, &few, stack_before_cheaper(alike, &best));
    }
    if (choices_run_both(stack, budgets, alike, &few) && choices_compare(stack, budgets) &&
        !choices_compare(alike, &few)) {
        check_suspect(stack->check,
                      "sums of seconds are kept in floats: as doubles they are exact, and equal "
                      "costs are equal",
                      floats_explain(alike, &few, false) || floats_explain(alike, &few, true));
    }
}

void choices_expect_endless(const Stack *stack, Budgets *budgets) {
    Budgets two = {.count = 2};
    char what[SENTENCE];
    PlanChoice leanest = {.option = 0};
    Stack *endless = stack_draw_endless(stack->check, &two.best[0]);
    memset(leanest.way, WAY_AGAIN, sizeof leanest.way);
    two.best[1] = stack_price(endless, &leanest); /* nothing else fits into its peak */
    for (int i = 0; i < two.count; i++) {
        two.budget[i] = two.best[i].peak;
    }
    if (choices_run_both(stack, budgets, endless, &two) && choices_compare(stack, budgets)) {
        int wrong = choices_wrong(endless, &two, what);
        bool right = wrong == two.count;
        check_compared(stack->check, right,
                       "of %d blocks, none of whose plans beats another, in a budget of %zu bytes "
                       "%s",
                       PLAN_BLOCKS, (size_t)two.budget[right ? 0 : wrong], what);
    }
}

int choice_option(Check *check, const PlanOption *options, int count, uint64_t budget) {
    check_after(check, "choose_exact");
    options_give(check, options, count, false);
    choices_want(check, &budget, 1, false);
    if (!check_run(check, "choose", QUICKLY)) {
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
