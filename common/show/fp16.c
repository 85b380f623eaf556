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
#include "common/lab00.h"
#include "common/lab05.h"
#include "common/plot.h"

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
                           const int32_t *targets, float dloss, int N, int V) {
    histogram.real_ops.crossentropy_backward(dlogits, logits, lse, targets, dloss, N, V);
    look(dlogits, (size_t)N * (size_t)V);
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

static void print_shares(void) {
    enum { FAR = 1000, FLUSHED = -25, NORMAL = -14, TOO_LARGE = 16 };
    printf("%.0f activation gradients; in fp16, of those that are not 0:\n\n"
           "  loss scale   become 0   lose bits (subnormal)   become infinite\n",
           histogram.all);
    for (int scale = 0; scale <= 24; scale += 4) {
        printf("  2^%-2d        %6.2f %%   %6.2f %%                %6.2f %%\n", scale,
               share_between(scale, -FAR, FLUSHED), share_between(scale, FLUSHED, NORMAL),
               share_between(scale, TOO_LARGE, FAR));
    }
}

static int draw_histogram(const char *path) {
    Plot plot;
    if (plot_begin(&plot, path, 900, 420) != 0) {
        return -1;
    }
    for (int i = 0; i < BINS; i++) {
        fprintf(plot.data, "%d %.9f\n", i + LOWEST,
                100 * histogram.count[i] / (histogram.all - histogram.zero));
    }
    fprintf(plot.script,
            "set title 'Activation gradients before and after a loss scale of 2^{16}'\n"
            "set xlabel 'exponent: floor(log2|gradient|)'\nset ylabel '%% of all'\n"
            "set style fill transparent solid 0.55 noborder\nset boxwidth 1\n"
            "set xrange [-46:18]\nset tics nomirror out\nset border 3\nset key left top\n"
            "set object 1 rect from graph 0,0 to first -25.5,graph 1 fc rgb '#f4d7d7' behind\n"
            "set object 2 rect from first -25.5,graph 0 to first -14.5,graph 1 fc rgb '#fbf0d9' "
            "behind\nset label 1 'fp16 makes 0 of these' at first -45,graph 0.62\n"
            "set label 2 'subnormal' at first -23,graph 0.62\n"
            "plot data using 1:2 with boxes lc rgb '#4c72b0' title 'as they are', "
            "data using ($1+16):2 with boxes lc rgb '#dd8452' title 'scaled'\n");
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

enum { FROZEN_STEPS = 400, MEAN_OF = 20 };

/* Trains with masters or, by rounding them after each step, as if there were none. */
static void train_half(bool masters, float rate, double loss[FROZEN_STEPS]) {
    static const ModelConfig config = {
        .V = 256, .T = 32, .L = 2, .NH = 2, .C = 32, .precision = F16};
    Setup setup;
    Data *data = text(8, config.T);
    setup_open(&setup, &config, rate);
    for (int step = 0; step < FROZEN_STEPS; step++) {
        Batch batch = next(data);
        StepReport report = {0};
        loss[step] = trainer_forward(&setup.trainer, &batch) / batch.valid;
        trainer_backward(&setup.trainer, 1.0f / (float)batch.valid);
        mixed_update(&setup.trainer, &report);
        if (!masters) {
            optimizer_take_weights(setup.trainer.optimizer);
        }
    }
    setup_close(&setup);
    data_free(data);
}

static double mean_of(const double *loss) {
    double sum = 0;
    for (int i = 0; i < MEAN_OF; i++) {
        sum += loss[i];
    }
    return sum / MEAN_OF;
}

static int show_frozen(const char *path) {
    static const float rates[] = {1e-4f, 1e-5f, 3e-6f};
    static double loss[6][FROZEN_STEPS];
    Plot plot;
    printf("fp16, %d steps; loss of the first and of the last %d:\n\n"
           "  learning rate   first    with masters   without\n",
           FROZEN_STEPS, MEAN_OF);
    for (int i = 0; i < 3; i++) {
        train_half(true, rates[i], loss[2 * i]);
        train_half(false, rates[i], loss[2 * i + 1]);
        printf("  %-13g   %.4f   %.4f         %.4f\n", (double)rates[i], mean_of(loss[2 * i]),
               mean_of(loss[2 * i] + FROZEN_STEPS - MEAN_OF),
               mean_of(loss[2 * i + 1] + FROZEN_STEPS - MEAN_OF));
    }
    if (plot_begin(&plot, path, 900, 420) != 0) {
        return -1;
    }
    for (int step = 0; step + MEAN_OF <= FROZEN_STEPS; step += 5) {
        fprintf(plot.data, "%d", step);
        for (int i = 0; i < 6; i++) {
            fprintf(plot.data, " %.6f", mean_of(loss[i] + step));
        }
        fprintf(plot.data, "\n");
    }
    fprintf(plot.script,
            "set title 'Training in fp16, with float masters and without'\nset xlabel 'step'\n"
            "set ylabel 'loss'\nset tics nomirror out\nset border 3\nset key left bottom\n"
            "plot for [i=0:2] data using 1:(column(2+2*i)) with lines lw 2 lc i+1 "
            "title word('1e-4 1e-5 3e-6', i+1).' with', "
            "for [i=0:2] data using 1:(column(3+2*i)) with lines lw 2 dt 2 lc i+1 "
            "title word('1e-4 1e-5 3e-6', i+1).' without'\n");
    return plot_end(&plot);
}

/* ---- crossover ------------------------------------------------------------------------------- */

static const ModelConfig shape = {
    .V = 256, .T = 64, .L = 6, .NH = 4, .C = 128, .attention = ATTENTION_FLASH};

/* Bytes without workspace of a step that has been run, checkpointed or not. */
static double counted(Precision precision, int B, int segment) {
    ModelConfig config = shape;
    Setup setup;
    Data *data = text(B, shape.T);
    config.precision = precision;
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

/* Bytes of half's states less those of float's: 18 - 16 for each parameter, or, where gradients are
   half as well, 16 - 16. */
static double states_more(void) {
    ModelConfig half = shape;
    half.precision = F16;
    MemoryUse f32 = bytes_states(&shape), f16 = bytes_states(&half);
    return (double)memory_total(&f16) - (double)memory_total(&f32);
}

/* Bytes of activations that half saves in a plain step. */
static double saved(int B) {
    ModelConfig half = shape;
    half.precision = F16;
    return (double)bytes_activations(&shape, B, shape.T) -
           (double)bytes_activations(&half, B, shape.T);
}

static int show_crossover(const char *path) {
    static const int batches[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
    enum { SIZES = 10, MIB = 1024 * 1024 };
    double difference[2][SIZES];
    Plot plot;
    printf("Bytes in fp16 less those in float, %d layers of %d channels; MiB:\n\n"
           "  tokens   plain, counted   by formula   16-byte states   checkpointed, counted\n",
           shape.L, shape.C);
    for (int i = 0; i < SIZES; i++) {
        int B = batches[i];
        double formula = states_more() - saved(B);
        for (int segment = 0; segment < 2; segment++) {
            difference[segment][i] = counted(F16, B, segment) - counted(F32, B, segment);
        }
        printf("  %-6d   %+8.3f         %+8.3f     %+8.3f         %+8.3f%s\n", B * shape.T,
               difference[0][i] / MIB, formula / MIB, -saved(B) / MIB, difference[1][i] / MIB,
               difference[0][i] == formula ? "" : "   (the formula is wrong)");
    }
    double per_token = (saved(32) - saved(16)) / (16 * shape.T);
    printf("\nHalf saves from %.0f tokens on: 2 bytes for each of %zu parameters, %.0f bytes less "
           "for each token.\n",
           states_more() / per_token, bytes_params(&shape), per_token);
    if (plot_begin(&plot, path, 900, 420) != 0) {
        return -1;
    }
    for (int i = 0; i < SIZES; i++) {
        int B = batches[i];
        fprintf(plot.data, "%d %.6f %.6f %.6f %.6f\n", B * shape.T, difference[0][i] / MIB,
                (states_more() - saved(B)) / MIB, -saved(B) / MIB, difference[1][i] / MIB);
    }
    fprintf(plot.script,
            "set title 'Memory of fp16 less that of float'\nset xlabel 'tokens in a "
            "micro-batch'\nset ylabel 'MiB'\nset tics nomirror out\nset border 3\n"
            "set key left bottom\nset xzeroaxis lt -1\nset logscale x 2\n"
            "plot data using 1:3 with lines lw 2 lc 1 title 'formula, 18-byte states', "
            "data using 1:2 with points pt 7 lc 1 title 'counted', "
            "data using 1:4 with lines lw 2 dt 2 lc 2 title 'formula, 16-byte states', "
            "data using 1:5 with linespoints pt 6 lc 3 title 'counted, checkpointed'\n");
    return plot_end(&plot);
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
            return result == 0 ? 0 : EXIT_RUN;
        }
    }
    fprintf(stderr, "usage: %s histogram|frozen|crossover FOLDER\n", argv[0]);
    return EXIT_USAGE;
}
