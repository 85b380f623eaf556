#include "grader/labs/13_pipeline/orders.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/judge_training.h"

static PipePlan *plans_of(Check *check, PipeOrder order) {
    PipePlan *plan =
        (PipePlan *)check_doubles(check, ALL_PLANS * sizeof(PipePlan) / sizeof(double) + 1);
    plans_all(order, plan);
    return plan;
}

/* The orders of all plans with that many forwards more ahead than there should be. */
static uint64_t *orders_of(Check *check, const PipePlan *plan, int more, bool falling) {
    uint64_t *orders = (uint64_t *)check_doubles(check, (size_t)ALL_PLANS * ORDER_PLACES);
    for (int i = 0; i < ALL_PLANS; i++) {
        PipeWork work[2 * MOST_MICROS];
        int ahead = plan_in_flight(&plan[i]) + more;
        plan_work(&plan[i], ahead < 1 ? 1 : ahead, falling, work);
        for (int k = 0; k < ORDER_PLACES; k++) {
            orders[i * ORDER_PLACES + k] = k < 2 * plan[i].micros
                                               ? 2 * (uint64_t)work[k].micro + work[k].backward
                                               : ORDERS_BLANK;
        }
    }
    return orders;
}

static const char *order_label(size_t i, char *text) {
    PipePlan plan[ALL_PLANS];
    plans_all(PIPE_1F1B, plan);
    const PipePlan *p = &plan[i / ORDER_PLACES];
    snprintf(text, CHECK_LABEL, "stage %d of %d, %d micro-batches, work %zu (2 micro + backward)",
             p->stage, p->stages, p->micros, i % ORDER_PLACES);
    return text;
}

void orders_judge(Check *check, PipeOrder order) {
    PipePlan *plan = plans_of(check, order), *other = plans_of(check, (PipeOrder)!order);
    ExactSuspect suspects[] = {
        {"backwards run in falling order: with rising ones gradients have the bits of one device",
         orders_of(check, plan, 0, true)},
        {"one forward too few runs before the first backward", orders_of(check, plan, -1, false)},
        {"one forward too many runs before the first backward", orders_of(check, plan, 1, false)},
        {order == PIPE_1F1B ? "this is the order of GPIPE" : "this is the order of 1F1B",
         orders_of(check, other, 0, false)}};
    plans_give(check, plan, ALL_PLANS);
    check_want(check, "orders", WIRE_U64, (size_t)ALL_PLANS * ORDER_PLACES);
    if (check_run(check, "formulas/orders", SECONDS)) {
        check_equal_of(check, "orders", order_label, orders_of(check, plan, 0, false),
                       (size_t)ALL_PLANS * ORDER_PLACES, suspects, order == PIPE_1F1B ? 4 : 1);
    }
}

static const char *in_flight_label(size_t i, char *text) {
    PipePlan plan[2 * ALL_PLANS];
    plans_all(PIPE_1F1B, plan);
    plans_all(PIPE_GPIPE, plan + ALL_PLANS);
    snprintf(text, CHECK_LABEL, "stage %d of %d, m = %d, %s", plan[i].stage, plan[i].stages,
             plan[i].micros, plan[i].order == PIPE_GPIPE ? "GPIPE" : "1F1B");
    return text;
}

/* Of all plans of both orders. */
static uint64_t *in_flight_of(Check *check, const PipePlan *plan, int how) {
    uint64_t *flight = (uint64_t *)check_doubles(check, 2 * ALL_PLANS);
    for (int i = 0; i < 2 * ALL_PLANS; i++) {
        int m = plan[i].micros, behind = plan[i].stages - plan[i].stage, ahead = behind;
        bool gpipe = plan[i].order == PIPE_GPIPE;
        switch (how) {
        case 1: /* warm-up alone */
            ahead = behind - 1 > 1 ? behind - 1 : 1;
            break;
        case 2: /* of every stage the first one's */
            ahead = plan[i].stages;
            break;
        case 3: /* without the window's end */
            m = gpipe ? m : 2 * MOST_MICROS;
            break;
        case 4: /* that of GPipe, always */
            gpipe = true;
            break;
        case 5: /* counted from the other end */
            ahead = plan[i].stage + 1;
            break;
        default:
            break;
        }
        flight[i] = (uint64_t)(gpipe || m < ahead ? m : ahead);
    }
    return flight;
}

void orders_judge_in_flight(Check *check) {
    PipePlan *plan =
        (PipePlan *)check_doubles(check, 2 * ALL_PLANS * sizeof(PipePlan) / sizeof(double) + 1);
    plans_all(PIPE_1F1B, plan);
    plans_all(PIPE_GPIPE, plan + ALL_PLANS);
    ExactSuspect suspects[] = {
        {"these are the forwards before the first turn of forward and backward: the one of that "
         "turn is in flight, too",
         in_flight_of(check, plan, 1)},
        {"every stage keeps as many as the first one: the later a stage, the sooner comes the "
         "gradient",
         in_flight_of(check, plan, 2)},
        {"a window of few micro-batches has no more of them: min(m, p - stage)",
         in_flight_of(check, plan, 3)},
        {"1F1B keeps as many as GPIPE", in_flight_of(check, plan, 4)},
        {"stages are counted from the wrong end: the last one keeps a single micro-batch",
         in_flight_of(check, plan, 5)}};
    plans_give(check, plan, 2 * ALL_PLANS);
    check_want(check, "in flight", WIRE_U64, 2 * ALL_PLANS);
    if (check_run(check, "formulas/in_flight", SECONDS)) {
        check_equal_of(check, "in flight", in_flight_label, in_flight_of(check, plan, 0),
                       2 * ALL_PLANS, suspects, 5);
    }
}

/* ---- the bubble ------------------------------------------------------------------------------ */

/* Ways to get it wrong. */
typedef enum BubbleWay {
    BUBBLE_RIGHT,
    BUBBLE_IN_FLOAT,
    BUBBLE_OF_WORK,
    BUBBLE_OF_P,
    BUBBLE_WHOLE,
    BUBBLE_PERCENT,
    BUBBLE_WAYS,
} BubbleWay;

static const char *const bubble_sentence[BUBBLE_WAYS] = {
    [BUBBLE_IN_FLOAT] = "this is computed in float, which has 24 bits: pipe_bubble() gives a "
                        "double, so divide doubles",
    [BUBBLE_OF_WORK] = "(p - 1) / m is the bubble beside the work: of the whole time it is "
                       "(p - 1) / (m + p - 1)",
    [BUBBLE_OF_P] = "p stages need p - 1 turns to fill",
    [BUBBLE_WHOLE] = "whole numbers are divided, and what is left of a part is 0: divide doubles",
    [BUBBLE_PERCENT] = "this is in per cent: the contract says a part of 1",
};

/* Rounded once or twice otherwise: far below what a float rounds. */
static bool bubble_is(double got, double wanted, double tolerance) {
    return fabs(got - wanted) <= tolerance * (1e-3 + fabs(wanted));
}

static double bubble_by(BubbleWay way, const PipePlan *plan, double right) {
    double p = plan->stages, m = plan->micros;
    switch (way) {
    case BUBBLE_OF_WORK:
        return (p - 1) / m;
    case BUBBLE_OF_P:
        return p / (m + p);
    case BUBBLE_WHOLE:
        return 0;
    case BUBBLE_PERCENT:
        return 100 * right;
    default:
        return right;
    }
}

/* By the clock: of the time of a window, the turns in which a stage has nothing to do. */
static double bubble_worked_out(const PipePlan *plan) {
    int p = plan->stages, m = plan->micros;
    double forth[MOST_STAGES], back[MOST_STAGES];
    for (int s = 0; s < p; s++) {
        forth[s] = 1;
        back[s] = 2;
    }
    double seconds = plan_seconds(PIPE_1F1B, p, m, forth, back);
    CHECK(seconds == plan_seconds(PIPE_GPIPE, p, m, forth, back), "the orders differ in time");
    return (seconds - 3.0 * m) / seconds;
}

void orders_judge_bubble(Check *check) {
    PipePlan *plan = plans_of(check, PIPE_1F1B);
    bool right = true, fits[BUBBLE_WAYS] = {false};
    int wrong = ALL_PLANS - 1;
    double want[ALL_PLANS], got[ALL_PLANS];
    plans_give(check, plan, ALL_PLANS);
    check_want(check, "bubbles", WIRE_U64, ALL_PLANS);
    if (!check_run(check, "formulas/bubble", SECONDS)) {
        return;
    }
    memcpy(got, check_got(check, "bubbles", WIRE_U64), sizeof got);
    for (int way = 0; way < BUBBLE_WAYS; way++) {
        fits[way] = true;
    }
    for (int i = ALL_PLANS - 1; i >= 0; i--) {
        bool same = i + 1 < ALL_PLANS && plan[i].stages == plan[i + 1].stages &&
                    plan[i].micros == plan[i + 1].micros;
        want[i] = same ? want[i + 1] : bubble_worked_out(&plan[i]);
        for (int way = 0; way < BUBBLE_WAYS; way++) {
            double tolerance = way == BUBBLE_IN_FLOAT ? 1e-6 : 1e-12;
            fits[way] = fits[way] &&
                        bubble_is(got[i], bubble_by((BubbleWay)way, &plan[i], want[i]), tolerance);
        }
        if (!bubble_is(got[i], want[i], 1e-12)) {
            right = false;
            wrong = i;
        }
    }
    check_compared(check, right, "%d stages, %d micro-batches: got %.17g, want %.17g",
                   plan[wrong].stages, plan[wrong].micros, got[wrong], want[wrong]);
    for (int way = BUBBLE_IN_FLOAT; way < BUBBLE_WAYS; way++) {
        check_suspect(check, bubble_sentence[way], fits[way] && !right);
    }
}
