/* Lab 06: what a plan costs and takes, that the best one is found, and that it trains. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/testkit/compare.h"
#include "common/testkit/program.h"
#include "common/testkit/scratch.h"
#include "common/trainer.h"
#include "common/watch.h"
#include "labs/00_bytes/contract.h"
#include "labs/06_fit/contract.h"
#include "train/rates.h"
#include "train/techniques.h"

/* Matrix products that are busier with more rows; half is twice as fast. */
static const PlanRates rates = {
    .count = 4,
    .rows = {8, 32, 128, 512},
    .rate = {{1e9, 2e9, 4e9, 8e9}, {2e9, 4e9, 8e9, 16e9}, {2e9, 4e9, 8e9, 16e9}},
    .attention = {5e8, 1e9, 1e9},
    .stream = {4e9, 3e9, 2e9},
    .overhead = 1e-6};
static const ModelConfig config = {.V = 256, .T = 24, .L = 5, .NH = 2, .C = 16, .dropout = 0.1f};

enum { T = 19, BATCH = 6 };

/* ---- cost ------------------------------------------------------------------------------------ */

/* The sum over the ops that a step of the kit calls. */
typedef struct Called {
    const PlanRates *rates;
    Precision precision;
    double rows, seconds;
} Called;

static double rate_on_the_line(const PlanRates *table, Precision precision, double rows) {
    int i = 0;
    while (i < table->count - 2 && rows > table->rows[i + 1]) {
        i++;
    }
    double share = (rows - table->rows[i]) / (table->rows[i + 1] - table->rows[i]);
    share = fmin(fmax(share, 0), 1);
    return table->rate[precision][i] * (1 - share) + table->rate[precision][i + 1] * share;
}

static void price(void *context, const char *op, Cost cost) {
    Called *called = context;
    double rate = rate_on_the_line(called->rates, called->precision, called->rows);
    bool attention = strncmp(op, "attention_", 10) == 0 || strncmp(op, "flash_", 6) == 0;
    double work = attention        ? cost.flops / called->rates->attention[called->precision]
                  : cost.flops > 0 ? cost.flops / rate
                                   : cost.bytes / called->rates->stream[called->precision];
    called->seconds += work + called->rates->overhead;
}

/* The last product and residual of each segment that runs again: billed by the contract, left out
   by lab 04. */
static void price_left_out(Called *called, const Plan *plan) {
    double N = called->rows, C = config.C, r = (double)precision_bytes(called->precision);
    int segment = plan->checkpoint.segment > 0 ? plan->checkpoint.segment : config.L;
    for (int i = 0; i < (config.L - 1) / segment; i++) {
        price(called, "matmul_forward", matmul_forward_cost(N, 4 * C, C, true, r));
        price(called, "residual_forward", residual_forward_cost(N * C, r));
    }
}

/* A forward and backward of lab 04, its ops watched; and what it leaves out. */
static double step_seconds(Device *device, const Plan *plan) {
    enum { MOST = 6 * T };
    ModelConfig planned = plan_config(&config, plan);
    planned.dropout = 0; /* masks are not in the formula */
    Memory *memory = memory_new(device, (MemoryOptions){0});
    Trainer trainer = {.model = model_new(&planned, memory, 1)};
    techniques_set(&trainer);
    Called called = {&rates, plan->precision, plan->micro_batch * T, 0};
    int32_t ids[MOST] = {0};
    Batch batch = {.B = plan->micro_batch,
                   .T = T,
                   .tokens = ids,
                   .targets = ids,
                   .valid = plan->micro_batch * T};
    trainer.model->checkpoint = plan->checkpoint;
    trainer.model->ops = ops_watch((Watch){.ops = trainer.model->ops,
                                           .precision = plan->precision,
                                           .after = price,
                                           .context = &called});
    trainer_forward(&trainer, &batch);
    trainer_backward(&trainer, 1);
    price_left_out(&called, plan);
    model_free(trainer.model);
    memory_free(memory);
    return called.seconds;
}

/* The part that belongs to no micro-batch, from two windows. */
static double update_seconds(Plan plan) {
    plan.window = 1;
    double one = plan_cost(&config, T, &plan, &rates);
    plan.window = 2;
    return 2 * one - plan_cost(&config, T, &plan, &rates);
}

static void expect_called(const Plan *plan, void *context) {
    double want = update_seconds(*plan) + plan->window * step_seconds(context, plan);
    double got = plan_cost(&config, T, plan, &rates);
    cr_assert(fabs(got - want) <= 0.01 * want, "%s %d x %d segment %d only %d attention %d: %g, %g",
              precision_name(plan->precision), plan->window, plan->micro_batch,
              plan->checkpoint.segment, plan->checkpoint.attention_only, (int)plan->attention, got,
              want);
}

static void each_plan(void (*see)(const Plan *plan, void *context), void *context);

Test(plan, cost_is_that_of_the_ops_that_a_step_calls_and_leaves_out, .timeout = 120) {
    Device *device = device_cpu_new(256 << 20);
    each_plan(expect_called, device);
    device_free(device);
}

Test(plan, cost_of_the_update) {
    Plan plan = {.micro_batch = 1, .window = 1};
    double P = (double)bytes_params(&config), each = 1e-6;
    double single = 2 * each + (28 * P + 4 * P + 8) / rates.stream[F32];
    cr_assert(fabs(update_seconds(plan) - single) <= 1e-6 * single);
    plan.precision = BF16;
    double half = single + 2 * each + (8 * P + 6 * P) / rates.stream[F32];
    cr_assert(fabs(update_seconds(plan) - half) <= 1e-6 * half);
}

Test(plan, cost_outside_of_the_table_is_that_of_the_nearest_point) {
    Plan small = {.micro_batch = 1, .window = 1}, large = {.micro_batch = 50, .window = 1};
    PlanRates cut = rates, one = rates;
    cut.count = 1;
    cut.rows[0] = 64;
    for (int i = 0; i < 3; i++) { /* the same at each point: a table of one */
        one.rate[F32][i + 1] = one.rate[F32][0];
    }
    cr_assert_eq(plan_cost(&config, T, &small, &cut), plan_cost(&config, T, &small, &one));
    cr_assert_eq(plan_cost(&config, T, &large, &cut), plan_cost(&config, T, &large, &one));
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

enum { BLOCKS = 5, OPTIONS = 3, ALL = 243 };

/* Blocks of random bytes; seconds are few different numbers, so that many plans cost the same. */
static void draw_options(Rng *rng, PlanOption *options, PlanBlock blocks[OPTIONS][BLOCKS]) {
    for (int i = 0; i < OPTIONS; i++) {
        options[i] = (PlanOption){.bytes = rng_below(rng, 50),
                                  .head = rng_below(rng, 90),
                                  .seconds = (double)rng_below(rng, 4),
                                  .blocks = BLOCKS,
                                  .block = blocks[i]};
        for (int k = 0; k < BLOCKS; k++) {
            size_t full = 20 + rng_below(rng, 60), probs = rng_below(rng, 15),
                   more = rng_below(rng, 40);
            blocks[i][k] =
                (PlanBlock){{full, full - probs, 5},
                            {full + more, full + more, full + more},
                            {0, (double)(1 + rng_below(rng, 3)), (double)(2 + rng_below(rng, 3))}};
        }
    }
}

/* Looks at every plan. */
static bool look_at_all(const PlanOption *options, size_t budget, double *cost, size_t *peak) {
    bool found = false;
    for (int plan = 0; plan < OPTIONS * ALL; plan++) {
        const PlanOption *option = &options[plan / ALL];
        size_t kept = option->bytes, most = 0;
        double seconds = option->seconds;
        for (int k = 0, rest = plan % ALL; k < BLOCKS; k++, rest /= 3) {
            const PlanBlock *block = &option->block[k];
            size_t here = kept + block->working[rest % 3];
            most = here > most ? here : most;
            kept += block->kept[rest % 3];
            seconds += block->seconds[rest % 3];
        }
        most = kept + option->head > most ? kept + option->head : most;
        if (most <= budget && (!found || seconds < *cost || (seconds == *cost && most < *peak))) {
            found = true;
            *cost = seconds;
            *peak = most;
        }
    }
    return found;
}

Test(plan, chooses_the_best_in_every_budget, .timeout = 60) {
    static PlanBlock blocks[OPTIONS][BLOCKS];
    PlanOption options[OPTIONS];
    void *scratch = malloc(PLAN_SCRATCH);
    Rng rng = rng_new(11, RNG_DATA);
    for (int draw = 0; draw < 40; draw++) {
        draw_options(&rng, options, blocks);
        for (size_t budget = 60; budget < 500; budget += 7) {
            PlanChoice choice = {.option = -7};
            double cost = 0;
            size_t peak = 0;
            bool found = look_at_all(options, budget, &cost, &peak);
            int result = plan_choose(options, OPTIONS, budget, scratch, PLAN_SCRATCH, &choice);
            cr_assert_eq(result, found ? 0 : -1);
            cr_assert(found || choice.option == -7);
            if (found) {
                const PlanOption *option = &options[choice.option];
                double seconds = option->seconds;
                for (int k = 0; k < BLOCKS; k++) {
                    seconds += option->block[k].seconds[choice.way[k]];
                }
                cr_assert_eq(seconds, cost, "in %zu", budget);
                cr_assert_eq(plan_peak(option, choice.way), peak, "in %zu", budget);
            }
        }
    }
    free(scratch);
}

/* Of 24 blocks there are more plans that none beats than the scratch memory holds. */
Test(plan, thins_what_outgrows_the_scratch_memory, .timeout = 60) {
    static PlanBlock block[PLAN_BLOCKS];
    PlanOption option = {.blocks = PLAN_BLOCKS, .block = block};
    size_t all = 0;
    Rng rng = rng_new(12, RNG_DATA);
    for (int k = 0; k < PLAN_BLOCKS; k++) {
        size_t full = 1000000 + rng_below(&rng, 1000000);
        double again = (double)full / (1 << 20) + (double)rng_below(&rng, 1000) / (1 << 20);
        block[k] = (PlanBlock){
            {full, full / 2, full / 10}, {full, full, full}, {3, 3 + again / 2, 3 + again}};
        all += full;
    }
    void *scratch = malloc(PLAN_SCRATCH);
    for (size_t budget = all / 4; budget < all; budget += all / 9) {
        PlanChoice exact, choice;
        double cost[2] = {0, 0};
        cr_assert_eq(plan_choose(&option, 1, budget, scratch, PLAN_SCRATCH, &exact), 0);
        cr_assert_eq(plan_choose(&option, 1, budget, scratch, 1 << 18, &choice), 0);
        cr_assert_leq(plan_peak(&option, choice.way), budget);
        for (int k = 0; k < PLAN_BLOCKS; k++) {
            cost[0] += block[k].seconds[exact.way[k]];
            cost[1] += block[k].seconds[choice.way[k]];
        }
        cr_assert(cost[1] <= 1.02 * cost[0], "%g for %g", cost[1], cost[0]);
    }
    free(scratch);
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
    for (int p = 0; p < 3; p++) {
        cr_assert(measured.attention[p] > 0 && measured.stream[p] > 0);
        cr_assert(fabs(measured.attention[p] - loaded.attention[p]) <=
                  1e-5 * measured.attention[p]);
        cr_assert(fabs(measured.stream[p] - loaded.stream[p]) <= 1e-5 * measured.stream[p]);
    }
    cr_assert_arr_eq(measured.rows, loaded.rows, sizeof loaded.rows);
    scratch_remove();
}

#define MORE "\"attention\": [1, 1, 1], \"stream\": [1, 1, 1], "

Test(plan, bad_rates_are_refused, .timeout = 60) {
    static const char *const bad[] = {
        "", "[]", "{}", "{\"rows\": [8], \"f32\": [1], \"f16\": [1], \"bf16\": [1]}",
        "{\"rows\": [], \"f32\": [], \"f16\": [], \"bf16\": [], " MORE "\"overhead\": 0}",
        "{\"rows\": [8, 8], \"f32\": [1, 1], \"f16\": [1, 1], \"bf16\": [1, 1], " MORE
        "\"overhead\": 0}",
        "{\"rows\": [8.5], \"f32\": [1], \"f16\": [1], \"bf16\": [1], " MORE "\"overhead\": 0}",
        "{\"rows\": [-8], \"f32\": [1], \"f16\": [1], \"bf16\": [1], " MORE "\"overhead\": 0}",
        "{\"rows\": [8], \"f32\": [0], \"f16\": [1], \"bf16\": [1], " MORE "\"overhead\": 0}",
        "{\"rows\": [8], \"f32\": [1, 2], \"f16\": [1], \"bf16\": [1], " MORE "\"overhead\": 0}",
        "{\"rows\": [8], \"f32\": [1], \"f16\": [\"1\"], \"bf16\": [1], " MORE "\"overhead\": 0}",
        "{\"rows\": [8], \"f32\": [1], \"f16\": [1], \"bf16\": [1], " MORE "\"overhead\": -1}",
        "{\"rows\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]}",
        /* as a former release wrote it, and without a number for bf16 */
        "{\"rows\": [8], \"f32\": [1], \"f16\": [1], \"bf16\": [1], \"overhead\": 0}",
        ("{\"rows\": [8], \"f32\": [1], \"f16\": [1], \"bf16\": [1], \"attention\": [1, 1], "
         "\"stream\": [1, 1, 1], \"overhead\": 0}")};
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
    cr_assert_eq(train(FIT "--fit 200K"), 2, "%s", output);
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
