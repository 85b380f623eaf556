/* Every plan of lab 06 at work, for tools/pareto.py: takes the options of `train`, prints how many
   plans there are and the seconds of a window by each of them, predicted, then a line for each
   plan when it is done, and among them the one that fit_choose() takes for --fit. Each plan runs a
   window to pay for what is done once, and then WINDOWS, of which the median counts.

   micro_batch window precision attention segment attention_only predicted_bytes counted_bytes
   predicted_tokens_per_s tokens_per_s noise chosen */
#include <stdio.h>
#include <stdlib.h>

#include "common/files.h"
#include "common/lab.h"
#include "labs/06_fit/contract.h"
#include "train/fit.h"
#include "train/measure.h"
#include "train/options.h"
#include "train/rates.h"
#include "train/window.h"

enum { WINDOWS = 3 };

/* The course, and the plan that is marked. */
typedef struct Pareto {
    Course course;
    PlanRates rates;
    Plan chosen;
    int plans;      /* counted */
    double seconds; /* predicted for a window by each of them */
} Pareto;

static bool same_plan(const Plan *a, const Plan *b, int L) {
    return a->micro_batch == b->micro_batch && a->precision == b->precision &&
           a->attention == b->attention && a->checkpoint.segment % L == b->checkpoint.segment % L &&
           a->checkpoint.attention_only == b->checkpoint.attention_only;
}

static void count_plan(void *context, const Plan *plan) {
    Pareto *show = context;
    const Course *course = &show->course;
    show->plans++;
    show->seconds += plan_cost(&course->config, course->T, plan, &show->rates);
}

static void print_plan(void *context, const Plan *plan) {
    const Pareto *show = context;
    const Course *course = &show->course;
    MemoryUse predicted = plan_bytes(&course->config, course->T, plan, course->device), peak;
    double tokens = (double)course->batch * course->T;
    double ms[WINDOWS];
    course_run(course, plan, WINDOWS, ms, &peak);
    double noisy = noise(ms, WINDOWS);
    printf("%d %d %s %s %d %d %zu %zu %.1f %.1f %.2f %d\n", plan->micro_batch, plan->window,
           precision_name(plan->precision), plan->attention == ATTENTION_PLAIN ? "plain" : "flash",
           plan->checkpoint.segment, plan->checkpoint.attention_only, memory_total(&predicted),
           memory_total(&peak), tokens / plan_cost(&course->config, course->T, plan, &show->rates),
           1e3 * tokens / median(ms, WINDOWS), noisy,
           same_plan(plan, &show->chosen, course->config.L));
    fflush(stdout);
}

static bool measure(Pareto *show, const TrainOptions *options) {
    const Course *course = &show->course;
    if (options->rates != NULL) {
        return rates_load(&show->rates, options->rates) == 0;
    }
    int most = course->batch * course->T;
    rates_warn(rates_measure(course->device, &course->config, most, &show->rates));
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
    int optim = OPTIM_ADAMW;
    if (fit_choose(&course->config, course->batch, course->T, budget, course->device, &show.rates,
                   &optim, &show.chosen) != 0) {
        fprintf(stderr, "pareto: nothing fits, so no plan is marked\n");
    }
    course_each(course->config.L, course->batch, count_plan, &show);
    printf("plans %d windows %d tokens %d seconds %.3f busy_from %.2f\n", show.plans, 1 + WINDOWS,
           course->batch * course->T, show.seconds, NOISE_BUSY);
    fflush(stdout);
    course_each(course->config.L, course->batch, print_plan, &show);
    device_free(course->device);
    course_free(course);
    return stdout_flush() == 0 ? 0 : EXIT_RUN;
}
