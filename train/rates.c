/* Measures how fast the machine multiplies matrices, and keeps the table as JSON. The contract is
   in rates.h. */
#include "train/rates.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/files.h"
#include "common/watch.h"
#include "train/measure.h"
#include "train/meter.h"

enum { FIRST_ROWS = 8 };

static const Precision precisions[] = {F32, F16, BF16};

/* ---- measuring ------------------------------------------------------------------------------- */

/* The matrices to measure with. */
typedef struct RatesBench {
    Device *device;
    Real *in, *weight, *out;
    Workspace workspace;
    double noise; /* the sum of that of all products */
    int products;
} RatesBench;

/* Seconds of the fastest of several products; of large ones there are fewer. */
static double product_seconds(RatesBench *bench, Precision precision, int rows, int C, int OC) {
    enum { REPEAT = 20 };
    double seconds[REPEAT], enough = now() + 0.1;
    int count = 0;
    while (count < 3 || (count < REPEAT && now() < enough)) {
        double began = now();
        bench->device->ops[precision].matmul_forward(bench->out, bench->in, bench->weight, NULL,
                                                     rows, C, OC, OC, &bench->workspace);
        device_synchronize(bench->device);
        seconds[count++] = now() - began;
    }
    bench->noise += noise(seconds, count);
    bench->products++;
    return least(seconds, count);
}

/* From the device and not from a memory's budget: this is not part of training. */
static void *zeros(Device *device, size_t bytes) {
    void *data = device_alloc(device, bytes);
    CHECK(data != NULL, "no memory to measure products with: %zu bytes", bytes);
    device_fill(device, data, 0, bytes);
    return data;
}

/* ---- attention, and the ops that memory limits ----------------------------------------------- */

/* Seconds and costs of one step, attention apart from what memory limits. */
typedef struct StepTimes {
    Device *device;
    double began, attention_seconds, stream_seconds;
    Cost attention, stream;
} StepTimes;

static void before_op(void *context) {
    ((StepTimes *)context)->began = now();
}

static void after_op(void *context, const char *op, Cost cost) {
    StepTimes *times = context;
    device_synchronize(times->device);
    double seconds = now() - times->began;
    if (strncmp(op, "attention_", strlen("attention_")) == 0) {
        times->attention_seconds += seconds;
        cost_add(&times->attention, 1, cost);
    } else if (cost.flops == 0) {
        times->stream_seconds += seconds;
        cost_add(&times->stream, 1, cost);
    }
}

/* Steps of a model of one block; the fastest step counts, for attention and for the rest. */
static void measure_steps(Device *device, ModelConfig config, Precision precision,
                          PlanRates *rates) {
    enum { REPEAT = 5, ROWS = 512 };
    config.L = 1;
    config.dropout = 0;
    config.precision = precision;
    config.attention = ATTENTION_PLAIN;
    int B = config.T < ROWS ? ROWS / config.T : 1;
    int32_t *ids = calloc((size_t)B * (size_t)config.T, sizeof *ids);
    CHECK(ids != NULL, "no memory for %d sequences", B);
    Batch batch = {.B = B, .T = config.T, .tokens = ids, .targets = ids, .valid = B * config.T};
    Memory *memory = memory_new(device, (MemoryOptions){0});
    Model *model = model_new(&config, memory, 1);
    const Ops *own = model->ops;
    for (int i = 0; i < REPEAT; i++) {
        StepTimes times = {.device = device};
        model->ops = ops_watch((Watch){own, precision, before_op, after_op, &times});
        model_forward(model, &batch);
        model_backward(model, 1);
        rates->attention[precision] =
            fmax(rates->attention[precision], times.attention.flops / times.attention_seconds);
        rates->stream[precision] =
            fmax(rates->stream[precision], times.stream.bytes / times.stream_seconds);
    }
    model->ops = own;
    model_free(model);
    memory_free(memory);
    free(ids);
}

double rates_measure(Device *device, const ModelConfig *config, int most, PlanRates *rates) {
    int C = config->C, OC = 4 * C;
    *rates = (PlanRates){0};
    do {
        rates->rows[rates->count] = FIRST_ROWS << rates->count;
        rates->count++;
    } while (rates->count < PLAN_POINTS && rates->rows[rates->count - 1] < most);

    size_t rows = (size_t)rates->rows[rates->count - 1], scratch = 0;
    for (int p = 0; p < 3; p++) {
        ModelConfig half = *config;
        half.precision = precisions[p];
        size_t bytes = workspace_bytes(&half, device);
        scratch = bytes > scratch ? bytes : scratch;
    }
    size_t in_bytes = rows * (size_t)C * 4, weight_bytes = (size_t)OC * (size_t)C * 4;
    size_t out_bytes = rows * (size_t)OC * 4;
    RatesBench bench = {.device = device};
    bench.in = zeros(device, in_bytes);
    bench.weight = zeros(device, weight_bytes);
    bench.out = zeros(device, out_bytes);
    bench.workspace = (Workspace){zeros(device, scratch), scratch, device->threads, device->blas};

    Meter meter = meter_begin("rates", 3 * rates->count);
    rates->overhead = product_seconds(&bench, F32, 1, 8, 8);
    for (int p = 0; p < 3; p++) {
        for (int i = 0; i < rates->count; i++) {
            double flops = 2.0 * rates->rows[i] * C * OC;
            double seconds = product_seconds(&bench, precisions[p], rates->rows[i], C, OC);
            /* The overhead counts by itself; a clock that jumps must not make the rest vanish. */
            seconds = fmax(seconds - rates->overhead, 0.1 * seconds);
            rates->rate[precisions[p]][i] = flops / seconds;
            meter_tell(&meter, p * rates->count + i + 1);
        }
    }
    device_release(device, bench.workspace.data, scratch);
    device_release(device, bench.out, out_bytes);
    device_release(device, bench.weight, weight_bytes);
    device_release(device, bench.in, in_bytes);
    for (int p = 0; p < 3; p++) {
        measure_steps(device, *config, precisions[p], rates);
    }
    meter_clear(&meter);
    return bench.noise / bench.products;
}

void rates_warn(double noise) {
    if (noise > NOISE_BUSY) {
        fflush(stdout); /* lines come in the order in which they were written */
        fprintf(
            stderr,
            "warning: the machine is busy: a product takes %.1f times as long as when it is "
            "fastest, so the rates may\nbe wrong, and a plan that is chosen by them too. Run it "
            "again when nothing else runs\n",
            noise);
    }
}

static void print_rates(const PlanRates *rates) {
    printf("\nSpeed of matrix products on this machine, by rows; each op costs %.2f us more\n\n"
           "      rows  f32 GFLOP/s  f16 GFLOP/s  bf16 GFLOP/s\n",
           1e6 * rates->overhead);
    for (int i = 0; i < rates->count; i++) {
        printf("  %8d %12.1f %12.1f %13.1f\n", rates->rows[i], 1e-9 * rates->rate[F32][i],
               1e-9 * rates->rate[F16][i], 1e-9 * rates->rate[BF16][i]);
    }
    printf(" attention %11.1f %12.1f %13.1f  GFLOP/s\n    stream %11.1f %12.1f %13.1f  GB/s\n",
           1e-9 * rates->attention[F32], 1e-9 * rates->attention[F16],
           1e-9 * rates->attention[BF16], 1e-9 * rates->stream[F32], 1e-9 * rates->stream[F16],
           1e-9 * rates->stream[BF16]);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* By precision, in the order of the kit. */
static json_t *three_numbers(const double numbers[3]) {
    return json_pack("[f, f, f]", numbers[F32], numbers[F16], numbers[BF16]);
}

int rates_save(const PlanRates *rates, const char *path) {
    json_t *root = json_object(), *rows = json_array();
    for (int i = 0; i < rates->count; i++) {
        json_array_append_new(rows, json_integer(rates->rows[i]));
    }
    json_object_set_new(root, "rows", rows);
    for (int p = 0; p < 3; p++) {
        json_t *rate = json_array();
        for (int i = 0; i < rates->count; i++) {
            json_array_append_new(rate, json_real(rates->rate[precisions[p]][i]));
        }
        json_object_set_new(root, precision_name(precisions[p]), rate);
    }
    json_object_set_new(root, "attention", three_numbers(rates->attention));
    json_object_set_new(root, "stream", three_numbers(rates->stream));
    json_object_set_new(root, "overhead", json_real(rates->overhead));
    FILE *file = file_begin(path);
    int result = -1;
    if (file != NULL) {
        bool good = json_dumpf(root, file, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) == 0;
        result = file_end(file, path, good);
    }
    json_decref(root);
    return result;
}

/* A number above (or, with `zero`, from) 0, out of an array or by itself. */
static bool read_number(const json_t *json, bool zero, double *to) {
    *to = json_number_value(json);
    return json_is_number(json) && isfinite(*to) && (*to > 0 || (zero && *to == 0));
}

static bool read_rows(const json_t *list, PlanRates *rates) {
    size_t count = json_array_size(list);
    for (size_t i = 0; i < count && i < PLAN_POINTS; i++) {
        double rows;
        bool good = read_number(json_array_get(list, i), false, &rows) && rows <= 1 << 30 &&
                    rows == floor(rows);
        rates->rows[i] = good ? (int)rows : 0;
        if (!good || (i > 0 && rates->rows[i] <= rates->rows[i - 1])) {
            return false;
        }
    }
    rates->count = (int)count;
    return count >= 1 && count <= PLAN_POINTS;
}

static bool read_rates(const json_t *list, int count, double *rate) {
    bool good = json_array_size(list) == (size_t)count;
    for (int i = 0; i < count && good; i++) {
        good = read_number(json_array_get(list, (size_t)i), false, &rate[i]);
    }
    return good;
}

static bool read_three(const json_t *list, double *by_precision) {
    double rate[3] = {0};
    bool good = read_rates(list, 3, rate);
    for (int p = 0; p < 3; p++) {
        by_precision[precisions[p]] = rate[p];
    }
    return good;
}

/* The first mistake, or NULL. */
static const char *read_table(const json_t *root, PlanRates *rates) {
    if (!read_rows(json_object_get(root, "rows"), rates)) {
        return "\"rows\" is not a list of 1 to 16 rising whole numbers";
    }
    for (int p = 0; p < 3; p++) {
        const json_t *list = json_object_get(root, precision_name(precisions[p]));
        if (!read_rates(list, rates->count, rates->rate[precisions[p]])) {
            return "\"f32\", \"f16\" and \"bf16\" are lists of rates above 0, one for each of "
                   "\"rows\"";
        }
    }
    if (!read_three(json_object_get(root, "attention"), rates->attention) ||
        !read_three(json_object_get(root, "stream"), rates->stream)) {
        return "\"attention\" and \"stream\" are lists of three rates above 0, for f32, f16 and "
               "bf16; a file of a former release lacks them: train --profile writes a new one";
    }
    return read_number(json_object_get(root, "overhead"), true, &rates->overhead)
               ? NULL
               : "\"overhead\" is not a number of seconds";
}

int rates_load(PlanRates *rates, const char *path) {
    json_t *root = file_load_json(path);
    if (root == NULL) {
        return -1;
    }
    PlanRates table = {0};
    const char *wrong = read_table(root, &table);
    json_decref(root);
    if (wrong != NULL) {
        fprintf(stderr, "%s: %s\n", path, wrong);
        return -1;
    }
    *rates = table;
    return 0;
}

int rates_report(Device *device, const ModelConfig *config, int most, const char *folder) {
    PlanRates rates;
    rates_warn(rates_measure(device, config, most, &rates));
    print_rates(&rates);
    if (folder == NULL) {
        return 0;
    }
    char *path = path_join(folder, "rates.json");
    int result = rates_save(&rates, path);
    free(path);
    return result;
}
