/* Training in fp16 with float masters, and without. */
#include <stdio.h>
#include <stdlib.h>

#include "train/plot.h"
#include "train/show/fp16.h"

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
    Data *data = setup_text(8, config.T), *same = setup_text(8, config.T);
    Batch looked_at = setup_next(same);
    setup_open(&setup, &config, rate);
    Model *model = setup.trainer.model;
    float *before = weights_of(model);
    for (int step = 0; step <= FROZEN_STEPS; step++) {
        Batch batch = setup_next(data);
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

int show_frozen(const char *path) {
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
