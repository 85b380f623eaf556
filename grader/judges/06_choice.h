/**
 * @file 06_choice.h
 * @brief The judge's part of lab 06: budgets in which a plan is asked for, and what is chosen.
 * @ingroup grader
 */
#ifndef GRADER_JUDGES_06_CHOICE_H
#define GRADER_JUDGES_06_CHOICE_H

#include "grader/judges/06_mistakes.h"
#include "grader/judges/training.h"

enum { MOST_ASKED = 40, SENTENCE = 400 };

static const double WITHIN_COST = 0.10;

static inline void give_space(const Space *space, int most) {
    int32_t ask[ASKS] = {[ASK_T] = space->T,
                         [ASK_BATCH] = space->batch,
                         [ASK_MOST] = most,
                         [ASK_THREADS] = THREADS,
                         [ASK_GPU] = space->gpu != NULL};
    check_give_config(space->check, &space->config);
    check_give(space->check, "ask", WIRE_I32, ask, ASKS);
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Budgets that are asked about in one run. */
typedef struct Quiz {
    uint64_t budget[MOST_ASKED];
    int count;
    const Measured *chosen[MOST_ASKED]; /* what came back; NULL: nothing was found */
    const char *mistake;                /* that explains all of it, or "" */
} Quiz;

static inline void ask(Quiz *quiz, size_t budget) {
    if (quiz->count < MOST_ASKED) {
        quiz->budget[quiz->count++] = budget;
    }
}

/* Places of the front where the next smaller plan costs much more: to miss such a plan shows. */
static inline int cliffs_of(const Space *space, int cliffs[MOST_PLANS]) {
    int count = 0;
    for (int i = 1; i < space->fronts; i++) {
        if (space->front[i - 1]->cost > 1.12 * space->front[i]->cost) {
            cliffs[count++] = i;
        }
    }
    return count;
}

/* Budgets at some of the cliffs, from the smallest to the largest, plus `more` bytes. */
static inline void ask_at_cliffs(Quiz *quiz, const Space *space, long more) {
    enum { MOST = 10 };
    int cliffs[MOST_PLANS], count = cliffs_of(space, cliffs), asked = count < MOST ? count : MOST;
    for (int i = 0; i < asked; i++) {
        int at = asked > 1 ? i * (count - 1) / (asked - 1) : 0;
        ask(quiz, space->front[cliffs[at]]->bytes + (size_t)more);
    }
}

/* Budgets in which known mistakes show most. */
static inline void ask_at_worst(Quiz *quiz, const Space *space) {
    for (int i = 0; i < RULES; i++) {
        size_t budget = worst_budget(space, &rules[i]);
        if (budget > 0) {
            ask(quiz, budget);
        }
    }
}

/* ---- what was chosen ------------------------------------------------------------------------- */

/* The entry of a choice that is a plan at all; else NULL, and the check has failed. */
static inline const Measured *read_choice(const Space *space, const Plan *plan) {
    char text[PLAN_TEXT];
    const Measured *chosen = find_plan(space, plan);
    if (plan->micro_batch < 1 || (int64_t)plan->micro_batch * plan->window != space->batch) {
        check_fail(space->check,
                   "%d micro-batches of %d sequences were chosen; an update has %d sequences, so "
                   "the window is batch / micro_batch",
                   plan->window, plan->micro_batch, space->batch);
    } else if (chosen == NULL) {
        check_fail(space->check, "%s is no plan of this model", plan_text(plan, text));
    }
    return chosen;
}

/* Asks the hole. @return whether each answer is -1, with *plan left alone, or a plan */
static inline bool run_choose(const Space *space, Quiz *quiz) {
    Check *check = space->check;
    bool good = true;
    give_space(space, 0);
    check_give(check, "rates", WIRE_BYTES, &space->rates, sizeof space->rates);
    check_give(check, "budgets", WIRE_U64, quiz->budget, (size_t)quiz->count);
    check_want(check, "results", WIRE_I32, (size_t)quiz->count);
    check_want(check, "choices", WIRE_I32, (size_t)(quiz->count * PLAN_NUMBERS));
    if (!check_run(check, "choose", SECONDS)) {
        return false;
    }
    const int32_t *results = check_got(check, "results", WIRE_I32);
    const int32_t *choices = check_got(check, "choices", WIRE_I32);
    for (int i = 0; i < quiz->count; i++) {
        Plan plan = plan_of(choices + i * PLAN_NUMBERS);
        if (results[i] == 0) {
            quiz->chosen[i] = read_choice(space, &plan);
            good &= quiz->chosen[i] != NULL;
        } else if (results[i] != -1 || plan.micro_batch != -1) {
            check_fail(check, "where nothing fits, -1 is returned and *plan is left alone");
            good = false;
        }
    }
    quiz->mistake = good ? likely(space, quiz->budget, quiz->chosen, quiz->count) : "";
    return good;
}

/* Says what is wrong with a choice, and the mistake that would have made it. */
static inline void blame(const Space *space, const Quiz *quiz, int i, const char *what) {
    check_fail(space->check, "in a budget of %zu bytes %s%s%s", (size_t)quiz->budget[i], what,
               quiz->mistake[0] != '\0' ? "; likely: " : "", quiz->mistake);
}

static inline void expect_nothing(const Space *space, const Quiz *quiz, int i) {
    char text[PLAN_TEXT], what[SENTENCE];
    if (quiz->chosen[i] == NULL) {
        check_good(space->check);
        return;
    }
    snprintf(what, sizeof what, "%s was chosen: it does not fit; nothing does, from %zu bytes on",
             plan_text(&quiz->chosen[i]->plan, text), space->front[0]->bytes);
    blame(space, quiz, i, what);
}

static inline void expect_choice(const Space *space, const Quiz *quiz, int i) {
    const Measured *best = choose_by(space, quiz->budget[i], &(Rule){0}), *chosen = quiz->chosen[i];
    char text[PLAN_TEXT], other[PLAN_TEXT], what[SENTENCE];
    plan_text(&best->plan, other);
    if (chosen == NULL) {
        snprintf(what, sizeof what, "nothing was found; %s takes %zu", other, best->bytes);
    } else if (chosen->bytes > quiz->budget[i]) {
        snprintf(what, sizeof what, "%s takes %zu: it does not fit", plan_text(&chosen->plan, text),
                 chosen->bytes);
    } else if (!(chosen->cost <= (1 + WITHIN_COST) * best->cost)) {
        snprintf(what, sizeof what, "%s costs %.0f %% more than %s, which fits too",
                 plan_text(&chosen->plan, text), 100 * (chosen->cost / best->cost - 1), other);
    } else {
        check_good(space->check);
        return;
    }
    blame(space, quiz, i, what);
}

static inline void expect_choices(const Space *space, Quiz *quiz) {
    if (run_choose(space, quiz)) {
        for (int i = 0; i < quiz->count; i++) {
            expect_choice(space, quiz, i);
        }
    }
}

/* A budget in the middle of the front, and the plan that was chosen for it; NULL if it is none. */
static inline const Measured *choose_one(const Space *space, Quiz *quiz) {
    int cliffs[MOST_PLANS], count = cliffs_of(space, cliffs);
    ask(quiz, space->front[count > 0 ? cliffs[count / 2] : space->fronts / 2]->bytes + 64);
    if (run_choose(space, quiz) && quiz->chosen[0] == NULL) {
        expect_choice(space, quiz, 0);
    }
    return quiz->chosen[0];
}

#endif
