/* Lab 06: what a plan costs and takes, that the best one is found, and that it trains. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/testkit/compare.h"
#include "common/testkit/program.h"
#include "common/testkit/scratch.h"
#include "common/trainer.h"
#include "labs/06_fit/contract.h"
#include "train/rates.h"
#include "train/techniques.h"

/* Matrix products that are busier with more rows; half is twice as fast. */
static const PlanRates rates = {
    .count = 4,
    .rows = {8, 32, 128, 512},
    .rate = {{1e9, 2e9, 4e9, 8e9}, {2e9, 4e9, 8e9, 16e9}, {2e9, 4e9, 8e9, 16e9}},
    .overhead = 1e-6};
static const ModelConfig config = {.V = 256, .T = 24, .L = 5, .NH = 2, .C = 16, .dropout = 0.1f};

enum { T = 19, BATCH = 6 };

/* ---- cost ------------------------------------------------------------------------------------ */

/* FLOPs of a forward and backward of N tokens, product by product. */
static double flops_by_hand(double N, bool flash) {
    double V = config.V, L = config.L, C = config.C, block = 12 * C * C;
    double attention = (flash ? 7 : 6) * 2 * N * T * C;
    return 3 * 2 * N * (L * block + V * C) + L * attention;
}

Test(plan, cost_is_flops_over_rate_and_overhead) {
    for (int flash = 0; flash < 2; flash++) {
        Plan plan = {.micro_batch = 2, .window = 3, .attention = (Attention)flash};
        double N = 2 * T; /* 38 rows: between 32 and 128 */
        double rate = 2e9 + (4e9 - 2e9) * (N - 32) / (128 - 32);
        double products = 3 * (4 * config.L + 1) + (flash ? 7 : 6) * config.L;
        double want = 3 * (flops_by_hand(N, flash) / rate + products * 1e-6);
        double got = plan_cost(&config, T, &plan, &rates);
        cr_assert(fabs(got - want) <= tolerance_of_double() * want, "%g, should be %g", got, want);
    }
}

Test(plan, cost_outside_of_the_table_is_that_of_the_nearest_point) {
    PlanRates one = {.count = 1, .rows = {64}, .rate = {{3e9}, {6e9}, {6e9}}};
    Plan small = {.micro_batch = 1, .window = 1}, large = {.micro_batch = 50, .window = 1};
    double a = plan_cost(&config, T, &small, &one), b = plan_cost(&config, T, &large, &one);
    cr_assert(fabs(b / a - 50) <= tolerance_of_double() * 50, "%g", b / a);
    small.precision = BF16;
    cr_assert(fabs(plan_cost(&config, T, &small, &one) / a - 0.5) <= tolerance_of_double());
}

/* A plan runs the same blocks again as lab 04: blocks are counted while a step runs. */
Test(plan, cost_of_a_segment_counts_the_blocks_that_run_again, .timeout = 60) {
    PlanRates flat = {.count = 1, .rows = {1}, .rate = {{1}, {1}, {1}}};
    double N = T, forward = 2 * N * 12 * config.C * config.C + 2 * 2 * N * T * config.C;
    Plan plan = {.micro_batch = 1, .window = 1};
    double whole = plan_cost(&config, T, &plan, &flat);
    Device *device = device_cpu_new(64 << 20);
    for (int segment = 1; segment <= config.L; segment++) {
        Memory *memory = memory_new(device, (MemoryOptions){0});
        Trainer trainer = {.model = model_new(&config, memory, 1)};
        techniques_set(&trainer);
        int32_t ids[T] = {0};
        Batch batch = {1, T, ids, ids, T};
        plan.checkpoint.segment = trainer.model->checkpoint.segment = segment;
        trainer_forward(&trainer, &batch);
        trainer_backward(&trainer, 1);
        double again = (double)trainer.model->block_forwards - config.L;
        double got = plan_cost(&config, T, &plan, &flat) - whole;
        cr_assert(fabs(got - again * forward) <= tolerance_of_double() * whole, "segment %d: %g",
                  segment, got);
        model_free(trainer.model);
        memory_free(memory);
    }
    device_free(device);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Calls `see` with every plan of BATCH sequences. */
static void each_plan(void (*see)(const Plan *plan, void *context), void *context) {
    static const int micros[] = {1, 2, 3, 6};
    for (int i = 0; i < 4 * 3 * 2 * 2 * (config.L + 1); i++) {
        int n = i / 4, segment;
        Plan plan = {.micro_batch = micros[i % 4], .window = BATCH / micros[i % 4]};
        plan.precision = (Precision)(n % 3);
        plan.attention = (Attention)(n / 3 % 2);
        plan.checkpoint.attention_only = n / 6 % 2;
        segment = n / 12;
        plan.checkpoint.segment = segment;
        see(&plan, context);
    }
}

static void expect_counted(const Plan *plan, void *context) {
    Device *device = context;
    ModelConfig planned = plan_config(&config, plan);
    MemoryUse predicted = plan_bytes(&config, T, plan, device), peak;
    Trainer way = {0};
    techniques_set(&way);
    trainer_measure_as(&way, &planned, plan->checkpoint, plan->micro_batch, T, device, &peak);
    cr_assert_arr_eq(&predicted, &peak, sizeof peak, "%s %d segment %d attention %d only %d",
                     precision_name(plan->precision), plan->micro_batch, plan->checkpoint.segment,
                     (int)plan->attention, plan->checkpoint.attention_only);
}

Test(plan, bytes_are_what_is_counted_for_every_plan, .timeout = 120) {
    Device *device = device_cpu_new(256 << 20);
    each_plan(expect_counted, device);
    device_free(device);
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* The best plan for a budget, and the fewest bytes of all. */
typedef struct Best {
    const Device *device;
    size_t budget, fewest;
    double cost;
    size_t bytes;
} Best;

static void look(const Plan *plan, void *context) {
    Best *best = context;
    MemoryUse use = plan_bytes(&config, T, plan, best->device);
    size_t bytes = memory_total(&use);
    double cost = plan_cost(&config, T, plan, &rates);
    best->fewest = bytes < best->fewest ? bytes : best->fewest;
    if (bytes <= best->budget &&
        (cost < best->cost || (cost == best->cost && bytes < best->bytes))) {
        best->cost = cost;
        best->bytes = bytes;
    }
}

static Best best_of(const Device *device, size_t budget) {
    Best best = {.device = device, .budget = budget, .fewest = SIZE_MAX, .cost = (double)INFINITY};
    each_plan(look, &best);
    return best;
}

static void expect_best(const Device *device, size_t budget) {
    Best best = best_of(device, budget);
    Plan plan;
    cr_assert_eq(plan_choose(&config, BATCH, T, budget, device, &rates, &plan), 0);
    MemoryUse use = plan_bytes(&config, T, &plan, device);
    cr_assert_eq(plan.micro_batch * plan.window, BATCH);
    cr_assert(plan_cost(&config, T, &plan, &rates) == best.cost, "in %zu bytes", budget);
    cr_assert_eq(memory_total(&use), best.bytes, "in %zu bytes", budget);
}

Test(plan, chooses_the_best_in_every_budget, .timeout = 60) {
    Device *devices[] = {device_cpu_new(1 << 20), device_gpu_new(ops_gpu)};
    for (int i = 0; i < 2; i++) {
        size_t fewest = best_of(devices[i], 0).fewest;
        for (size_t budget = fewest; budget < 4 * fewest; budget += fewest / 7) {
            expect_best(devices[i], budget);
        }
        expect_best(devices[i], SIZE_MAX);
        Plan plan = {.micro_batch = -7};
        cr_assert_eq(plan_choose(&config, BATCH, T, fewest - 1, devices[i], &rates, &plan), -1);
        cr_assert_eq(plan.micro_batch, -7);
        device_free(devices[i]);
    }
}

Test(plan, largest_is_the_last_that_fits, .timeout = 60) {
    Device *device = device_cpu_new(1 << 20);
    for (int n = 1; n <= 40; n++) {
        Plan plan = {
            .micro_batch = n, .precision = n % 2 ? F16 : F32, .checkpoint = {n % 3, false}};
        MemoryUse use = plan_bytes(&config, T, &plan, device);
        size_t bytes = memory_total(&use);
        plan.micro_batch = 3;
        cr_assert_eq(plan_largest(&config, T, bytes, device, &plan, 50), n);
        cr_assert_eq(plan_largest(&config, T, bytes - 1, device, &plan, 50), n - 1);
        cr_assert_eq(plan_largest(&config, T, bytes, device, &plan, n / 2 + 1), n / 2 + 1);
    }
    device_free(device);
}

/* ---- rates ----------------------------------------------------------------------------------- */

Test(plan, rates_are_measured_and_survive_a_file, .timeout = 60) {
    Device *device = device_cpu_new(64 << 20);
    PlanRates measured, loaded;
    const char *path = scratch_path("rates.json");
    rates_measure(device, &config, 100, &measured);
    device_free(device);
    cr_assert_eq(measured.count, 5); /* 8, 16, 32, 64, 128 */
    cr_assert(measured.overhead > 0);
    cr_assert_eq(rates_save(&measured, path), 0);
    cr_assert_eq(rates_load(&loaded, path), 0);
    for (int p = 0; p < 3; p++) {
        for (int i = 0; i < measured.count; i++) {
            double a = measured.rate[p][i], b = loaded.rate[p][i];
            cr_assert(a > 0 && fabs(a - b) <= 1e-5 * a, "%g was %g", b, a);
        }
    }
    cr_assert_arr_eq(measured.rows, loaded.rows, sizeof loaded.rows);
    scratch_remove();
}

Test(plan, bad_rates_are_refused, .timeout = 60) {
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"rows\": [8], \"f32\": [1], \"f16\": [1], \"bf16\": [1]}",
        "{\"rows\": [], \"f32\": [], \"f16\": [], \"bf16\": [], \"overhead\": 0}",
        "{\"rows\": [8, 8], \"f32\": [1, 1], \"f16\": [1, 1], \"bf16\": [1, 1], \"overhead\": 0}",
        "{\"rows\": [8.5], \"f32\": [1], \"f16\": [1], \"bf16\": [1], \"overhead\": 0}",
        "{\"rows\": [-8], \"f32\": [1], \"f16\": [1], \"bf16\": [1], \"overhead\": 0}",
        "{\"rows\": [8], \"f32\": [0], \"f16\": [1], \"bf16\": [1], \"overhead\": 0}",
        "{\"rows\": [8], \"f32\": [1, 2], \"f16\": [1], \"bf16\": [1], \"overhead\": 0}",
        "{\"rows\": [8], \"f32\": [1], \"f16\": [\"1\"], \"bf16\": [1], \"overhead\": 0}",
        "{\"rows\": [8], \"f32\": [1], \"f16\": [1], \"bf16\": [1], \"overhead\": -1}",
        "{\"rows\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]}"};
    const char *path = scratch_path("rates.json");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        FILE *file = fopen(path, "w");
        fputs(bad[i], file);
        fclose(file);
        PlanRates kept = rates;
        cr_assert_eq(rates_load(&kept, path), -1, "%s", bad[i]);
        cr_assert_arr_eq(&kept, &rates, sizeof kept);
    }
    cr_assert_eq(rates_load(&(PlanRates){0}, "/no/such/file"), -1);
    scratch_remove();
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Writes rates with which every plan costs what it should, whatever the machine does just now. */
static void write_rates(void) {
    const char *path = scratch_path("rates.json");
    cr_assert_eq(rates_save(&rates, path), 0);
}

#define FIT TINY "--effective_batch 12 --rates $S/rates.json --max_steps 3 "

Test(plan, train_fits_itself_into_a_budget, .timeout = 120) {
    text_file();
    write_rates();
    cr_assert_eq(train(FIT "--fit 64 --dropout 0.1 --documents"), 0, "%s", output);
    cr_assert(strstr(output, "1 x 12 sequences") != NULL, "%s", output);
    cr_assert_eq(train(FIT "--fit 1M"), 0, "%s", output);
    cr_assert_eq(train(FIT "--fit 200K"), 1, "%s", output);
    cr_assert(strstr(output, "no plan of 12 sequences") != NULL, "%s", output);
    scratch_remove();
}

Test(plan, train_refuses_what_does_not_go_together, .timeout = 60) {
    text_file();
    cr_assert_eq(train(TINY "--rates x.json"), 2, "%s", output);
    cr_assert_eq(train(TINY "--fit 8 --resume_from_checkpoint $S/none"), 2, "%s", output);
    cr_assert_eq(train(TINY "--fit 8 --rates $S/none.json"), 2, "%s", output);
    cr_assert_eq(train(TINY "--fit 8 --effective_batch 1000000 --n_positions 2000"), 2, "%s",
                 output);
    scratch_remove();
}
