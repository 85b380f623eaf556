#include "grader/labs/06_fit/choice.h"

#include <stdio.h>

static const double WITHIN_COST = 0.10;

void space_give(const Space *space, int most) {
    int32_t ask[ASKS] = {[ASK_T] = space->T,
                         [ASK_BATCH] = space->batch,
                         [ASK_MOST] = most,
                         [ASK_THREADS] = THREADS,
                         [ASK_GPU] = space->gpu != NULL};
    check_give_config(space->check, &space->config);
    check_give(space->check, "ask", WIRE_I32, ask, ASKS);
}

/* ---- asking ---------------------------------------------------------------------------------- */

void budgets_ask(Budgets *budgets, size_t budget) {
    if (budgets->count < MOST_ASKED) {
        budgets->budget[budgets->count++] = budget;
    }
}

/* Places of the front where the next smaller plan costs much more: to miss such a plan shows. */
static int space_cliffs(const Space *space, int cliffs[MOST_PLANS]) {
    int count = 0;
    for (int i = 1; i < space->fronts; i++) {
        if (space->front[i - 1]->cost > 1.12 * space->front[i]->cost) {
            cliffs[count++] = i;
        }
    }
    return count;
}

void budgets_ask_at_cliffs(Budgets *budgets, const Space *space, long more) {
    enum { MOST = 10 };
    int cliffs[MOST_PLANS], count = space_cliffs(space, cliffs),
                            asked = count < MOST ? count : MOST;
    for (int i = 0; i < asked; i++) {
        int at = asked > 1 ? i * (count - 1) / (asked - 1) : 0;
        budgets_ask(budgets, space->front[cliffs[at]]->bytes + (size_t)more);
    }
}

void budgets_ask_at_worst(Budgets *budgets, const Space *space) {
    for (int i = 0; i < PLAN_RULES; i++) {
        size_t budget = rule_worst_budget(space, &plan_rules[i]);
        if (budget > 0) {
            budgets_ask(budgets, budget);
        }
    }
}

/* ---- what was chosen ------------------------------------------------------------------------- */

/* The entry of a choice that is a plan at all; else NULL, and the check has failed. */
static const Measured *choice_read(const Space *space, const Plan *plan) {
    char text[PLAN_TEXT];
    const Measured *chosen = space_find(space, plan);
    if (plan->micro_batch < 1 || (int64_t)plan->micro_batch * plan->window != space->batch) {
        check_fail(space->check,
                   "%d micro-batches of %d sequences were chosen; an update has %d sequences, so "
                   "the window is batch / micro_batch",
                   plan->window, plan->micro_batch, space->batch);
    } else if (chosen == NULL) {
        check_fail(space->check, "%s is not a plan of this model", plan_text(plan, text));
    }
    return chosen;
}

bool choices_run(const Space *space, Budgets *budgets) {
    Check *check = space->check;
    bool good = true;
    space_give(space, 0);
    check_give(check, "rates", WIRE_BYTES, &space->rates, sizeof space->rates);
    check_give(check, "budgets", WIRE_U64, budgets->budget, (size_t)budgets->count);
    check_want(check, "results", WIRE_I32, (size_t)budgets->count);
    check_want(check, "choices", WIRE_I32, (size_t)(budgets->count * PLAN_NUMBERS));
    if (!check_run(check, "choose", SECONDS)) {
        return false;
    }
    const int32_t *results = check_got(check, "results", WIRE_I32);
    const int32_t *choices = check_got(check, "choices", WIRE_I32);
    for (int i = 0; i < budgets->count; i++) {
        Plan plan = plan_of(choices + i * PLAN_NUMBERS);
        if (results[i] == 0) {
            budgets->chosen[i] = choice_read(space, &plan);
            good &= budgets->chosen[i] != NULL;
        } else if (results[i] != -1 || plan.micro_batch != -1) {
            check_fail(check, "where nothing fits, -1 is returned and *plan is left alone");
            good = false;
        }
    }
    budgets->mistake =
        good ? rules_likely(space, budgets->budget, budgets->chosen, budgets->count) : "";
    return good;
}

/* Says what is wrong with a choice, and the mistake that would have made it. */
static void choice_blame(const Space *space, const Budgets *budgets, int i, const char *what) {
    check_fail(space->check, "in a budget of %zu bytes %s%s%s", (size_t)budgets->budget[i], what,
               budgets->mistake[0] != '\0' ? "; likely: " : "", budgets->mistake);
}

void choice_expect_nothing(const Space *space, const Budgets *budgets, int i) {
    char text[PLAN_TEXT], what[SENTENCE];
    if (budgets->chosen[i] == NULL) {
        check_good(space->check);
        return;
    }
    snprintf(what, sizeof what, "%s was chosen: it does not fit; nothing does, from %zu bytes on",
             plan_text(&budgets->chosen[i]->plan, text), space->front[0]->bytes);
    choice_blame(space, budgets, i, what);
}

void choice_expect(const Space *space, const Budgets *budgets, int i) {
    const Measured *best = rule_choose(space, budgets->budget[i], &(Rule){0}),
                   *chosen = budgets->chosen[i];
    char text[PLAN_TEXT], other[PLAN_TEXT], what[SENTENCE];
    plan_text(&best->plan, other);
    if (chosen == NULL) {
        snprintf(what, sizeof what, "nothing was found; %s takes %zu", other, best->bytes);
    } else if (chosen->bytes > budgets->budget[i]) {
        snprintf(what, sizeof what, "%s takes %zu: it does not fit", plan_text(&chosen->plan, text),
                 chosen->bytes);
    } else if (!(chosen->cost <= (1 + WITHIN_COST) * best->cost)) {
        snprintf(what, sizeof what, "%s costs %.0f %% more than %s, which fits too",
                 plan_text(&chosen->plan, text), 100 * (chosen->cost / best->cost - 1), other);
    } else {
        check_good(space->check);
        return;
    }
    choice_blame(space, budgets, i, what);
}

void choices_expect(const Space *space, Budgets *budgets) {
    if (choices_run(space, budgets)) {
        for (int i = 0; i < budgets->count; i++) {
            choice_expect(space, budgets, i);
        }
    }
}

const Measured *choice_one(const Space *space, Budgets *budgets) {
    int cliffs[MOST_PLANS], count = space_cliffs(space, cliffs);
    budgets_ask(budgets,
                space->front[count > 0 ? cliffs[count / 2] : space->fronts / 2]->bytes + 64);
    if (choices_run(space, budgets) && budgets->chosen[0] == NULL) {
        choice_expect(space, budgets, 0);
    }
    return budgets->chosen[0];
}
