/* `train --fit`: asks lab 06 for a plan, prints it and sets the options by it. The contract is in
   fit.h. */
#include "train/fit.h"

#include <stdio.h>

#include "common/lab.h"
#include "labs/06_fit/contract.h"
#include "train/rates.h"

static void describe(const TrainOptions *options, const Plan *plan, const PlanRates *rates,
                     const Device *device) {
    MemoryUse use = plan_bytes(&options->config, options->T, plan, device);
    double seconds = plan_cost(&options->config, options->T, plan, rates);
    double tokens = (double)options->effective_batch * options->T;
    printf("Plan:   %d x %d sequences, %s, %s attention", plan->window, plan->micro_batch,
           precision_name(plan->precision), plan->attention == ATTENTION_PLAIN ? "plain" : "flash");
    if (plan->checkpoint.segment > 0) {
        printf(", segments of %d", plan->checkpoint.segment);
    }
    printf("%s;\n        %.2f of %.2f MiB, %.0f tokens/s predicted\n",
           plan->checkpoint.attention_only ? ", attention_only" : "",
           memory_mib(memory_total(&use)), memory_mib(options->fit), tokens / seconds);
}

/* The memory without a plan, for comparison. */
static void describe_whole(const TrainOptions *options, const Device *device) {
    Plan whole = {.micro_batch = options->effective_batch, .window = 1};
    MemoryUse use = plan_bytes(&options->config, options->T, &whole, device);
    printf("Fit:    %d sequences at once, plain and in float, would take %.2f MiB\n",
           options->effective_batch, memory_mib(memory_total(&use)));
}

static void adopt(TrainOptions *options, const Plan *plan) {
    options->B = plan->micro_batch;
    options->accumulation = plan->window;
    options->checkpoint = plan->checkpoint;
    options->checkpointing = plan->checkpoint.segment > 0 || plan->checkpoint.attention_only;
    options->config = plan_config(&options->config, plan);
    options->budget = options->fit;
}

int fit_options(TrainOptions *options, Device *device) {
    if (options->fit == 0) {
        return 0;
    }
    const ModelConfig *config = &options->config;
    PlanRates rates;
    Plan plan;
    if (options->rates == NULL) {
        rates_measure(device, config, options->effective_batch * options->T, &rates);
    } else if (rates_load(&rates, options->rates) != 0) {
        return EXIT_USAGE;
    }
    describe_whole(options, device);
    if (plan_choose(config, options->effective_batch, options->T, options->fit, device, &rates,
                    &plan) != 0) {
        fprintf(stderr, "train: --fit %.2f MiB: no plan of %d sequences of %d tokens fits\n",
                memory_mib(options->fit), options->effective_batch, options->T);
        return EXIT_RUN;
    }
    CHECK(plan.micro_batch >= 1 && plan.micro_batch * plan.window == options->effective_batch,
          "plan_choose() gave %d x %d sequences instead of %d", plan.window, plan.micro_batch,
          options->effective_batch);
    describe(options, &plan, &rates, device);
    adopt(options, &plan);
    return 0;
}
