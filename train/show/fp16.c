/* Three pictures of lab 05, with the numbers that they are drawn from:

       fp16 histogram FOLDER    how small gradients are, and what fp16 makes of them
       fp16 frozen FOLDER       training without float masters
       fp16 crossover FOLDER    where half costs memory instead of saving it
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/lab.h"
#include "labs/00_bytes/contract.h"
#include "labs/04_checkpoint/contract.h"
#include "labs/05_fp16/contract.h"
#include "train/meter.h"
#include "train/plot.h"
#include "train/techniques.h"

static const AdamW adamw = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.1f};

/* A model with all that a step needs. */
typedef struct Setup {
    Device *device;
    Memory *memory;
    Mixed mixed;
    Trainer trainer;
} Setup;

static void setup_open(Setup *setup, const ModelConfig *config, float learning_rate) {
    setup->device = device_cpu_new(0);
    if (setup->device == NULL) {
        exit(EXIT_RUN);
    }
    setup->memory = memory_new(setup->device, (MemoryOptions){0});
    setup->trainer = (Trainer){
        .model = model_new(config, setup->memory, 1),
        .max_grad_norm = 1,
        .schedule = {.decay = DECAY_CONSTANT, .learning_rate = learning_rate, .max_steps = 1}};
    setup->trainer.optimizer = optimizer_new(setup->trainer.model, adamw);
    if (config->precision != F32) {
        mixed_init(&setup->mixed, config->precision);
        setup->trainer.mixed = &setup->mixed;
    }
    techniques_set(&setup->trainer);
}

static void setup_close(Setup *setup) {
    optimizer_free(setup->trainer.optimizer);
    model_free(setup->trainer.model);
    memory_free(setup->memory);
    device_free(setup->device);
}

static Data *text(int B, int T) {
    Data *data = data_new((DataOptions){.path = "common/data/kit.txt", .B = B, .T = T, .seed = 1});
    if (data == NULL) {
        exit(EXIT_USAGE);
    }
    return data;
}

static Batch next(Data *data) {
    Batch batch;
    while (!data_next(data, &batch)) {
        data_next_epoch(data);
    }
    return batch;
}

/* ---- histogram ------------------------------------------------------------------------------- */

enum { LOWEST = -60, HIGHEST = 20, BINS = HIGHEST - LOWEST };

/* Gradients of activations by exponent, seen through ops that look at what they leave. */
static struct Histogram {
    Ops real_ops;
    double count[BINS];
    double all, zero; /* zero: exactly, as the gradients of padding are */
} histogram;

static void look(const Real *gradient, size_t n) {
    const float *values = (const float *)gradient; /* the model is in f32, on the CPU */
    for (size_t i = 0; i < n; i++) {
        int exponent = values[i] == 0 ? LOWEST : ilogbf(values[i]);
        exponent = exponent < LOWEST ? LOWEST : exponent >= HIGHEST ? HIGHEST - 1 : exponent;
        histogram.zero += values[i] == 0;
        histogram.count[exponent - LOWEST] += values[i] != 0;
        histogram.all++;
    }
}

static void look_at_logits(Real *dlogits, const Real *logits, const float *lse,
                           const int32_t *targets, float dloss, int N, int V, int stride) {
    histogram.real_ops.crossentropy_backward(dlogits, logits, lse, targets, dloss, N, V, stride);
    for (int row = 0; row < N; row++) {
        look((const Real *)((const float *)dlogits + (size_t)row * (size_t)stride), (size_t)V);
    }
}

static void look_at_stream(Real *din, float *dweight, float *dbias, const Real *dout,
                           const Real *in, const float *mean, const float *rstd, const Real *weight,
                           int N, int C, const Workspace *workspace) {
    histogram.real_ops.layernorm_backward(din, dweight, dbias, dout, in, mean, rstd, weight, N, C,
                                          workspace);
    look(dout, (size_t)N * (size_t)C);
    look(din, (size_t)N * (size_t)C);
}

static void watch_ops(Model *model, Ops *ops) {
    histogram.real_ops = *ops = *model->ops;
    ops->crossentropy_backward = look_at_logits;
    ops->layernorm_backward = look_at_stream;
    model->ops = ops;
}

/* The share of gradients that are not 0 whose exponent, scaled, lies in [low, high). */
static double share_between(int scale, int low, int high) {
    double sum = 0;
    for (int i = 0; i < BINS; i++) {
        int exponent = i + LOWEST + scale;
        sum += exponent >= low && exponent < high ? histogram.count[i] : 0;
    }
    return 100 * sum / (histogram.all - histogram.zero);
}

/* fp16 by exponent: below FLUSHED a number becomes 0, below NORMAL it loses bits, and from
   TOO_LARGE on, beyond 65504, it becomes inf. */
enum { FAR = 1000, FLUSHED = -25, NORMAL = -14, TOO_LARGE = 16, SCALE = 16 };

static void print_shares(void) {
    printf("%.0f activation gradients; in fp16, of those that are not 0:\n\n"
           "  loss scale   become 0   lose bits (subnormal)   become infinite\n",
           histogram.all);
    for (int scale = 0; scale <= 24; scale += 4) {
        printf("  2^%-2d        %6.2f %%   %6.2f %%                %6.2f %%\n", scale,
               share_between(scale, -FAR, FLUSHED), share_between(scale, FLUSHED, NORMAL),
               share_between(scale, TOO_LARGE, FAR));
    }
    printf("\nThe zeros are not the worst of it: without a scale %.0f %% lose bits.\n",
           share_between(0, FLUSHED, NORMAL));
}

/* The zones of fp16, each as a background with its name above the highest bar. */
static void draw_zones(FILE *script) {
    static const struct {
        const char *name, *colour;
        int from, to; /* exponents */
    } zones[] = {{"becomes 0", "#f4d7d7", -46, FLUSHED},
                 {"loses bits", "#fbf0d9", FLUSHED, NORMAL},
                 {"normal", "#ffffff", NORMAL, TOO_LARGE},
                 {"becomes inf", "#f4d7d7", TOO_LARGE, 26}};
    for (int i = 0; i < 4; i++) {
        double from = zones[i].from - 0.5, to = zones[i].to - 0.5; /* a bar is 1 wide */
        fprintf(script,
                "set object %d rect from first %g,graph 0 to first %g,graph 1 fc rgb '%s' fs solid "
                "noborder "
                "behind\n"
                "set label %d '%s' at first %g,graph 0.95 center\n",
                i + 1, from, to, zones[i].colour, i + 1, zones[i].name, (from + to) / 2);
    }
}

static int draw_histogram(const char *path) {
    Plot plot;
    if (plot_begin(
            &plot, path,
            "Exponents of gradients before and after a loss scale, and what fp16 makes of them",
            900, 420) != 0) {
        return -1;
    }
    for (int i = 0; i < BINS; i++) {
        fprintf(plot.data, "%d %.9f\n", i + LOWEST,
                100 * histogram.count[i] / (histogram.all - histogram.zero));
    }
    fprintf(plot.script,
            "set title \"Activation gradients in fp16, before and after a loss scale of 2^{%d}\\n"
            "before: %.1f %% lose bits and %.1f %% become 0; after: %.2f %% and %.2f %%\"\n"
            "set xlabel 'exponent: floor(log2|gradient|)'\nset ylabel '%% of all'\n"
            "set style fill transparent solid 0.55 noborder\nset boxwidth 1\n"
            "set xrange [-46:26]\nset tics nomirror out\nset border 3\n"
            "set key outside bottom center horizontal\nset bmargin 6\n"
            "stats data using 2 nooutput\nset yrange [0:1.2*STATS_max]\n",
            SCALE, share_between(0, FLUSHED, NORMAL), share_between(0, -FAR, FLUSHED),
            share_between(SCALE, FLUSHED, NORMAL), share_between(SCALE, -FAR, FLUSHED));
    draw_zones(plot.script);
    fprintf(plot.script,
            "plot data using 1:2 with boxes lc rgb '#4c72b0' title 'as they are', "
            "data using ($1+%d):2 with boxes lc rgb '#dd8452' title 'scaled'\n",
            SCALE);
    return plot_end(&plot);
}

static int show_histogram(const char *path) {
    static const ModelConfig config = {.V = 256, .T = 64, .L = 4, .NH = 4, .C = 64};
    enum { STEPS = 60 };
    Setup setup;
    Ops ops;
    Data *data = text(16, config.T);
    setup_open(&setup, &config, 1e-3f);
    Model *model = setup.trainer.model;
    for (int step = 0; step <= STEPS; step++) {
        Batch batch = next(data);
        if (step == STEPS) {
            watch_ops(model, &ops);
        }
        model_forward(model, &batch);
        model_backward(model, 1.0f / (float)batch.valid);
        optimizer_step(setup.trainer.optimizer, 1e-3f);
        model_zero_grad(model);
    }
    print_shares();
    setup_close(&setup);
    data_free(data);
    return draw_histogram(path);
}

/* ---- frozen ---------------------------------------------------------------------------------- */

enum { FROZEN_STEPS = 200, EVERY = 10, POINTS = FROZEN_STEPS / EVERY + 1, RATES = 3 };

/* How a model in half has learned. */
typedef struct Learned {
    double loss[POINTS]; /* of one batch that stays the same, per target */
    double moved;        /* share of the weights that are not what they were, in percent */
} Learned;

/* All weights, as floats; to be freed. */
static float *weights_of(const Model *model) {
    float *all = malloc(model_param_elements(model) * sizeof *all), *to = all;
    CHECK(all != NULL, "no host memory for the weights");
    for (int i = 0; i < model->param_count; i++) {
        model_download_weight(model, &model->params[i], to);
        to += model->params[i].count;
    }
    return all;
}

static double moved(const Model *model, const float *before) {
    float *after = weights_of(model);
    size_t count = 0, all = model_param_elements(model);
    for (size_t i = 0; i < all; i++) {
        count += before[i] != after[i];
    }
    free(after);
    return 100 * (double)count / (double)all;
}

/* Trains with masters or, by rounding them after each step, as if there were none. */
static Learned train_half(bool masters, float rate) {
    static const ModelConfig config = {
        .V = 256, .T = 32, .L = 2, .NH = 2, .C = 32, .precision = F16};
    Learned learned;
    Setup setup;
    Data *data = text(8, config.T), *same = text(8, config.T);
    Batch looked_at = next(same);
    setup_open(&setup, &config, rate);
    Model *model = setup.trainer.model;
    float *before = weights_of(model);
    for (int step = 0; step <= FROZEN_STEPS; step++) {
        Batch batch = next(data);
        StepReport report = {0};
        if (step % EVERY == 0) {
            learned.loss[step / EVERY] = model_evaluate(model, &looked_at) / looked_at.valid;
        }
        trainer_forward(&setup.trainer, &batch);
        trainer_backward(&setup.trainer, 1.0f / (float)batch.valid);
        mixed_update(&setup.trainer, &report);
        if (!masters) {
            optimizer_take_weights(setup.trainer.optimizer);
        }
    }
    learned.moved = moved(model, before);
    free(before);
    setup_close(&setup);
    data_free(data);
    data_free(same);
    return learned;
}

static int show_frozen(const char *path) {
    static const float rates[RATES] = {1e-5f, 1e-6f, 3e-7f};
    Learned with[RATES], without[RATES];
    Plot plot;
    printf("fp16, %d steps, with float masters and without:\n\n"
           "  learning rate   loss falls by       weights that have moved\n",
           FROZEN_STEPS);
    for (int i = 0; i < RATES; i++) {
        with[i] = train_half(true, rates[i]);
        without[i] = train_half(false, rates[i]);
        printf("  %-13g   %.4f and %.4f   %5.1f %% and %5.1f %%\n", (double)rates[i],
               with[i].loss[0] - with[i].loss[POINTS - 1],
               without[i].loss[0] - without[i].loss[POINTS - 1], with[i].moved, without[i].moved);
    }
    if (plot_begin(&plot, path,
                   "What is learned in fp16 at three rates, with float masters and without", 900,
                   420) != 0) {
        return -1;
    }
    for (int point = 0; point < POINTS; point++) {
        fprintf(plot.data, "%d", point * EVERY);
        for (int i = 0; i < RATES; i++) {
            /* As a share of what was learned with masters: all rates in one picture. */
            double all = with[i].loss[0] - with[i].loss[POINTS - 1];
            fprintf(plot.data, " %.6f %.6f", (with[i].loss[0] - with[i].loss[point]) / all,
                    (without[i].loss[0] - without[i].loss[point]) / all);
        }
        fprintf(plot.data, "\n");
    }
    fprintf(plot.script,
            "set title 'What is learned in fp16: with float masters, and without (dashed)'\n"
            "set xlabel 'step'\nset ylabel 'fall of the loss (1: with masters, at the end)'\n"
            "set tics nomirror out\nset border 3\nset key left top\n"
            "plot for [i=0:2] data using 1:(column(2+2*i)) with lines lw 2 lc i+1 "
            "title word('1e-5 1e-6 3e-7', i+1), "
            "for [i=0:2] data using 1:(column(3+2*i)) with lines lw 2 dt 2 lc i+1 "
            "title word('1e-5 1e-6 3e-7', i+1).', no masters'\n");
    return plot_end(&plot);
}

/* ---- crossover ------------------------------------------------------------------------------- */

static ModelConfig shape_of(int C, Precision precision) {
    return (ModelConfig){.V = 256,
                         .T = 64,
                         .L = 4,
                         .NH = 4,
                         .C = C,
                         .precision = precision,
                         .attention = ATTENTION_FLASH};
}

/* Bytes without workspace of a step that has been run, with that many blocks to a segment. */
static double counted(int C, Precision precision, int B, int segment) {
    ModelConfig config = shape_of(C, precision);
    Setup setup;
    Data *data = text(B, config.T);
    setup_open(&setup, &config, 0);
    setup.trainer.model->checkpoint.segment = segment;
    Batch batch = next(data);
    trainer_forward(&setup.trainer, &batch);
    trainer_backward(&setup.trainer, 1.0f / (float)batch.valid);
    MemoryUse peak = memory_peak(setup.memory);
    setup_close(&setup);
    data_free(data);
    return (double)(memory_total(&peak) - peak.bytes[MEMORY_WORKSPACE]);
}

/* The same by labs 00 and 04. Of half's states, `less` bytes for each parameter are left out. */
static double by_formula(int C, Precision precision, int B, int segment, size_t less) {
    ModelConfig config = shape_of(C, precision);
    MemoryUse states = bytes_states(&config);
    size_t tokens = (size_t)B * (size_t)config.T, ids = 2 * tokens * sizeof(int32_t);
    size_t activations = checkpoint_bytes(&config, B, config.T, (Checkpoint){.segment = segment});
    size_t left_out = precision == F32 ? 0 : less * bytes_params(&config);
    return (double)(memory_total(&states) + activations + ids - left_out);
}

/* The memory of half, in percent more than float: with 18-byte states and with 16-byte ones. */
typedef struct Crossing {
    double counted, formula, sixteen;
    bool exact; /* counted is predicted, to the byte */
} Crossing;

static Crossing crossing_at(int C, int B, int segment) {
    double f32 = counted(C, F32, B, segment), f16 = counted(C, F16, B, segment);
    double f32_formula = by_formula(C, F32, B, segment, 0);
    double f16_formula = by_formula(C, F16, B, segment, 0);
    return (Crossing){.counted = 100 * (f16 / f32 - 1),
                      .formula = 100 * (f16_formula / f32_formula - 1),
                      .sixteen = 100 * (by_formula(C, F16, B, segment, 2) / f32_formula - 1),
                      .exact = f32 == f32_formula && f16 == f16_formula};
}

/* The fewest tokens, in sequences of one, with which half takes less than float. */
static int crossover(int C, int segment) {
    int B = 1;
    ModelConfig config = shape_of(C, F32);
    while (by_formula(C, F16, B, segment, 0) >= by_formula(C, F32, B, segment, 0)) {
        B++;
    }
    return B * config.T;
}

static int draw_crossover(const char *path, FILE *numbers) {
    Plot plot;
    int letter;
    if (plot_begin(&plot, path, "Memory of fp16 compared with float, by tokens in a micro-batch",
                   900, 460) != 0) {
        return -1;
    }
    rewind(numbers);
    while ((letter = fgetc(numbers)) != EOF) {
        fputc(letter, plot.data);
    }
    fprintf(plot.script,
            "set title 'Memory of a step in fp16, compared with float'\n"
            "set xlabel 'tokens in a micro-batch'\nset ylabel '%% more (above 0) or less'\n"
            "set tics nomirror out\nset border 3\nset key outside right top\n"
            "set xzeroaxis lw 2 lt -1\nset logscale x 2\n"
            "names = '\"64 channels\" \"256 channels\" \"64, checkpointed\" "
            "\"256, checkpointed\"'\n"
            "plot for [i=0:3] data index i using 1:3 with lines lw 2 lc i+1 title word(names,i+1), "
            "for [i=0:3] data index i using 1:2 with points pt 7 lc i+1 notitle, "
            "data index 1 using 1:4 with lines dt 2 lc 2 title '256, 16-byte states'\n");
    return plot_end(&plot);
}

static int show_crossover(const char *path) {
    static const int widths[] = {64, 256};
    enum { PANELS = 4, LARGEST = 32 };
    FILE *numbers = tmpfile();
    CHECK(numbers != NULL, "no temporary file");
    /* The time goes with the tokens: of a panel 1 + 2 + 4 ... sequences. */
    Meter meter = meter_begin("sequences", PANELS * (2 * LARGEST - 1));
    int done = 0;
    printf("Memory of fp16, in percent more (or less) than that of float; a row for each number of "
           "tokens\nin a micro-batch. In the picture, lines are formulas and points are counts.\n");
    for (int panel = 0; panel < PANELS; panel++) {
        int C = widths[panel % 2], segment = panel / 2, wrong = 0;
        printf("\n  %d channels%s\n  tokens   counted   16-byte states\n", C,
               segment == 1 ? ", checkpointed" : "");
        for (int B = 1; B <= LARGEST; B *= 2) {
            Crossing at = crossing_at(C, B, segment);
            meter_clear(&meter);
            ModelConfig config = shape_of(C, F32);
            printf("  %-6d   %+6.1f    %+6.1f\n", B * config.T, at.counted, at.sixteen);
            fprintf(numbers, "%d %.6f %.6f %.6f\n", B * config.T, at.counted, at.formula,
                    at.sixteen);
            wrong += !at.exact;
            done += B;
            meter_tell(&meter, done);
        }
        fprintf(numbers, "\n\n");
        meter_clear(&meter);
        printf("  saves from %d tokens on; %s\n", crossover(C, segment),
               wrong == 0 ? "every count equals its formula, to the byte"
                          : "the counts differ from the formulas");
    }
    int result = draw_crossover(path, numbers);
    fclose(numbers);
    return result;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*show)(const char *path);
    } shows[] = {
        {"histogram", show_histogram}, {"frozen", show_frozen}, {"crossover", show_crossover}};
    for (size_t i = 0; argc == 3 && i < sizeof shows / sizeof *shows; i++) {
        if (strcmp(argv[1], shows[i].name) == 0) {
            char name[32];
            snprintf(name, sizeof name, "fp16-%s.svg", shows[i].name);
            char *path = path_join(argv[2], name);
            int result = folder_make(argv[2]) == 0 ? shows[i].show(path) : -1;
            if (result == 0) {
                printf("\nPicture: %s\n", path);
            }
            free(path);
            return stdout_flush() == 0 && result == 0 ? 0 : EXIT_RUN;
        }
    }
    fprintf(stderr, "usage: %s histogram|frozen|crossover FOLDER\n", argv[0]);
    return EXIT_USAGE;
}
