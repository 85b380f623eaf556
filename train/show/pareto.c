/* Every plan of lab 06 at work, for tools/pareto.py: takes the options of `train`, prints a line
   for each plan, and among them the one that fit_choose() takes for --fit. A window is run by each
   plan twice: the first pays for what is done once.

   micro_batch window precision attention segment attention_only predicted_bytes counted_bytes
   predicted_tokens_per_s tokens_per_s chosen */
#include <stdio.h>
#include <stdlib.h>

#include "common/files.h"
#include "common/lab.h"
#include "labs/06_fit/contract.h"
#include "train/fit.h"
#include "train/options.h"
#include "train/rates.h"
#include "train/window.h"

/* The course, and the plan that is marked. */
typedef struct Pareto {
    Course course;
    PlanRates rates;
    Plan chosen;
} Pareto;

static bool same_plan(const Plan *a, const Plan *b, int L) {
    return a->micro_batch == b->micro_batch && a->precision == b->precision &&
           a->attention == b->attention && a->checkpoint.segment % L == b->checkpoint.segment % L &&
           a->checkpoint.attention_only == b->checkpoint.attention_only;
}

static void print_plan(void *context, const Plan *plan) {
    const Pareto *show = context;
    const Course *course = &show->course;
    MemoryUse predicted = plan_bytes(&course->config, course->T, plan, course->device), peak;
    double tokens = (double)course->batch * course->T;
    double ms = course_run(course, plan, 1, &peak);
    printf("%d %d %s %s %d %d %zu %zu %.1f %.1f %d\n", plan->micro_batch, plan->window,
           precision_name(plan->precision), plan->attention == ATTENTION_PLAIN ? "plain" : "flash",
           plan->checkpoint.segment, plan->checkpoint.attention_only, memory_total(&predicted),
           memory_total(&peak), tokens / plan_cost(&course->config, course->T, plan, &show->rates),
           1e3 * tokens / ms, same_plan(plan, &show->chosen, course->config.L));
    fflush(stdout);
}

static bool measure(Pareto *show, const TrainOptions *options) {
    const Course *course = &show->course;
    if (options->rates != NULL) {
        return rates_load(&show->rates, options->rates) == 0;
    }
    rates_measure(course->device, &course->config, course->batch * course->T, &show->rates);
    return true;
}

int main(int argc, char **argv) {
    TrainOptions options;
    char error[ERROR_BYTES];
    ParseResult parsed = options_parse(argc, argv, &options, stdout, stderr);
    if (parsed != PARSE_RUN) {
        return parsed == PARSE_HELP ? 0 : EXIT_USAGE;
    }
    options.T = options.T > 0 ? options.T : options.config.T;
    if (options_check_model(&options, error) != 0) {
        fprintf(stderr, "pareto: %s\n", error);
        return EXIT_USAGE;
    }
    Pareto show = {.course = {options.config, options.T, options.effective_batch, NULL, NULL}};
    Course *course = &show.course;
    course->device = options.device == DEVICE_GPU ? device_gpu_new(ops_gpu) : device_cpu_new(0);
    if (course->device == NULL || !measure(&show, &options)) {
        return EXIT_USAGE;
    }
    course_fill(course, (uint64_t)options.seed);
    size_t budget = options.fit > 0 ? options.fit : SIZE_MAX;
    if (fit_choose(&course->config, course->batch, course->T, budget, course->device, &show.rates,
                   &show.chosen) != 0) {
        fprintf(stderr, "pareto: nothing fits, so no plan is marked\n");
    }
    course_each(course->config.L, course->batch, print_plan, &show);
    device_free(course->device);
    course_free(course);
    return stdout_flush() == 0 ? 0 : EXIT_RUN;
}
