#include "grader/labs/06_fit/train.h"

#include <math.h>
#include <string.h>

float *train_weights(Check *check, Reference *reference) {
    size_t P = reference_elements(reference);
    float *weights = check_normal(check, P, 0.1, F32), *to = weights;
    for (int i = 0; i < reference->param_count; i++) {
        for (size_t j = 0; j < reference->params[i].count; j++, to++) {
            float x = *to + (reference->params[i].init == INIT_ONE ? 1.0f : 0.0f);
            *to = precision_round(F16, precision_round(BF16, x));
            reference->weight[i][j] = (double)*to;
        }
    }
    check_give(check, "weights", WIRE_F32, weights, P);
    return weights;
}

Batch train_rows(const Space *space) {
    Check *check = space->check;
    Batch rows = batch_uneven(check, space->config.V, space->batch, space->T);
    size_t N = (size_t)(space->batch * space->T);
    check_give(check, "tokens", WIRE_I32, rows.tokens, N);
    check_give(check, "targets", WIRE_I32, rows.targets, N);
    return rows;
}

/* In double: the micro-batches of the plan one after the other, each with its own masks. */
static void train_work_out(const Space *space, Reference *reference, const Plan *plan, Batch rows) {
    int N = plan->micro_batch * space->T;
    uint64_t drawn = 0;
    for (int k = 0; k < plan->window; k++) {
        Batch micro = {.B = plan->micro_batch,
                       .T = space->T,
                       .tokens = rows.tokens + k * N,
                       .targets = rows.targets + k * N};
        reference_pass(reference, &micro, 1.0 / rows.valid, 1, drawn);
        drawn += reference_pass_counters(&space->config, N);
    }
}

bool train_run(const Space *space, const Reference *reference, const Plan *plan, uint64_t budget) {
    char name[WIRE_NAME];
    int32_t numbers[PLAN_NUMBERS];
    plan_numbers(plan, numbers);
    check_give(space->check, "plan", WIRE_I32, numbers, PLAN_NUMBERS);
    check_give(space->check, "budget", WIRE_U64, &budget, 1);
    check_want(space->check, "peak", WIRE_U64, 1);
    for (int i = 0; i < reference->param_count; i++) {
        const Param *param = &reference->params[i];
        check_want(space->check, param_name(name, NAME_GRADIENT, param, "update", 0), WIRE_F32,
                   param->count);
    }
    return check_run_kit(space->check, "train", SECONDS);
}

void train_expect_gradients(const Space *space, Reference *reference, const Plan *plan,
                            Batch rows) {
    char name[WIRE_NAME];
    train_work_out(space, reference, plan, rows);
    for (int i = 0; i < reference->param_count; i++) {
        const Param *param = &reference->params[i];
        check_close(space->check, param_name(name, NAME_GRADIENT, param, "update", 0),
                    reference->grad[i], param->count, tolerance_of_model(plan->precision), NULL, 0);
    }
}
