/* How small gradients are, and what fp16 makes of them. */
#include <math.h>
#include <stdio.h>

#include "train/plot.h"
#include "train/show/fp16.h"

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

int show_histogram(const char *path) {
    static const ModelConfig config = {.V = 256, .T = 64, .L = 4, .NH = 4, .C = 64};
    enum { STEPS = 60 };
    Setup setup;
    Ops ops;
    Data *data = setup_text(16, config.T);
    setup_open(&setup, &config, 1e-3f);
    Model *model = setup.trainer.model;
    for (int step = 0; step <= STEPS; step++) {
        Batch batch = setup_next(data);
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
