/* Runs the reference beside a trainer, from the same weights and with the same masks. The contract
   is in replay.h. */
#include "common/testkit/replay.h"

#include <math.h>
#include <stdlib.h>

static void *room(size_t n, size_t each) {
    void *memory = calloc(n, each);
    CHECK(memory != NULL, "no host memory for %zu numbers", n);
    return memory;
}

Replay replay_new(const ModelConfig *config, uint64_t seed) {
    return (Replay){.reference = reference_new(config), .seed = seed};
}

void replay_free(Replay *replay) {
    reference_free(replay->reference);
}

void replay_weights(Replay *replay, const Model *model) {
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        float *values = room(param->count, sizeof *values);
        model_download_weight(model, param, values);
        for (size_t j = 0; j < param->count; j++) {
            replay->reference->weight[i][j] = (double)values[j];
        }
        free(values);
    }
}

double replay_window(Replay *replay, const Batch *batches, int count) {
    Reference *reference = replay->reference;
    double loss = 0, valid = 0;
    for (int k = 0; k < count; k++) {
        valid += batches[k].valid;
    }
    double share = valid > 0 ? 1 / valid : 0;
    for (int k = 0; k < count; k++) {
        loss += share * reference_pass(reference, &batches[k], share, replay->seed, replay->drawn);
        replay_skip(replay, &batches[k], 1);
    }
    return loss;
}

void replay_skip(Replay *replay, const Batch *batches, int count) {
    for (int k = 0; k < count; k++) {
        replay->drawn +=
            reference_pass_counters(&replay->reference->config, batches[k].B * batches[k].T);
    }
}

double replay_clip(Replay *replay, double limit) {
    Reference *reference = replay->reference;
    double squares = 0;
    for (int i = 0; i < reference->param_count; i++) {
        double norm = norm_of(reference->grad[i], reference->params[i].count);
        squares += norm * norm;
    }
    double norm = sqrt(squares), factor = reference_clip(norm, limit);
    for (int i = 0; i < reference->param_count; i++) {
        for (size_t j = 0; j < reference->params[i].count; j++) {
            reference->grad[i][j] *= factor;
        }
    }
    return norm;
}

double *replay_gradients(const Replay *replay) {
    const Reference *reference = replay->reference;
    size_t at = 0;
    double *all = room(reference_elements(reference), sizeof *all);
    for (int i = 0; i < reference->param_count; i++) {
        for (size_t j = 0; j < reference->params[i].count; j++) {
            all[at++] = reference->grad[i][j];
        }
    }
    return all;
}

float *gradients_of(const Model *model) {
    float *all = room(model_param_elements(model), sizeof *all), *to = all;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        device_download(model->device, to, param->grad, param->count * sizeof *to);
        to += param->count;
    }
    return all;
}

Comparison compare_gradients(const ModelConfig *config, const float *got, const double *want,
                             const char **name) {
    int count = params_count(config);
    Param *params = room((size_t)count, sizeof *params);
    Comparison worst = {.share = -1, .pass = true};
    params_describe(params, config);
    for (int i = 0; i < count && worst.pass; i++) {
        Comparison one = compare(got, want, params[i].count, tolerance_of_model(config->precision));
        if (!one.pass || one.share > worst.share) {
            worst = one;
            *name = params[i].name;
        }
        got += params[i].count;
        want += params[i].count;
    }
    free(params);
    return worst;
}
