/* make planted03: three trainings side by side, over ragged documents, from the same weights. One
   is by train_epoch() of lab 03; the others have a mistake in the divisor. Their losses look alike.
   The last columns say what the loss does not: how far the gradient of a window is from that of one
   large batch, at the same weights. Until train_epoch() is written, the two others are shown. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/crash.h"
#include "common/files.h"
#include "common/lab.h"
#include "labs/03_accumulate/contract.h"
#include "train/attempt.h"
#include "train/meter.h"

enum { WINDOWS = 200, LINE = 20, STEPS = 8, T = 96, SEED = 1, SIDES = 3 };

static const ModelConfig config = {.V = 256, .T = T, .L = 2, .NH = 4, .C = 48};
static const AdamW adamw = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.1f};

/* A loop as train_epoch(). */
typedef void EpochFn(Trainer *trainer, Data *data, int micros,
                     bool (*report)(void *context, const StepReport *step), void *context);

typedef struct Side {
    Memory *memory;
    Trainer trainer;
    Data *data;
    Data *again;         /* the same data, to see a window twice */
    int windows, most;   /* done; to do */
    Meter *meter;        /* of the windows of all sides, or NULL */
    int before;          /* windows of the sides before */
    double loss, tokens; /* since the last line */
    double lines[WINDOWS / LINE], errors[WINDOWS / LINE];
    MemoryUse one, all; /* peaks: a document at a time, the whole window at once */
} Side;

/* ---- mistakes -------------------------------------------------------------------------------- */

static void wrong_epoch(Trainer *trainer, Data *data, int micros, bool means,
                        bool (*report)(void *context, const StepReport *step), void *context) {
    StepReport step = {0};
    do {
        size_t left = data_batches_left(data);
        int window = left < (size_t)micros ? (int)left : micros;
        step = (StepReport){.tokens = data_window_tokens(data, window)};
        Batch batch;
        for (int i = 0; i < window && data_next(data, &batch); i++) {
            float share = means ? 1.0f / (float)batch.valid / (float)window : 1;
            step.loss += trainer_forward(trainer, &batch) / (double)step.tokens;
            trainer_backward(trainer, share);
        }
        step.grad_norm = optimizer_clip(trainer->model, trainer->max_grad_norm);
        step.learning_rate = schedule_rate(&trainer->schedule);
        optimizer_step(trainer->optimizer, step.learning_rate);
        model_zero_grad(trainer->model);
        schedule_tick(&trainer->schedule);
    } while (report(context, &step) && data_batches_left(data) > 0);
}

/* Each micro-batch divided by its own targets, and the means averaged. */
static void mean_of_means(Trainer *trainer, Data *data, int micros,
                          bool (*report)(void *context, const StepReport *step), void *context) {
    wrong_epoch(trainer, data, micros, true, report, context);
}

static void not_divided(Trainer *trainer, Data *data, int micros,
                        bool (*report)(void *context, const StepReport *step), void *context) {
    wrong_epoch(trainer, data, micros, false, report, context);
}

/* ---- the gradient of one large batch --------------------------------------------------------- */

/* The window as one batch, whose rows are all of its rows. */
static Batch large_batch(Data *data, int32_t *tokens, int32_t *targets) {
    Batch large = {.T = T, .tokens = tokens, .targets = targets}, batch;
    for (int i = 0; i < STEPS && data_next(data, &batch); i++) {
        size_t count = (size_t)(batch.B * T), at = (size_t)(large.B * T);
        memcpy(tokens + at, batch.tokens, count * sizeof *tokens);
        memcpy(targets + at, batch.targets, count * sizeof *targets);
        large.B += batch.B;
        large.valid += batch.valid;
    }
    return large;
}

static float *read_floats(const Model *model, bool gradients) {
    float *values = malloc(model_param_elements(model) * sizeof *values), *to = values;
    CHECK(values != NULL, "no memory for the gradients");
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        const void *from = gradients ? (const void *)param->grad : (const void *)param->weight;
        device_download(model->device, to, from, param->count * sizeof *to);
        to += param->count;
    }
    return values;
}

static double distance(const float *got, const float *want, size_t n) {
    double off = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        double error = (double)got[i] - (double)want[i];
        off += error * error;
        all += (double)want[i] * (double)want[i];
    }
    return sqrt(off / all);
}

/* Called when the optimizer steps: the same window at the same weights, all at once. */
static void compare_gradients(void *context, const Model *model) {
    Side *side = context;
    static int32_t tokens[STEPS * T], targets[STEPS * T];
    if (side->windows % LINE == LINE - 1) {
        Batch large = large_batch(side->again, tokens, targets);
        Memory *memory = memory_new(model->device, (MemoryOptions){0});
        Model *whole = model_new(&config, memory, SEED);
        float *weights = read_floats(model, false), *got = read_floats(model, true);
        for (int i = 0, at = 0; i < whole->param_count; at += (int)whole->params[i++].count) {
            model_upload_weight(whole, &whole->params[i], weights + at);
        }
        model_forward(whole, &large);
        model_backward(whole, 1.0f / (float)large.valid);
        float *want = read_floats(whole, true);
        side->errors[side->windows / LINE] = distance(got, want, model_param_elements(model));
        free(weights);
        free(got);
        free(want);
        side->all = memory_peak(memory);
        model_free(whole);
        memory_free(memory);
    } else {
        large_batch(side->again, tokens, targets); /* only to go on */
    }
}

/* ---- running --------------------------------------------------------------------------------- */

static bool after_window(void *context, const StepReport *step) {
    Side *side = context;
    side->loss += step->loss * (double)step->tokens;
    side->tokens += (double)step->tokens;
    side->windows++;
    if (side->windows % LINE == 0) {
        side->lines[side->windows / LINE - 1] = side->loss / side->tokens;
        side->loss = side->tokens = 0;
    }
    if (side->meter != NULL) {
        meter_tell(side->meter, side->before + side->windows);
    }
    return side->windows < side->most;
}

static Data *open_data(void) {
    return data_new((DataOptions){
        .path = "common/data/kit.txt", .B = 1, .T = T, .documents = true, .seed = SEED});
}

static void run(Side *side, Device *device, EpochFn *train) {
    side->data = open_data();
    side->again = open_data();
    if (side->data == NULL || side->again == NULL) {
        exit(EXIT_USAGE);
    }
    side->memory = memory_new(device, (MemoryOptions){0});
    side->trainer.model = model_new(&config, side->memory, SEED);
    side->trainer.optimizer = optimizer_new(side->trainer.model, adamw);
    side->trainer.optimizer->before_step = compare_gradients;
    side->trainer.optimizer->context = side;
    side->trainer.schedule = (Schedule){
        .decay = DECAY_CONSTANT, .learning_rate = 2e-3f, .warmup_steps = 10, .max_steps = WINDOWS};
    train(&side->trainer, side->data, STEPS, after_window, side);
    side->one = memory_peak(side->memory);
    optimizer_free(side->trainer.optimizer);
    model_free(side->trainer.model);
    memory_free(side->memory);
    data_free(side->data);
    data_free(side->again);
}

static Device *device_or_end(void) {
    Device *device = device_cpu_new(0);
    if (device == NULL) {
        exit(EXIT_RUN);
    }
    return device;
}

/* Whether train_epoch() is there: a window by it, in a child. */
static void one_window(void *context, void *result) {
    Side side = {.most = 1};
    Device *device = device_or_end();
    (void)context;
    run(&side, device, train_epoch);
    *(int *)result = side.windows;
    device_free(device);
}

static Attempt try_loop(void) {
    int windows;
    Attempt made = attempt(one_window, NULL, &windows, sizeof windows);
    if (made.todo) {
        printf(
            "train_epoch() is not there yet: %s\nThe two with a mistake are shown without it.\n\n",
            made.said);
    } else if (!made.done) {
        exit(made.status);
    }
    return made;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void print_memory(const Side *side) {
    printf("\nactivations: %.2f MiB for %d documents one at a time, %.2f MiB for all at once;\n"
           "gradients: %.2f MiB either way\n",
           memory_mib(side->one.bytes[MEMORY_ACTIVATIONS]), STEPS,
           memory_mib(side->all.bytes[MEMORY_ACTIVATIONS]),
           memory_mib(side->one.bytes[MEMORY_GRADIENTS]));
}

/* A number of a side, or a dash where it has not run. */
static void print_number(const Side *side, int width, const char *format, double number) {
    char text[32] = "-";
    if (side->windows > 0) {
        snprintf(text, sizeof text, format, number);
    }
    printf(" %*s", width, text);
}

static void print_table(const Side *sides) {
    static const int loss_width[SIDES] = {13, 6, 9}, error_width[SIDES] = {14, 8, 9};
    static const char *const error_format[SIDES] = {"%.1e", "%.2f", "%.0f"};
    printf("                         loss                       error of the gradient\n"
           "window   train_epoch  means  not div.    train_epoch    means  not div.\n");
    for (int line = 0; line < WINDOWS / LINE; line++) {
        printf("%6d", (line + 1) * LINE);
        for (int i = 0; i < SIDES; i++) {
            print_number(&sides[i], loss_width[i], "%.3f", sides[i].lines[line]);
        }
        for (int i = 0; i < SIDES; i++) {
            print_number(&sides[i], error_width[i], error_format[i], sides[i].errors[line]);
        }
        putchar('\n');
    }
}

int main(void) {
    static EpochFn *const loops[SIDES] = {train_epoch, mean_of_means, not_divided};
    static Side sides[SIDES];
    crash_tell();
    printf(
        "Three trainings, %d windows of %d documents each, one at a time; a document has up to %d "
        "tokens.\nOn two free cores that takes about 20 seconds.\n\n",
        WINDOWS, STEPS, T);
    int first = try_loop().done ? 0 : 1;
    Device *device = device_or_end();
    Meter meter = meter_begin("windows", (SIDES - first) * WINDOWS);
    for (int i = first; i < SIDES; i++) {
        sides[i].most = WINDOWS;
        sides[i].meter = &meter;
        sides[i].before = (i - first) * WINDOWS;
        run(&sides[i], device, loops[i]);
    }
    meter_clear(&meter);
    print_table(sides);
    print_memory(&sides[SIDES - 1]);
    device_free(device);
    return stdout_flush() == 0 ? 0 : EXIT_RUN;
}
