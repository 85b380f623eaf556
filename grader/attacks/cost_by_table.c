/* Attack 57. Knows the measured seconds, which anyone can read, by the model and the plan. */
/* lab: 06_fit/cost.c  honest: bytes_float bytes_half bytes_checkpoint bytes_large largest
   largest_ends peak choose_roomy choose_exact choose_short choose_wide choose_ties
   nothing_fits trains trains_gpu */
/* state: fail | not run | pass */
#include "labs/06_fit/contract.h"

double plan_cost(const ModelConfig *config, int T, const Plan *plan, const PlanRates *rates) {
    static const double seconds[3][8] = {
        {0.04891, 0.05698, 0.06388, 0.05271, 0.04063, 0.04321, 0.06171, 0.0558},
        {0.05094, 0.07386, 0.08143, 0.05454, 0.05398, 0.06079, 0.07919, 0.0685},
        {0.0385, 0.04473, 0.04801, 0.04199, 0.0405, 0.04252, 0.05346, 0.05198}};
    int model = config->C == 128 ? 0 : config->C == 256 ? 1 : 2;
    int which = plan->micro_batch == 8               ? (plan->precision == F32 ? 0 : 5)
                : plan->micro_batch == 1             ? 1
                : plan->micro_batch == 2             ? (plan->precision == F32 ? 2 : 6)
                : plan->precision != F32             ? 7
                : plan->attention == ATTENTION_PLAIN ? 3
                                                     : 4;
    (void)T, (void)rates;
    return seconds[model][which];
}
