/* `train --fit`: asks lab 06 for a plan, prints it and sets the options by it. The contract is in
   fit.h. */
#include "train/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/lab.h"
#include "labs/06_fit/contract.h"
#include "labs/07_optimizers/contract.h"
#include "train/rates.h"
#include "train/window.h"

/* ---- the plans of the kit's own blocks, as options ----------------------------------------- */

/* The sources of the options; nothing is left to choose in any of them. */
typedef struct Offer {
    const ModelConfig *config;
    int T;
    const Device *device;
    const PlanRates *rates;
    PlanOption *options; /* NULL while they are counted */
    int count;
} Offer;

static void offer_plan(void *context, const Plan *plan) {
    Offer *offer = context;
    if (offer->options != NULL) {
        const double unit = 1 << 30; /* of PlanOption: seconds are whole multiples of 1 / unit */
        MemoryUse use = plan_bytes(offer->config, offer->T, plan, offer->device);
        double seconds = plan_cost(offer->config, offer->T, plan, offer->rates);
        offer->options[offer->count] = (PlanOption){
            .plan = *plan, .bytes = memory_total(&use), .seconds = ceil(seconds * unit) / unit};
    }
    offer->count++;
}

/* Lab 06 alone for AdamW; else lab 07, which asks lab 06. */
static int choose(const Offer *offer, size_t budget, void *scratch, int *optim,
                  PlanChoice *choice) {
    static const Optim all[] = {OPTIM_ADAMW, OPTIM_ADAMW_8BIT, OPTIM_ADAFACTOR};
    if (*optim == OPTIM_ADAMW) {
        return plan_choose(offer->options, offer->count, budget, scratch, PLAN_SCRATCH, choice);
    }
    Optim wanted = (Optim)*optim;
    bool any = *optim == OPTIM_AUTO;
    OptimChoice chosen;
    if (optim_choose(offer->config, any ? all : &wanted, any ? 3 : 1, offer->options, offer->count,
                     budget, scratch, PLAN_SCRATCH, &chosen) != 0) {
        return -1;
    }
    *optim = (int)chosen.optim;
    *choice = chosen.plan;
    return 0;
}

int fit_choose(const ModelConfig *config, int batch, int T, size_t budget, const Device *device,
               const PlanRates *rates, int *optim, Plan *plan) {
    Offer offer = {config, T, device, rates, NULL, 0};
    PlanChoice choice;
    course_each(config->L, batch, offer_plan, &offer);
    offer.options = calloc((size_t)offer.count, sizeof *offer.options);
    void *scratch = malloc(PLAN_SCRATCH);
    CHECK(offer.options != NULL && scratch != NULL, "no host memory for %d plans", offer.count);
    offer.count = 0;
    course_each(config->L, batch, offer_plan, &offer);
    int result = choose(&offer, budget, scratch, optim, &choice);
    if (result == 0) {
        CHECK(choice.option >= 0 && choice.option < offer.count, "option %d of %d is chosen",
              choice.option, offer.count);
        *plan = offer.options[choice.option].plan;
    }
    free(scratch);
    free(offer.options);
    return result;
}

/* ---- --fit ----------------------------------------------------------------------------------- */

static void describe(const TrainOptions *options, const Plan *plan, const PlanRates *rates,
                     const Device *device) {
    MemoryUse use = plan_bytes(&options->config, options->T, plan, device);
    if (options->optim != OPTIM_ADAMW) {
        ModelConfig config = plan_config(&options->config, plan);
        use.bytes[MEMORY_OPTIMIZER] = optim_bytes(&config, (Optim)options->optim);
    }
    double seconds = plan_cost(&options->config, options->T, plan, rates);
    double tokens = (double)options->effective_batch * options->T;
    printf("Plan:   %d x %d sequences, %s, %s attention", plan->window, plan->micro_batch,
           precision_name(plan->precision), plan->attention == ATTENTION_PLAIN ? "plain" : "flash");
    if (plan->checkpoint.segment > 0) {
        printf(", segments of %d", plan->checkpoint.segment);
    }
    if (options->optim != OPTIM_ADAMW) {
        printf(", %s", optim_name((Optim)options->optim));
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
        rates_warn(rates_measure(device, config, options->effective_batch * options->T, &rates));
    } else if (rates_load(&rates, options->rates) != 0) {
        return EXIT_USAGE;
    }
    describe_whole(options, device);
    if (fit_choose(config, options->effective_batch, options->T, options->fit, device, &rates,
                   &options->optim, &plan) != 0) {
        fprintf(stderr, "train: --fit %.2f MiB: no plan of %d sequences of %d tokens fits\n",
                memory_mib(options->fit), options->effective_batch, options->T);
        return EXIT_USAGE;
    }
    describe(options, &plan, &rates, device);
    adopt(options, &plan);
    return 0;
}
