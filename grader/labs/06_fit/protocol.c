#include "grader/labs/06_fit/protocol.h"

void plan_numbers(const Plan *plan, int32_t n[PLAN_NUMBERS]) {
    n[0] = plan->micro_batch;
    n[1] = plan->window;
    n[2] = plan->checkpoint.segment;
    n[3] = plan->checkpoint.attention_only;
    n[4] = (int32_t)plan->precision;
    n[5] = (int32_t)plan->attention;
}

Plan plan_of(const int32_t n[PLAN_NUMBERS]) {
    return (Plan){.micro_batch = n[0],
                  .window = n[1],
                  .checkpoint = {n[2], n[3] != 0},
                  .precision = (Precision)n[4],
                  .attention = (Attention)n[5]};
}
