/* Measures a machine for the judge of lab 06: its rates, and how long plans take on it. Prints a
   table in C for grader/labs/06_fit/measured.c: the rates, then a line for each plan.

       build/bin/measured NAME >>grader/labs/06_fit/measured.c */
#include <stdio.h>

#include "common/files.h"
#include "common/lab.h"
#include "train/measure.h"
#include "train/meter.h"
#include "train/rates.h"
#include "train/window.h"

enum { REPEAT = 7, CONFIGS = 3, PLANS = 8 };

static const ModelConfig configs[CONFIGS] = {
    {.V = 300, .T = 128, .L = 4, .NH = 4, .C = 128},
    {.V = 600, .T = 64, .L = 3, .NH = 4, .C = 256},
    {.V = 2000, .T = 96, .L = 2, .NH = 6, .C = 192},
};

static const Plan plans[PLANS] = {
    {8, 1, {0}, F32, ATTENTION_PLAIN},        {1, 8, {0}, F32, ATTENTION_PLAIN},
    {2, 4, {1, false}, F32, ATTENTION_PLAIN}, {4, 2, {0, true}, F32, ATTENTION_PLAIN},
    {4, 2, {0}, F32, ATTENTION_FLASH},        {8, 1, {0}, F16, ATTENTION_PLAIN},
    {2, 4, {1, true}, BF16, ATTENTION_PLAIN}, {4, 2, {1, false}, F16, ATTENTION_FLASH},
};

static void print_list(const char *name, const double *values, int count) {
    printf("                .%s = {", name);
    for (int i = 0; i < count; i++) {
        printf("%s%.4g", i > 0 ? ", " : "", values[i]);
    }
    printf("},\n");
}

static void print_machine(const PlanRates *rates) {
    printf("    {.rates = {.count = %d, .overhead = %.3g,\n                .rows = {", rates->count,
           rates->overhead);
    for (int i = 0; i < rates->count; i++) {
        printf("%s%d", i > 0 ? ", " : "", rates->rows[i]);
    }
    printf("},\n");
    print_list("rate[F32]", rates->rate[F32], rates->count);
    print_list("rate[F16]", rates->rate[F16], rates->count);
    print_list("rate[BF16]", rates->rate[BF16], rates->count);
    print_list("attention", rates->attention, 3);
    print_list("stream", rates->stream, 3);
    printf("     },\n");
}

static void print_plans(const char *machine, const ModelConfig *config, const double *seconds) {
    printf("     .machine = \"%s\", .config = {.V = %d, .T = %d, .L = %d, .NH = %d, .C = "
           "%d},\n     .seconds = {",
           machine, config->V, config->T, config->L, config->NH, config->C);
    for (int i = 0; i < PLANS; i++) {
        printf("%.4g, ", seconds[i]);
    }
    printf("}},\n");
}

int main(int argc, char **argv) {
    bool gpu = argc == 3;
    Device *device = gpu ? device_gpu_new(ops_gpu) : device_cpu_new(0);
    if (argc < 2 || device == NULL) {
        fprintf(stderr, "measured NAME [gpu]\n");
        return EXIT_USAGE;
    }
    Meter meter = meter_begin("plans", CONFIGS * PLANS);
    printf("    /* %s */\n", argv[1]);
    for (int c = 0; c < CONFIGS; c++) {
        Course course = {configs[c], configs[c].T, 8, device, NULL};
        PlanRates rates;
        double seconds[PLANS], ms[REPEAT];
        course_fill(&course, 1);
        rates_warn(rates_measure(device, &course.config, 8 * course.T, &rates));
        for (int i = 0; i < PLANS; i++) {
            MemoryUse peak;
            course_run(&course, &plans[i], REPEAT, ms, &peak);
            seconds[i] = 1e-3 * least(ms, REPEAT);
            meter_tell(&meter, c * PLANS + i + 1);
        }
        meter_clear(&meter);
        print_machine(&rates);
        print_plans(argv[1], &course.config, seconds);
        course_free(&course);
    }
    device_free(device);
    return stdout_flush() == 0 ? 0 : EXIT_RUN;
}
